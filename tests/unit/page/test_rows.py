from __future__ import annotations

import base64
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cartograph.figures.interactive_map import interactive_map
from cartograph.figures.palette import correctness_levels
from cartograph.page.audit import Audit, Limits, align
from cartograph.page.document import page
from cartograph.page.encode import script_json
from cartograph.page.figure import drawn_rows, map_content
from cartograph.page.rows import carried_rows
from cartograph.page.step_results import HowMade
from cartograph.schema import HISTORY, MEASURES, QUARANTINE, DatasetInfo, examples_schema

TYPES = {"u8": "<u1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4", "f32": "<f4"}


def decoded(column: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(column["data"]), dtype=TYPES[column["type"]])


def audit_of(rows: int, text: str = "word " * 100, **limits: Any) -> Audit:
    rng = np.random.default_rng(5)
    uids = [f"u{index:07d}" for index in range(rows)]
    info = DatasetInfo("train", "train", "pair", ("a", "b"), (), ("no", "yes"))
    gold = pa.array(rng.integers(0, 2, rows), pa.int32())
    columns = [
        uids,
        [f"{index} {text}" for index in range(rows)],
        [text] * rows,
        gold,
        [["yes", "no", "yes"]] * rows,
        ["f.csv"] * rows,
        range(rows),
    ]
    examples = pa.Table.from_arrays(
        [pa.array(list(column)) if not isinstance(column, pa.Array) else column for column in columns],
        schema=examples_schema(info, annotators=True),
    )
    confidence = rng.uniform(size=rows)
    known = {
        "uid": uids,
        "gold": gold,
        "confidence": confidence,
        "variability": rng.uniform(0, 0.5, rows),
        "correctness": confidence.round(),
    }
    known |= {"threshold_closeness": confidence, "region": ["ambiguous"] * rows, "predicted": gold}
    measures = pa.Table.from_arrays([pa.array(known.get(field.name, [None] * rows), field.type) for field in MEASURES], schema=MEASURES)
    return Audit(
        examples=align(examples, measures["uid"], "train"),
        measures=measures,
        probabilities=rng.uniform(size=(rows, 3)),
        history=HISTORY.empty_table(),
        validation={},
        quarantine=QUARANTINE.empty_table(),
        training={},
        metrics={},
        score=None,
        window=(0, 3),
        still=None,
        how_made=HowMade("default", "make audit"),
        limits=Limits(**limits),
    )


def test_rows_are_carried_as_they_are() -> None:
    audit = audit_of(10, text="t")
    rows = carried_rows(audit, np.array([1, 4]), {7, 4}, 10**6)
    places = decoded(rows["place"])
    assert places.tolist() == [1, 4, 7]
    assert rows["count"] == 3
    assert rows["uid"] == ["u0000001", "u0000004", "u0000007"]
    assert rows["texts"] == [["1 t", "4 t", "7 t"], ["t", "t", "t"]]
    assert decoded(rows["confidence"]) == pytest.approx(audit.confidence[places], abs=1e-7)
    assert decoded(rows["percent"]).reshape(3, 3) == pytest.approx(100 * audit.probabilities[places], abs=0.5001)
    assert decoded(rows["label"]).tolist() == audit.gold[places].tolist()
    assert decoded(rows["row"]).tolist() == [1, 4, 7]
    assert rows["annotators"] == ["yes × 2, no × 1"] * 3


@pytest.mark.parametrize("text", ["word " * 100, "日本語" * 100, "<&>" * 100])
def test_texts_are_cut_until_the_rows_fit_but_those_of_listed_rows(text: str) -> None:
    audit = audit_of(500, text=text, text_characters=280)
    listed = {3, 400}
    rows = carried_rows(audit, np.arange(500), listed, 250_000)
    assert len(script_json(rows).encode()) <= 250_000
    lengths = np.array([[len(one) for one in field] for field in rows["texts"]])
    others = np.delete(lengths, sorted(listed), axis=1)
    assert lengths[:, sorted(listed)].min() >= 279
    assert 20 <= others.max() < 240
    assert rows["texts"][1][0].endswith("…")


def test_listed_rows_are_cut_where_even_they_do_not_fit() -> None:
    rows = carried_rows(audit_of(100, text_characters=400), np.arange(100), set(range(100)), 60_000)
    assert len(script_json(rows).encode()) <= 60_000
    assert 100 < max(len(text) for text in rows["texts"][1]) < 400


def test_what_fits_is_not_cut_further() -> None:
    rows = carried_rows(audit_of(20, text_characters=50), np.arange(20), set(), 10**6)
    assert {len(text) for text in rows["texts"][1]} == {50}


def test_points_are_positions_among_the_carried_rows() -> None:
    audit = audit_of(40, text="t")
    figure = interactive_map(audit.measures, None, max_points=15, seed=1, labels=audit.info.labels, always=[0, 39])
    drawn = drawn_rows(figure)
    assert len(drawn) == 15
    assert {0, 39} <= set(drawn.tolist())
    carried = np.union1d(drawn, [0, 39, 20])
    content = map_content(figure, carried)
    assert "template" not in content["layout"]
    at = np.concatenate([decoded(level["positions"]) for level in content["levels"]])
    assert sorted(carried[at].tolist()) == drawn.tolist()
    for level in content["levels"]:
        rows = carried[decoded(level["positions"])]
        assert len(set(audit.correctness[rows].tolist())) <= 1
    assert all(trace.get("x") != [None] or "customdata" not in trace for trace in content["data"])
    json.dumps(content, allow_nan=False)


def test_every_shape_of_the_palette_can_be_drawn() -> None:
    script = (files("cartograph.page") / "assets" / "dom.js").read_text()
    steps = np.arange(25.0)
    symbols = {level.symbol for last in range(1, 25) for level in correctness_levels(steps[: last + 1] / last)}
    assert len(symbols) > 8
    assert {symbol for symbol in symbols if not re.search(rf'^  "?{symbol}"?: "M', script, re.M)} == set()


def test_a_page_is_the_same_bytes_again_and_within_its_size() -> None:
    audit = audit_of(3000, text="longer than will fit " * 60, text_characters=2000, listed=20)
    document = page(audit)
    assert document == page(audit)
    assert len(document.encode()) < 6_000_000 + 200 * 3000
    assert document.count("<script") == document.count("</script>") == 5


def test_a_page_carries_no_path_of_its_maker() -> None:
    document = page(audit_of(30, text="t"))
    for folder in (Path.cwd(), Path.home()):
        assert str(folder) not in document or str(folder) == "/"

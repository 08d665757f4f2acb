"""The page of an audit of images: pictures carried as far as they fit, listed rows first, and nothing else where a picture stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cartograph.data.images import png_of
from cartograph.page.audit import Audit
from cartograph.page.document import BASE_BYTES, IMAGE_BYTES, ROW_BYTES, page
from cartograph.page.encode import script_json
from cartograph.page.rows import carried_rows
from cartograph.page.sections.audit_changes import _relabelled
from cartograph.page.sections.bias import bias_section
from cartograph.page.sections.cleaning_changes import cleaning_changes_section
from cartograph.page.step_results import Bias, Cleaning, SinceLastAudit
from cartograph.schema import CHANGES, ROW_CHANGES, DatasetInfo, examples_schema
from tests.unit.page.test_rows import audit_of

HOSTILE = '"><script>window.pwned = 1</script>'


def images_audit(rows: int, side: int = 8, **limits: Any) -> Audit:
    """An audit of texts with noisy pictures in their place; its labels try to be markup."""
    rng = np.random.default_rng(2)
    info = DatasetInfo("train", "train", "image", (), (), (HOSTILE, "yes"), ("picture <b>",))
    audit = audit_of(rows, "x", **limits)
    shape = (side, side) if side < 20 else (side, side, 3)
    pngs = [png_of(rng.integers(0, 255, shape, dtype=np.uint8), 999) for _ in range(min(rows, 40))]
    columns = {name: audit.examples[name] for name in ("uid", "label", "source", "row")}
    columns["picture <b>"] = pa.array([pngs[row % len(pngs)] for row in range(rows)], pa.binary())
    schema = examples_schema(info)
    return replace(audit, examples=pa.table({name: columns[name] for name in schema.names}, schema=schema))


def test_small_pictures_are_carried_whole() -> None:
    audit = images_audit(30)
    rows = carried_rows(audit, np.arange(30), {4}, 10**6)
    [pictures] = rows["texts"]
    assert rows["images"] == ["picture <b>"] and len(set(pictures)) == 30
    assert all(picture.startswith("data:image/png;base64,") and len(picture) < 300 for picture in pictures)


@pytest.mark.parametrize(("allowance", "listed_have", "others_have"), [(10**6, 3, 37), (200_000, 3, 37), (50_000, 3, 10), (6_000, 1, 0)])
def test_pictures_shrink_and_those_of_listed_rows_stay_longest(allowance: int, listed_have: int, others_have: int) -> None:
    audit, listed = images_audit(40, side=120), {3, 20, 39}
    rows = carried_rows(audit, np.arange(40), listed, allowance)
    assert len(script_json(rows).encode()) <= allowance
    [pictures] = rows["texts"]
    theirs = [bool(pictures[row]) for row in sorted(listed)]
    others = [bool(picture) for row, picture in enumerate(pictures) if row not in listed]
    assert sum(theirs) >= listed_have
    assert sum(others) >= others_have if others_have else not any(others)


def test_the_page_keeps_its_size_and_its_bytes() -> None:
    audit = images_audit(600, side=200)
    document = page(audit)
    assert len(document.encode()) <= BASE_BYTES + IMAGE_BYTES + 600 * ROW_BYTES
    assert document == page(audit)
    assert "<script>window.pwned" not in document


def test_changes_show_pictures() -> None:
    audit = images_audit(5)
    change = {"uid": "u0000003", "what": "drop", "from": HOSTILE, "to": None, "why": "so", "by": "recipe drop-flagged"}
    version = {"version": "b", "parent": "a", "parent_rows": 5, "rows": 4, "dropped": 1, "relabelled": 0}
    section = cleaning_changes_section(replace(audit, cleaning=Cleaning(pa.Table.from_pylist([change], schema=CHANGES), version)))
    table = section.blocks[-1]  # type: ignore[union-attr]
    assert [column.cell for column in table.columns][:2] == ["code", "picture"]
    assert table.cells[0][1].startswith("data:image/png;base64,")


def test_relabelled_rows_are_shown_as_pictures() -> None:
    audit = images_audit(12)
    uid = audit.measures["uid"][3].as_py()
    rows = pa.Table.from_pylist([{"uid": uid, "what": "relabelled", "from": "no", "to": "yes"}], schema=ROW_CHANGES)
    table = _relabelled(audit, SinceLastAudit((1, 2), rows, {"rows.relabelled": 1}, {}, {}, []))
    assert table is not None and table.columns[0].cell == "picture" and table.columns[0].title == "Image"
    assert str(table.cells[0][0]).startswith("data:image/png;base64,") and list(table.cells[0][1:]) == ["no", "yes", uid]


def test_bias_says_that_images_have_no_words() -> None:
    from cartograph.bias.neighbours import NEIGHBOURS
    from cartograph.bias.versions import ACCURACIES
    from cartograph.bias.words import REVEALING

    usual = {
        "input": "whole input",
        "train_rows": 9,
        "seed": 1,
        "set": "dev",
        "test_rows": 9,
        "accuracy": 0.5,
        "majority": 0.2,
        "top5": 0.9,
    }
    rows = [
        usual | {"model": "cnn", "trained_on": version, "tested_on": tested}
        for version in ("full", "random", "filtered")
        for tested in ("full", "filtered")
    ]
    found = Bias(pa.Table.from_pylist(rows, schema=ACCURACIES), REVEALING.empty_table(), NEIGHBOURS.empty_table())
    section = bias_section(replace(images_audit(5), bias=found))
    assert section is not None and "Images have no words" in section.lead and "convolutional network is right on 50.0" in section.lead
    top = section.blocks[1]
    assert top.cells == [["convolutional network", "dev", 90.0, 90.0, 90.0]]  # type: ignore[attr-defined]

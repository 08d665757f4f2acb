"""The step select, run through the machinery of steps; and on the published WinoGrande map."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.config import load_settings
from cartograph.errors import InputError
from cartograph.maps.regions import assign_regions
from cartograph.maps.table import coordinates, map_table
from cartograph.schema import COORDINATES, MEASURES, NOISE, SELECTION
from tasks.audit.parameters.select import Select
from tasks.audit.select import STEP
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tests.training_sets import SMALL_TRAINING, info_of, small_set, table
from tests.workspaces import make_workspace, save, with_sections

TRAIN = SMALL_TRAINING | {"epochs": 2}
NEED_COORDINATES = [
    "random",
    "high-confidence",
    "hard-to-learn",
    "ambiguous",
    "low-variability",
    "high-correctness",
    "low-correctness",
    "mix",
]


def measures(rows: pa.Table, *, dynamics: bool = True) -> pa.Table:
    rng = np.random.default_rng(1)
    number = rows.num_rows
    columns = {
        "uid": rows["uid"],
        "gold": rows["label"],
        "confidence": rng.random(number),
        "variability": rng.random(number) / 2,
        "correctness": rng.integers(0, 3, number) / 2,
        "threshold_closeness": np.zeros(number),
        "region": ["unassigned"] * number,
    }
    if dynamics:
        columns |= {"forgetting": pa.array([None, *[1] * (number - 1)], pa.int32()), "never_learnt": [True, *[False] * (number - 1)]}
    return pa.table(
        [columns[field.name] if field.name in columns else pa.nulls(number, field.type) for field in MEASURES], schema=MEASURES
    ).sort_by("uid")


def space(path: Path, *, dynamics: bool = True, noise: bool = False, **own: object) -> Workspace:
    rows = small_set(rows=60)
    save(measures(rows, dynamics=dynamics), path / "data/measure/measures.parquet")
    if noise:
        flagged = [uid < "u0006" for uid in rows["uid"].to_pylist()]
        columns = [rows["uid"], [0.5] * 60, flagged, [0] * 60, [0.5] * 60, list(range(1, 61)), ["-"] * 60]
        save(pa.table(columns, schema=NOISE), path / "data/noise/noise.parquet")
    return make_workspace(path, rows, train=TRAIN, select=own)


def kept(path: Path, name: str) -> pa.Table:
    return pq.read_table(path / f"data/select/{name}.parquet")


def test_a_table_for_each_strategy_and_fraction_and_their_numbers(tmp_path: Path) -> None:
    workspace = space(
        tmp_path, noise=True, strategies=["ambiguous", "forgetting", "compose", "mix-0.25", "low-correctness"], fractions=[0.1, 0.5]
    )
    done = run_step(STEP, workspace)
    files = {path.stem for path in (tmp_path / "data/select").glob("*.parquet")}
    assert files == {f"{name}-{fraction}" for name in workspace.settings["select"].strategies for fraction in ("0.1", "0.5")}
    for name in files:
        assert kept(tmp_path, name).schema == SELECTION
        assert kept(tmp_path, name).num_rows == (6 if name.endswith("0.1") else 30)
    assert not {f"u000{row}" for row in range(6)} & set(kept(tmp_path, "compose-0.5")["uid"].to_pylist())
    assert kept(tmp_path, "forgetting-0.1")["uid"][0].as_py() == "u0000"
    metrics = json.loads((tmp_path / "reports/select.metrics.json").read_text())
    assert metrics["ambiguous-0.5.rows"] == 30
    labels = kept(tmp_path, "ambiguous-0.5")["label"].to_pylist()
    assert metrics["ambiguous-0.5.smallest_class"] == min(labels.count(0), labels.count(1))
    assert metrics["low-correctness-0.1.tied"] > 6
    assert done.receipt.summary.startswith("5 selections of 6 / 30 rows; ties at the cut: forgetting-0.1 59, ")
    assert not run_step(STEP, workspace).executed


@pytest.mark.slow
def test_a_model_of_a_random_share_is_asked_where_a_strategy_needs_it(tmp_path: Path) -> None:
    workspace = space(tmp_path, strategies=["AL-uncertainty", "AL-greedyK"], fractions=[0.5], acquisition_share=0.4)
    run_step(STEP, workspace)
    table = kept(tmp_path, "AL-greedyK-0.5")
    seen = table.filter(pa.array([reason.startswith("of the random share") for reason in table["reason"].to_pylist()]))
    assert seen.num_rows == 24
    assert table["rank"].to_pylist()[:24] == seen["rank"].to_pylist()
    scores = kept(tmp_path, "AL-uncertainty-0.5")["score"].to_pylist()
    assert scores == sorted(scores)
    assert 0.5 <= scores[0] < scores[-1] <= 1
    first = {path.name: path.read_bytes() for path in (tmp_path / "data/select").iterdir()}
    run_step(STEP, workspace, force=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "data/select").iterdir()} == first


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"strategies": ["forgetting"]}, r"selection `forgetting` needs `forgetting` of every row.*only coordinates were imported"),
        ({"strategies": ["ambigous"]}, r"no selection is called `ambigous`; did you mean `ambiguous`\?"),
        ({"strategies": ["AL-uncertainty"], "acquisition_share": 0.02}, r"the random 0.02 of the 60 rows, 1, are all of one class"),
        ({"strategies": ["hard-to-learn"], "fractions": [0.02], "lost_classes": "refuse"}, r"keeps none of the \d+ rows of class"),
    ],
)
def test_what_cannot_be_selected_is_said(tmp_path: Path, own: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run_step(STEP, space(tmp_path, dynamics=False, **own))


def test_a_model_of_the_random_share_that_diverges_is_said(tmp_path: Path) -> None:
    workspace = space(tmp_path, strategies=["AL-greedyK"], acquisition_share=0.4, acquisition_epochs=3)
    workspace = with_sections(workspace, train=TRAIN | {"learning_rate": 1e38})
    with pytest.raises(InputError, match=r"its training diverged; lower `train.learning_rate`, or leave the AL strategies out"):
        run_step(STEP, workspace)


def test_a_class_that_is_lost_is_named(tmp_path: Path) -> None:
    done = run_step(STEP, space(tmp_path, strategies=["hard-to-learn"], fractions=[0.02]))
    assert "; hard-to-learn-0.02 keeps no " in done.receipt.summary


def test_a_class_that_the_train_set_does_not_have_is_not_lost(tmp_path: Path) -> None:
    workspace = space(tmp_path, strategies=["random"], fractions=[0.5])
    rows = small_set(rows=60)
    three = table(
        replace(info_of("single"), labels=("quiet", "loud", "silent")), {"text": rows["text"].to_pylist()}, rows["label"].to_pylist()
    )
    pq.write_table(three, tmp_path / "data/ingest/train.parquet")
    done = run_step(STEP, workspace)
    assert "keeps no" not in done.receipt.summary
    assert json.loads((tmp_path / "reports/select.metrics.json").read_text())["random-0.5.smallest_class"] > 0


def test_measures_of_other_rows_are_refused(tmp_path: Path) -> None:
    workspace = space(tmp_path)
    pq.write_table(measures(small_set(rows=60)).slice(1), tmp_path / "data/measure/measures.parquet")
    with pytest.raises(
        InputError,
        match=r"measures\.parquet is about other rows than .*\(59 and 60; uid 'u0000' is in one of them only\); they come from different",
    ):
        run_step(STEP, workspace)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{fractions: [0]}", r"`select.fractions`: a fraction should be above 0 and at most 1, but one is 0"),
        ("{fractions: [0.33, 1.2]}", r"`select.fractions`: a fraction should be above 0 and at most 1, but one is 1.2"),
        ("{fractions: [0.33, 0.33]}", r"names a fraction twice"),
        ("{fractions: [0.33333331, 0.33333332]}", r"names a fraction twice"),
        ("{strategies: [random, random]}", r"names random twice; each is taken once"),
    ],
)
def test_parameters_out_of_range_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(f"select: {text}")
    with pytest.raises(InputError, match=message):
        load_settings(path, {"select": Select})


@pytest.mark.realdata
def test_the_published_winogrande_map(real_data: Path, tmp_path: Path) -> None:
    """Everything that needs only coordinates at 33 %: exact counts, and 12,215 ties at the cut by correctness."""
    lines = [json.loads(line) for line in (real_data / "winogrande/roberta_large_coordinates.jsonl").read_text().splitlines()]
    uids = [str(line["guid"]) for line in lines]
    columns = [uids, *([line[name] for line in lines] for name in ("confidence", "variability"))]
    table = pa.table([*columns, [line["correctness"] / 6 for line in lines]], schema=COORDINATES).sort_by("uid")
    found = coordinates(table)
    regions = assign_regions(
        table["uid"].to_numpy(), found.confidence, found.variability, easy=0.33, ambiguous=0.33, hard=0.1, rng=np.random.default_rng(1)
    )
    gold = np.arange(len(uids)) % 2
    rows = pa.table({"uid": table["uid"], "label": pa.array(gold, pa.int32())})
    train = small_set(rows=2)
    rows = rows.append_column("text", pa.array(["-"] * len(uids))).append_column("source", pa.array(["-"] * len(uids)))
    rows = rows.append_column("row", pa.array(range(1, len(uids) + 1))).select(train.column_names).cast(train.schema)
    save(map_table(table["uid"].to_numpy(), gold, found, regions), tmp_path / "data/measure/measures.parquet")
    run_step(STEP, make_workspace(tmp_path, rows, train={}, select={"strategies": NEED_COORDINATES}))
    metrics = json.loads((tmp_path / "reports/select.metrics.json").read_text())
    assert {metrics[f"{name}-0.33.rows"] for name in NEED_COORDINATES} == {13_331}
    assert metrics["low-correctness-0.33.tied"] == 12_215
    hardest = kept(tmp_path, "hard-to-learn-0.33")["uid"][0].as_py()
    sentences = map(json.loads, (real_data / "winogrande/train_xl.jsonl").read_text().splitlines())
    assert "private jet" in next(line["sentence"] for line in sentences if str(line["guid"]) == hardest)

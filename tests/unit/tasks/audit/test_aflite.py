"""The step aflite, on small sets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.adversarial_filter.forecast import Forecast
from cartograph.config import load_settings
from cartograph.errors import InputError
from cartograph.schema import AFLITE, AFLITE_HISTORY, dataset_info
from tasks.audit import aflite, features
from tasks.audit.parameters.aflite import Aflite
from tasks.audit.parameters.features import Features
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tests.filtering import TRAIN, run, workspace_of_pairs
from tests.training_sets import info_of, small_set, table
from tests.workspaces import make_workspace, with_sections


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    return workspace_of_pairs(tmp_path)


@pytest.mark.slow
def test_texts_become_a_filtered_version(space: Workspace) -> None:
    assert run(features.STEP, space) == "bow, 119 numbers a row"
    said = run(aflite.STEP, space)
    folder = space.path / "data/aflite"
    rows, history = pq.read_table(folder / "aflite.parquet"), pq.read_table(folder / "history.parquet")
    filtered, record = pq.read_table(folder / "filtered.parquet"), json.loads((folder / "aflite.json").read_text())
    assert rows.schema.equals(AFLITE) and history.schema.equals(AFLITE_HISTORY)
    assert rows["uid"].to_pylist() == sorted(small_set("pair", rows=120)["uid"].to_pylist())
    kept = rows.filter(rows["kept"])
    assert sorted(filtered["uid"].to_pylist()) == kept["uid"].to_pylist()
    assert kept["removed_in_round"].null_count == kept.num_rows == record["kept"]
    assert dataset_info(filtered.schema) == dataset_info(small_set("pair").schema)
    assert record["train_size"] == 12 and record["target_size"] == 40 and record["slice_size"] == 2
    assert said.startswith(f"120 to {record['kept']} rows in {record['rounds']} rounds, R .")
    metrics = json.loads((space.path / aflite.METRICS).read_text())
    assert metrics["aflite.bias_before"] > metrics["aflite.bias_after"]
    assert metrics["aflite.kept.share"] == record["kept"] / 120
    held = pq.read_table(folder / "evaluation/held.parquet")
    assert held.num_rows == 40 and record["evaluation"]["held"] == {"rows": 40, "kept": sum(held["kept"].to_pylist())}
    assert all((space.path / name).stat().st_size > 1000 for name in aflite.FIGURES)


@pytest.mark.slow
def test_the_same_parameters_give_the_same_bytes(space: Workspace) -> None:
    run(features.STEP, space)
    found = []
    for _ in range(2):
        assert run_step(aflite.STEP, space, force=True).executed
        found.append([path.read_bytes() for path in sorted((space.path / "data/aflite").rglob("*.*"))])
        found[-1] += [(space.path / name).read_bytes() for name in aflite.FIGURES]
    assert found[0] == found[1]


def test_rows_that_the_model_learnt_from_leave_the_pool(space: Workspace) -> None:
    space = with_sections(space, features=Features(source="finetuned", held_back=0.25))
    assert run(features.STEP, space) == "finetuned, 64 numbers a row, 30 rows held back"
    run(aflite.STEP, space)
    assert pq.read_table(space.path / "data/aflite/aflite.parquet").num_rows == 90
    assert pq.read_table(space.path / "data/features/held.parquet").num_rows == 40


def test_rows_that_share_a_text_stay_together(space: Workspace) -> None:
    run(features.STEP, space)
    space = with_sections(space, aflite=Aflite(group_by="premise", train_size=20))
    run(aflite.STEP, space)
    rows = pq.read_table(space.path / TRAIN)
    rows = rows.set_column(1, "premise", pa.array([f"premise {row // 3}" for row in range(120)]))
    assert aflite._groups("premise", rows).tolist() == [row // 3 for row in range(120)]
    assert json.loads((space.path / "data/aflite/aflite.json").read_text())["group_by"] == "premise"
    space = with_sections(space, aflite=Aflite(group_by="topic"))
    with pytest.raises(InputError, match=r"`aflite.group_by` is 'topic', which is no text column of the set; .*premise, hypothesis"):
        run(aflite.STEP, space)


def test_rows_that_a_column_links_are_not_guessed_by_their_siblings(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat(rng.integers(0, 2, 40), 3)
    texts = [f"all that speaker{row // 3} says of thing{row // 3}" for row in range(120)]
    rows = table(info_of("single"), {"text": texts}, labels.tolist())
    linked = rows.append_column(pa.field("linked", pa.int32()), pa.array(np.arange(120) // 3, pa.int32()))
    bias = {}
    for name, train in (("alone", rows), ("linked", linked)):
        space = make_workspace(tmp_path / name, train, features={}, aflite={"train_size": 60, "target_size": 90}, train={"epochs": 2})
        run(features.STEP, space)
        run(aflite.STEP, space)
        record = json.loads((space.path / "data/aflite/aflite.json").read_text())
        assert record.get("linked", False) == (name == "linked")
        bias[name] = record["bias_before"]
    assert bias["alone"] > 0.75 and bias["linked"] < 0.6


def test_linked_rows_and_those_that_share_a_text_are_one_group() -> None:
    rows = small_set("pair", rows=120).set_column(1, "premise", pa.array([f"premise {row // 2}" for row in range(120)]))
    rows = rows.append_column("linked", pa.array([7, None, 7, *[None] * 117], pa.int32()))
    assert aflite._groups("premise", rows)[:6].tolist() == [0, 0, 0, 0, 1, 1]
    assert aflite._groups(None, rows)[:4].tolist() == [0, 1, 0, 2]


def test_a_long_filter_says_once_how_long_it_takes_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[tuple[int, int, float | None]] = []
    spoken = aflite._Spoken(lambda done, total, left=None: shown.append((done, total, left)), "64 classifiers on 137,500 of 550,000 rows")
    spoken(Forecast(34, 0, 5.0, 355.0))
    spoken(Forecast(34, 1, 11.0, 300.0))
    assert capsys.readouterr().out == "aflite             64 classifiers on 137,500 of 550,000 rows, up to 34 rounds: about 6 min\n"
    assert shown == [(0, 34, 355.0), (1, 34, 300.0)]


def test_a_filter_of_seconds_says_nothing_of_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[int] = []
    spoken = aflite._Spoken(lambda done, total, left=None: shown.append(done), "8 classifiers on 12 of 120 rows")
    spoken(Forecast(34, 0, 0.1, 4.8))
    spoken(Forecast(34, 1, 0.2, 9.0))
    assert capsys.readouterr().out == "" and shown == [0, 1]


def test_a_greedy_filter_takes_one_row_a_round() -> None:
    assert aflite._sizes(Aflite(variant="greedy", slice_size=9), 120) == {"train_size": 12, "target_size": 40, "slice_size": 1}


@pytest.mark.parametrize(("section", "message"), [("{threshold: 2}", "`aflite.threshold`"), ("{variant: slow}", "`aflite.variant`")])
def test_wrong_parameters_of_the_filter_are_named(tmp_path: Path, section: str, message: str) -> None:
    (tmp_path / "params.yaml").write_text(f"aflite: {section}")
    with pytest.raises(InputError) as raised:
        load_settings(tmp_path / "params.yaml", {"aflite": Aflite})
    assert message in str(raised.value)

"""The step score, on five rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
import pytest

from cartograph.config import Settings
from cartograph.errors import InputError
from cartograph.planted.score import SCORE
from tasks.audit.noise import Noise
from tasks.audit.score import STEP, Score, run
from tests.planted_tables import FOUND, MAP, PLANTED


@pytest.fixture
def folders(tmp_path: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    inputs = {"data/truth": tmp_path / "truth", "data/measure": tmp_path / "measure"}
    staged = {"data/score": tmp_path / "score", "reports/score.metrics.json": tmp_path / "score.metrics.json"}
    for folder in (*inputs.values(), staged["data/score"]):
        folder.mkdir()
    pq.write_table(PLANTED, inputs["data/truth"] / "truth.parquet")
    pq.write_table(MAP, inputs["data/measure"] / "measures.parquet")
    return inputs, staged


def test_the_step_writes_table_and_numbers(folders: tuple[dict[str, Path], dict[str, Path]]) -> None:
    inputs, staged = folders
    assert run(Score(), cast(Any, inputs), cast(Any, staged)) == "planted flips: average precision .83"
    assert pq.read_table(staged["data/score"] / "score.parquet").schema == SCORE
    numbers = json.loads(staged["reports/score.metrics.json"].read_text(encoding="utf-8"))
    assert numbers["average_precision"] == pytest.approx(5 / 6)
    assert all(isinstance(value, int | float) for value in numbers.values())


def test_the_step_scores_the_suspects_where_there_are_some(folders: tuple[dict[str, Path], dict[str, Path]]) -> None:
    inputs, staged = folders
    inputs["data/noise"] = inputs["data/measure"]
    pq.write_table(FOUND, inputs["data/noise"] / "noise.parquet")
    assert run(Score(), cast(Any, inputs), cast(Any, staged)) == "planted flips: average precision .83, precision .50, recall .50"
    numbers = json.loads(staged["reports/score.metrics.json"].read_text(encoding="utf-8"))
    assert numbers["low_confidence.average_precision"] == pytest.approx(5 / 6)


def test_the_step_reads_the_suspects_of_an_audit_that_looks_for_some() -> None:
    assert STEP.inputs_of(Settings({"noise": Noise()})) == ("data/truth", "data/measure", "data/noise")
    assert "data/noise" not in STEP.inputs_of(Settings())


def test_the_step_says_what_to_do_about_a_map_of_other_rows(folders: tuple[dict[str, Path], dict[str, Path]]) -> None:
    inputs, staged = folders
    pq.write_table(MAP.slice(1), inputs["data/measure"] / "measures.parquet")
    with pytest.raises(InputError, match=r"the map cannot be scored: .*uid 'a' is in the truth alone; run the audit .*--force ingest"):
        run(Score(), cast(Any, inputs), cast(Any, staged))

"""A collection with a matcher: labels never make it worse, and what is stated is never asked."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from cartograph.errors import WaitingError
from cartograph.pairs.implied import implied_pairs
from cartograph.pairs.tables import keys_of, load_task
from tasks.engine.running import run_step
from tasks.engine.workspace import CODE, Workspace
from tasks.pipelines import COLLECTION_SECTIONS, steps_of
from tests.workspaces import open_new, use_project

SMALL: dict[str, dict[str, Any]] = {
    "pairs": {"rows": 300},
    "encode": {"model": "matcher", "neighbours": 8, "random_negatives": 300},
    "collect": {"methods": ["uncertainty"], "first_round": 40, "rounds": 2, "resamples": 20, "seed_set": "spread"},
    "publish": {"enabled": False},
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("project")
    (path / "src").symlink_to(CODE / "src")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_project(path, monkeypatch)
        yield path


def workspace(path: Path, **changes: Any) -> Workspace:
    collect = {**SMALL["collect"], **changes}
    return open_new(path, **{name: {**SMALL.get(name, {}), **(collect if name == "collect" else {})} for name in COLLECTION_SECTIONS})


def content(space: Workspace, name: str) -> Any:
    return json.loads((space.path / name).read_text(encoding="utf-8"))


@pytest.mark.slow
def test_a_round_never_ends_with_a_model_that_is_worse_on_dev(project: Path) -> None:
    space = workspace(project / "workspaces/labels")
    for step in steps_of(space.settings):
        run_step(step, space)
    free = content(space, "data/encode/start.json")
    assert set(free["dev"]) == {"combined", "words", "characters"}
    assert free["dev"][free["prior"]] == max(free["dev"].values())
    for number in (1, 2):
        chosen = content(space, f"data/round-{number}/uncertainty-1/scores.json")["chosen"]
        assert chosen["dev"][chosen["model"]] >= chosen["dev"]["untrained"]
    rows = pq.read_table(space.path / "data/compare/summary.parquet").to_pylist()
    assert {row["round"] for row in rows} == {0, 1, 2}
    encoded = content(space, "reports/encode.metrics.json")
    positives = content(space, "reports/pairs.metrics.json")["test.positives"]
    assert encoded["test.positives_proposed"] + encoded["test.positives_lost"] == positives
    page = (space.path / "reports/report.html").read_text(encoding="utf-8")
    assert "Where the matches are" in page
    assert "The matcher of the last round is kept." in page, "which may rank by likeness alone"
    assert "--clusters writes reports/matches.csv, each with its probability." in page
    assert "would bring cannot be estimated yet: a curve of 2 rounds says nothing about the next labels; it takes 4." in page
    assert "Without any label its average precision is" in page
    assert "which somebody balanced" not in page
    assert "Positives among candidates" in page


@pytest.mark.slow
def test_what_is_stated_or_follows_is_not_asked_and_a_contradiction_is_asked_again(project: Path) -> None:
    space = workspace(project / "workspaces/people", oracle="people", first_round=40)
    steps = {step.name: step for step in steps_of(space.settings)}
    for name in ("pairs", "encode"):
        run_step(steps[name], space)
    first, second = steps["round-1@uncertainty-1"], steps["round-2@uncertainty-1"]
    with pytest.raises(WaitingError, match=r"^round 1 asks about 40 pairs"):
        run_step(first, space)
    task = load_task(space.path / "data/pairs")
    stated = task.stated("train")[0]
    known = np.union1d(stated, implied_pairs(task, stated, task.labels(stated)))
    rows = sheet(space, 1)
    assert not np.isin([int(row[0][1:]) for row in rows[1:]], known).any()

    # Yes to everything joins groups that stated pairs say differ.
    answer(space, 1, rows, ["yes"] * 40)
    run_step(first, space)
    table = pq.read_table(space.path / "data/round-1/uncertainty-1/collected.parquet")
    assert (table["round"].to_numpy() == 0).sum() == len(stated)
    numbers = content(space, "data/round-1/uncertainty-1/scores.json")["numbers"]
    assert (numbers["labels"], numbers["given"]) == (40, len(stated))
    wrong = [one["pair"] for one in content(space, "data/round-1/uncertainty-1/contradictions.json")]
    skipped = keys_of(table.filter(table["label"].to_numpy() == -1), len(task.right)).tolist()
    assert wrong
    assert sorted(skipped) == sorted(wrong)
    with pytest.raises(WaitingError, match=r"^round 2 asks about 60 pairs"):
        run_step(second, space)
    asked = {int(row[0][1:]): row[5] for row in sheet(space, 2)[1:]}
    again = wrong[:60]
    assert list(asked)[: len(again)] == again
    assert all(asked[key].startswith("asked again: answered no, but yes to p") for key in again)


def sheet(space: Workspace, number: int) -> list[list[str]]:
    return [*csv.reader((space.path / f"review/round-{number:02d}.csv").read_text(encoding="utf-8-sig").splitlines())]


def answer(space: Workspace, number: int, rows: list[list[str]], words: list[str]) -> None:
    with (space.path / f"review/round-{number:02d}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([rows[0], *([*row[:4], word, ""] for row, word in zip(rows[1:], words, strict=True))])

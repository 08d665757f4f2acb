from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tasks.audit.publication import read_publication, write_files
from tasks.audit.published_models import cleaned_dataset
from tasks.engine.running import run_step
from tasks.engine.step import Inputs
from tasks.pipelines import steps_of
from tests.label_sets import WORDS
from tests.unit.tasks.labels.conftest import ROWS, LabelAudit
from tests.workspaces import with_sections


def test_suspects_and_cleaned_rows_are_written_into_a_database(films: LabelAudit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "found.db"
    path.touch()
    monkeypatch.setenv("FILMS_DB", f"sqlite:///{path}")
    space = with_sections(films.space, publish={"enabled": False, "tables": {"database": "env:FILMS_DB"}})
    publish = steps_of(space.settings)[-1]
    run_step(publish, space)
    with closing(sqlite3.connect(path)) as connection:
        suspects = connection.execute("select uid, label, given, suggested from cartograph_label_suspects order by rank").fetchall()
        cleaned = connection.execute('select uid, "row", added, removed from cartograph_label_cleaned').fetchall()
    with (space.path / "reports/suspects.csv").open(newline="") as file:
        listed = list(csv.DictReader(file))
    assert [row[1:] for row in suspects] == [(row["label"], row["given"], row["suggested"]) for row in listed]
    truth = {str(place + 1): set(np.array(WORDS)[films.truth[place] == 1]) for place in range(ROWS)}
    frame = pd.read_csv(films.space.path.parent.parent / "films.csv", dtype=str)
    right = changed = 0
    for _, row, added, removed in cleaned:
        before = {word for word in WORDS if frame[word][row - 1] == "1"}
        after = (before | set(json.loads(added))) - set(json.loads(removed))
        changed += after != before
        right += after != before and after == truth[str(row)]
    assert len(cleaned) == ROWS - 1 and changed > 50 and right > 0.7 * changed


def test_the_published_data_sets_are_rows_with_their_labels(films: LabelAudit, tmp_path: Path) -> None:
    space = with_sections(films.space, publish={"enabled": True})
    publish = steps_of(space.settings)[-1]
    inputs = Inputs(space, publish.inputs_in(space))
    publication, cleaned = read_publication(space, inputs), cleaned_dataset(space, inputs)
    (audited,) = publication.datasets
    assert cleaned is not None and cleaned.digest != audited.digest and cleaned.path.endswith("data/clean/cleaned.parquet")
    for dataset in (audited, cleaned):
        assert dataset.profile["num_rows"] == ROWS - 1 and tuple(dataset.profile["classes"]) == WORDS
    assert f"{ROWS - 1:,} train rows with 4 labels each" in publication.tags["mlflow.note.content"]
    assert {f"suspects.{name}" for name in WORDS} <= publication.metrics.keys()
    write_files(space, inputs, tmp_path, points=1000)
    assert {"report.html", "suspects.csv", "cleaned.parquet", "card.md", "data_map.html"} <= {path.name for path in tmp_path.iterdir()}
    assert '"several":["love"' in (tmp_path / "data_map.html").read_text()


def test_the_card_speaks_of_rows_and_labels(films: LabelAudit) -> None:
    card = films.space.resolve("reports/card.md").read_text()
    assert f"{ROWS - 1:,} rows of {ROWS - 1:,}, each with 4 labels, yes or no." in card
    assert f"| films.csv | {ROWS - 1:,} |" in card and f"Of {ROWS - 1:,} usable rows, each with 4 labels, " in card
    assert " labels changed between yes and no." in card and "a label, after cleaning" in card

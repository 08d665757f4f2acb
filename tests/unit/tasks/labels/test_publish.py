from __future__ import annotations

from pathlib import Path

import pytest

from cartograph.errors import InputError
from tasks.audit.publication import read_publication, write_files
from tasks.audit.published_models import cleaned_dataset
from tasks.engine.step import Inputs
from tasks.pipelines import steps_of
from tests.label_sets import WORDS
from tests.unit.tasks.labels.conftest import ROWS, LabelAudit
from tests.workspaces import open_new, with_sections


def test_tables_are_refused_with_what_there_is_instead(project: Path) -> None:
    ingest = {"train": "f.csv", "label_columns": "tags", "text": "text"}
    with pytest.raises(InputError, match=r"tables are written for rows with one label; leave `tables` out: reports/suspects.csv"):
        open_new(project / "workspaces/tables", ingest=ingest, publish={"tables": {"table": "out", "format": "delta"}})


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

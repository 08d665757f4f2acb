"""Rows with several labels read from files: what is a row, what is set aside, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cartograph.data.json_files import read_json
from cartograph.errors import GateError, InputError
from cartograph.models.base import label_matrix
from cartograph.schema import dataset_info
from tasks.audit.ablate import run_beside
from tasks.commands.expand import expand
from tasks.engine.running import run_step
from tasks.labels.ingest import DECISIONS, LABELS, ROWS
from tasks.pipelines import steps_of
from tests.label_sets import WORDS, film_frame
from tests.unit.tasks.labels.conftest import ROWS as READ
from tests.unit.tasks.labels.conftest import LabelAudit
from tests.workspaces import open_new


def test_a_row_with_a_label_that_cannot_be_read_is_set_aside(films: LabelAudit) -> None:
    (aside,) = pq.read_table(films.space.resolve("data/ingest/quarantine.parquet")).to_pylist()
    assert (aside["file"], aside["row"], aside["column"], aside["reason"]) == ("films.csv", 8, "space", "no label")
    rows, decisions = (pq.read_table(films.space.resolve(name)) for name in (ROWS, DECISIONS))
    assert dataset_info(rows.schema).labels == WORDS and label_matrix(rows).shape == (READ - 1, 4)
    assert dataset_info(decisions.schema).labels[:3] == ("love: no", "love: yes", "sea: no")
    assert decisions.num_rows == 4 * (READ - 1) and set(decisions["row"].to_pylist()) == set(range(1, READ + 1)) - {8}
    validation = read_json(films.space.resolve("data/ingest/validation.json"))
    (entry,) = validation["sets"]
    assert (entry["rows_read"], entry["rows_used"], entry["quarantined"]) == (READ, READ - 1, 1)
    assert entry["classes"] == {label["name"]: label["rows"] for label in read_json(films.space.resolve(LABELS))}
    assert not any("known" in check["check"] for check in entry["checks"])


def test_each_label_of_a_row_is_named_by_the_label_whichever_others_there_are(films: LabelAudit) -> None:
    decisions = pq.read_table(films.space.resolve(DECISIONS))
    classes = dataset_info(decisions.schema).labels
    for uid, label in zip(decisions["uid"].to_pylist(), decisions["label"].to_pylist(), strict=True):
        assert uid.endswith(f"#{classes[label].removesuffix(': no').removesuffix(': yes')}")


def test_rows_of_several_files_keep_their_own_texts_and_labels(project: Path) -> None:
    frame, _ = film_frame(120)
    frame[:60].to_csv(project / "one.csv", index=False)
    frame[60:].to_csv(project / "two.csv", index=False)
    space = open_new(project / "workspaces/two", ingest={"train": ["one.csv", "two.csv"], "text": "text", "label_columns": "tags"})
    assert run_step(steps_of(space.settings)[0], space).receipt.summary == "120 rows, 4 labels, 0 quarantined"
    rows = pq.read_table(space.resolve(ROWS))
    found = {
        text: "|".join(name for name, has in zip(WORDS, row, strict=True) if has)
        for text, row in zip(rows["text"].to_pylist(), label_matrix(rows), strict=True)
    }
    assert found == dict(zip(frame["text"], frame["tags"], strict=True))


def test_a_label_that_few_rows_have_is_left_out_and_said_so(project: Path) -> None:
    frame, _ = film_frame(60)
    frame.iloc[3, 1] += "|rare"
    frame.to_csv(project / "films.csv", index=False)
    space = open_new(project / "workspaces/rare", ingest={"train": "films.csv", "text": "text", "label_columns": "tags"})
    assert "4 labels, 1 that cannot be audited" in run_step(steps_of(space.settings)[0], space).receipt.summary
    assert read_json(space.resolve(LABELS))[-1] == {"name": "rare", "rows": 1, "note": "yes in 1 row, of 5 that are needed"}


def test_more_unusable_rows_than_allowed_end_the_audit(project: Path) -> None:
    frame, _ = film_frame(60)
    given = frame["tags"].str.get_dummies("|")[list(WORDS)].astype(str)
    given.iloc[:12, 0] = ""
    frame.drop(columns="tags").join(given).to_csv(project / "films.csv", index=False)
    space = open_new(project / "workspaces/bad", ingest={"train": "films.csv", "text": "text", "label_columns": list(given)})
    with pytest.raises(GateError, match=r"train: 12 of 60 rows \(20.%\) cannot be used.*12 no label"):
        run_step(steps_of(space.settings)[0], space)


@pytest.mark.parametrize(
    ("ingest", "message"),
    [
        ({"label_columns": "tags", "text": "text"}, "name the files"),
        ({"train": "f.csv", "label_columns": [], "text": "text"}, "`label_columns` names one column"),
        ({"train": "f.csv", "label_columns": "tags"}, "name one `text` column, two for pairs, or `features`"),
        ({"train": "f.csv", "label_columns": "tags", "text": "tags"}, "column `tags` is named as a label and as what is read of a row"),
        ({"train": "f.csv", "label_columns": "tags", "text": "text", "evaluation": {}}, "unknown key `ingest.evaluation`"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_to_do(project: Path, ingest: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_new(project / "workspaces/refused", ingest=ingest)


def test_sections_for_rows_with_one_label_are_refused(project: Path) -> None:
    ingest = {"train": "f.csv", "label_columns": "tags", "text": "text"}
    with pytest.raises(InputError, match="unknown section `retrain`"):
        open_new(project / "workspaces/refused", ingest=ingest, retrain={"seeds": [1]})


def test_commands_for_rows_with_one_label_say_so(films: LabelAudit, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`expand` reads the map of rows with one label, and the rows of .*films have several"):
        expand("more.csv", workspace=str(films.space.path))
    with pytest.raises(InputError, match=r"experiment `seeds` is about rows with one label, and .*films has several"):
        run_beside("seeds", films.space, tmp_path)

"""The cleaned version of rows with several labels, and what people decide about a row and a label."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.data.json_files import read_json
from cartograph.errors import InputError
from cartograph.models.base import label_matrix
from tasks.commands.review import review
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tasks.pipelines import open_workspace, steps_of
from tasks.reviewing.suspects import SuspectQuestions
from tests.label_sets import WORDS, film_frame
from tests.unit.tasks.labels.conftest import ROWS, LabelAudit, audited


def copied(films: LabelAudit, name: str) -> Workspace:
    """A copy of the audited workspace, for decisions of its own."""
    target = films.space.path.parent / name
    shutil.copytree(films.space.path, target)
    return open_workspace(target)


def clean(space: Workspace, decisions: str) -> None:
    (space.path / "review").mkdir()
    (space.path / "review" / "decisions.csv").write_text(f"uid,decision,new_label,by,comment\n{decisions}")
    run_step(next(step for step in steps_of(space.settings) if step.name == "clean"), space)


def changes(space: Workspace) -> pd.DataFrame:
    return pq.read_table(space.resolve("data/clean/changes.parquet")).to_pandas().set_index("uid")


def test_the_cleaned_version_has_fewer_wrong_labels_and_all_else_as_it_was(films: LabelAudit) -> None:
    before = (films.space.path.parent.parent / "films.csv").read_text().splitlines()
    after = films.space.resolve("data/clean/cleaned.csv").read_text().splitlines()
    del before[8]
    assert len(after) == len(before) == ROWS and after[0] == before[0]
    touched = [place for place, (one, two) in enumerate(zip(before, after, strict=True)) if one != two]
    assert all(before[place].split(",")[0] == after[place].split(",")[0] for place in touched)
    given, cleaned = (pd.DataFrame([line.split(",")[1:] for line in lines[1:]]).astype(int).to_numpy() for lines in (before, after))
    truth = films.truth[[place for place in range(ROWS) if place != 7]]
    assert (cleaned != truth).sum() < 0.4 * (given != truth).sum()
    assert len(changes(films.space)) == (cleaned != given).sum() > 30
    table = pq.read_table(films.space.resolve("data/clean/cleaned.parquet"))
    assert (table.to_pandas()[list(WORDS)].astype(int).to_numpy() == cleaned).all()
    version = read_json(films.space.resolve("data/clean/version.json"))
    assert (version["rows"], version["parent_rows"], version["dropped"]) == (ROWS - 1, ROWS - 1, 0)
    assert version["relabelled"] == (cleaned != given).sum() and version["version"] != version["parent"]
    assert read_json(films.space.resolve("data/clean/validation.json"))["passed"]


def test_people_decide_about_a_row_and_a_label(films: LabelAudit) -> None:
    own = changes(films.space)
    kept, dropped = own.index[0], own.index[1]
    space = copied(films, "decided")
    clean(space, f"{kept},keep,,ann,\n{dropped},drop,,ann,unreadable\n")
    now = changes(space)
    assert kept not in now.index
    row = dropped.partition("#")[0]
    assert set(now.index[now["what"] == "drop"]) == {f"{row}#{name}" for name in WORDS}
    assert now.loc[dropped, "why"] == "unreadable" and set(now.loc[now["what"] == "drop", "by"]) == {"ann"}
    rows = pq.read_table(space.resolve("data/clean/rows.parquet"))
    assert rows.num_rows == ROWS - 2 and row not in rows["uid"].to_pylist()
    assert len(space.resolve("data/clean/cleaned.csv").read_text().splitlines()) == ROWS - 1
    assert read_json(space.resolve("data/clean/version.json"))["dropped"] == 1
    assert label_matrix(rows).shape == (ROWS - 2, 4)


def test_where_people_keep_the_surest_labels_the_others_are_not_turned_without_them(films: LabelAudit) -> None:
    own = changes(films.space).index
    space = copied(films, "kept")
    clean(space, "".join(f"{uid},keep,,ann,\n" for uid in own[:20]))
    assert len(own) > 30 and len(changes(space)) < 0.2 * (len(own) - 20)


def test_a_decision_about_another_label_is_refused(films: LabelAudit) -> None:
    uid = next(uid for uid in changes(films.space).index if uid.endswith("#love"))
    space = copied(films, "mistaken")
    with pytest.raises(
        InputError, match=r"`new_label` is 'sea: yes', which is about another label; .* relabelled to 'love: no' or 'love: yes' alone"
    ):
        clean(space, f"{uid},relabel,sea: yes,ann,\n")


@pytest.mark.slow
def test_lists_in_parquet_stay_lists(project: Path) -> None:
    frame, _ = film_frame(ROWS, wrong=0.06)
    lists = [[name for name in tags.split("|") if name] for tags in frame["tags"]]
    table = pa.table({"text": frame["text"].tolist(), "tags": pa.array(lists, pa.list_(pa.string())), "year": list(range(ROWS))})
    pq.write_table(table, project / "films.parquet")
    space = audited(project, "lists", ingest={"train": "films.parquet", "text": "text", "label_columns": "tags"})
    cleaned = pq.read_table(space.resolve("data/clean/cleaned.parquet"))
    assert cleaned.schema.types == table.schema.types and cleaned["year"].equals(table["year"])
    differing = sum(one != two for one, two in zip(cleaned["tags"].to_pylist(), lists, strict=True))
    assert 0 < differing <= len(changes(space))
    assert not space.resolve("data/clean/cleaned.csv").exists()


def test_the_review_page_asks_about_one_label_of_a_row(films: LabelAudit) -> None:
    space = copied(films, "reviewed")
    tables = tuple(pq.read_table(space.resolve(name)) for name in ("data/ingest/train.parquet", "data/noise/noise.parquet"))
    questions = SuspectQuestions(space, tables, "ann", lambda: None, alone=False)  # type: ignore[arg-type]
    first = questions.question(0)
    label = first["given"].rpartition(": ")[0]
    assert questions.overview()["labels"] == [] and first["keys"] == [f"{label}: no", f"{label}: yes"]
    near = questions.context(0)["near"]
    assert near and all(one["label"].startswith(f"{label}: ") and one["fields"] != first["fields"] for one in near)
    other = next(name for name in WORDS if name != label)
    with pytest.raises(InputError, match=f"is about another label than the question; expected {label}: no or {label}: yes"):
        questions.answer(0, f"relabel {other}: yes", "")
    questions.answer(0, f"relabel {first['suggested']}", "")
    assert f"{first['uid']},relabel,{first['suggested']},ann" in (space.path / "review/decisions.csv").read_text()


def test_a_sheet_with_the_answer_to_another_label_is_not_taken_in(films: LabelAudit, tmp_path: Path) -> None:
    uid = next(uid for uid in changes(films.space).index if uid.endswith("#love"))
    space = copied(films, "imported")
    (tmp_path / "sheet.csv").write_text(f"uid,decision,new_label\n{uid},relabel,war: yes\n")
    with pytest.raises(InputError, match="'war: yes', which is about another label"):
        review(str(space.path), taken=[str(tmp_path / "sheet.csv")], by="ann")
    assert not (space.path / "review/decisions.csv").exists()
    with pytest.raises(InputError, match="--blind asks which one label a row has, and these rows have several"):
        review(str(space.path), blind=True)

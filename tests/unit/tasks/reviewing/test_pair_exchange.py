"""A round that several people answer: on the page, in Label Studio, on sheets; what they agree on, and what is asked again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from cartograph.data.spreadsheet import read_sheet
from cartograph.errors import InputError
from cartograph.pairs.answers import answer_sheet
from cartograph.pairs.tables import load_task
from tasks.commands.review import review
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tasks.pipelines import steps_of
from tasks.reviewing.pairs import PairQuestions
from tasks.reviewing.questions import ChangedError
from tests.workspaces import open_new

KEYS = np.array([3, 17, 40], np.int64)
WORKSPACE = "workspaces/pairs"


@pytest.fixture
def space(project: Path) -> Workspace:
    collect = {"methods": ["uncertainty"], "oracle": "people", "given": "none", "rounds": 2, "first_round": 3}
    space = open_new(project / WORKSPACE, pairs={"rows": 200}, collect=collect)
    run_step(next(step for step in steps_of(space.settings) if step.name == "pairs"), space)
    (space.path / "review").mkdir()
    (space.path / "review/round-01.csv").write_bytes(answer_sheet(load_task(space.path / "data/pairs"), KEYS))
    return space


def cells(space: Workspace, column: str, name: str = "round-01") -> list[str]:
    content = (space.path / f"review/{name}.csv").read_bytes()
    return [record.cells[column] for record in read_sheet(content, name, ("pair",))]


def test_two_annotators_answer_apart_and_settle_where_they_differ(space: Workspace) -> None:
    ann = PairQuestions(space, "Ann", alone=True)
    for place, word in enumerate(("yes", "no", "yes")):
        ann.answer(place, word, "")
    assert cells(space, "label") == ["yes", "no", "yes"]
    bob = PairQuestions(space, "Bob", alone=True)
    assert bob.overview()["answers"] == {}
    assert [bob.question(place)["reason"] for place in range(3)] == ["", "", ""]
    for place, word in enumerate(("yes", "yes", "skip")):
        bob.answer(place, word, "")
    assert cells(space, "label") == ["yes", "", "yes"]
    assert cells(space, "comment") == ["", "Ann: no; Bob: yes", ""]
    assert bob.agreement() == {
        "lines": ["Ann and Bob both answered 2 pairs and agree on 50 % of them (Cohen's kappa 0.00)."],
        "disputed": [1],
    }
    asked = bob.question(1)
    assert asked["reason"] == "Answered differently: Ann: no; Bob: yes"
    with pytest.raises(ChangedError):
        bob.answer(1, "no", "Ann: no; Bob: no", settles=True)
    bob.answer(1, "no", asked["joint"], settles=True)
    assert cells(space, "label") == ["yes", "no", "yes"]
    assert ann.agreement()["disputed"] == []
    # What was settled stays, whatever else is answered; an answer that is taken back opens a pair that nobody else has answered.
    bob.answer(2, "yes", "skip")
    bob.answer(2, "", "yes")
    ann.answer(2, "", "yes")
    assert cells(space, "label") == ["yes", "no", ""]
    with pytest.raises(InputError, match=r"^review/round-01\.csv has what its annotators agree on \(Ann, Bob\); add --annotator NAME"):
        PairQuestions(space, "me")


def test_answers_that_were_there_first_are_compared_too(space: Workspace) -> None:
    PairQuestions(space, "me").answer(0, "no", "")
    ann = PairQuestions(space, "Ann", alone=True)
    ann.answer(0, "yes", "")
    assert cells(space, "comment") == ["Ann: yes; the sheet: no", "", ""]
    assert cells(space, "label") == ["", "", ""]
    ann.answer(0, "no", "yes")
    assert cells(space, "label") == ["no", "", ""]
    assert cells(space, "comment") == ["", "", ""]


def test_an_export_of_label_studio_and_a_sheet_are_taken_in(space: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    review(WORKSPACE)
    said = capsys.readouterr().out
    assert "For Label Studio: workspaces/pairs/reports/round-01.labelstudio.json, 3 pairs" in said
    assert (space.path / "reports/round-01.labelstudio.xml").read_text(encoding="utf-8").startswith("<View>")
    export = json.loads((space.path / "reports/round-01.labelstudio.json").read_text(encoding="utf-8"))
    for one, word in zip(export, ("yes", "no", "no"), strict=True):
        value = [{"from_name": "label", "to_name": "left", "type": "choices", "value": {"choices": [word]}}]
        one["annotations"] = [{"completed_by": {"email": "ann@x.org"}, "result": value}]
    (tmp_path / "export.json").write_text(json.dumps(export), encoding="utf-8")
    review(WORKSPACE, taken=[str(tmp_path / "export.json")])
    assert cells(space, "label") == ["yes", "no", "no"]
    capsys.readouterr()

    given = tmp_path / "for-bob.csv"
    review(WORKSPACE, out=str(given))
    assert (tmp_path / "for-bob.labelstudio.json").exists()
    rows = [*csv.reader(given.read_text(encoding="utf-8-sig").splitlines())]
    for row, word in zip(rows[1:], ("WAHR", "WAHR", ""), strict=True):
        assert row[4] == ""
        row[4] = word
    with given.open("w", newline="", encoding="cp1252") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    with pytest.raises(InputError, match=r"for-bob\.csv is a sheet, which does not say who answered; add --by NAME\.$"):
        review(WORKSPACE, taken=[str(given)])
    review(WORKSPACE, taken=[str(given)], by="Bob")
    said = capsys.readouterr().out
    assert "2 answers of Bob, in workspaces/pairs/review/round-01-by-Bob.csv." in said
    assert "Bob and ann@x.org both answered 2 pairs and agree on 50 % of them" in said
    assert "1 pairs are answered differently, and asked again in review/round-01.csv" in said
    assert cells(space, "label") == ["yes", "", "no"]
    with pytest.raises(InputError, match=r"exists already; name another file for the sheet\.$"):
        review(WORKSPACE, out=str(given))


def test_a_file_without_an_answer_and_a_round_that_has_not_asked_are_named(space: Workspace, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_bytes((space.path / "review/round-01.csv").read_bytes())
    with pytest.raises(InputError, match=r"empty\.csv holds no answer; expected yes, no, or skip for pairs of review/round-01\.csv\.$"):
        review(WORKSPACE, taken=[str(tmp_path / "empty.csv")], by="Ann")
    (space.path / "review/round-01.csv").unlink()
    with pytest.raises(InputError, match=r"asks nothing yet: there is no review/round-01\.csv; run `python -m flows\.collect"):
        review(WORKSPACE)

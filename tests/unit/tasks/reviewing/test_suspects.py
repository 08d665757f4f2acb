"""Decisions as the review page writes them: undone, joint, and refused where they are no answer."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from cartograph.data.json_files import write_json
from cartograph.data.spreadsheet import read_sheet
from cartograph.errors import InputError
from tasks.engine.workspace import Workspace
from tasks.reviewing.questions import ChangedError, require_name
from tasks.reviewing.suspects import SuspectQuestions
from tests.cleaning import make_examples, make_noise
from tests.workspaces import open_new

EXAMPLES = make_examples([(f"u{n}", f"text {n}", n % 3) for n in range(9)])
NOISE = make_noise(EXAMPLES, {"u4": (2, 0.9), "u0": (1, 0.8), "u7": (0, 0.7)})


@pytest.fixture
def space(project: Path) -> Workspace:
    return open_new(project / "workspaces" / "reviews", ingest={"source": "files", "train": "t.csv", "text": "text"})


def asked(space: Workspace, annotator: str, *, alone: bool = True, further: int = 0) -> SuspectQuestions:
    return SuspectQuestions(space, (EXAMPLES, NOISE), annotator, lambda: None, alone=alone, further=further)


def decided(space: Workspace) -> list[tuple[str, ...]]:
    content = (space.path / "review/decisions.csv").read_bytes()
    return [tuple(one.cells[name] for name in ("uid", "decision", "new_label", "by")) for one in read_sheet(content, "d", ("uid",))]


def test_the_most_suspect_comes_first_with_what_is_said_of_it(space: Workspace) -> None:
    questions = asked(space, "Ann")
    first = questions.question(0)
    assert [first[name] for name in ("uid", "given", "suggested", "answer")] == ["u4", "good", "odd", ""]
    assert first["fields"] == [("text", "text 4", False)]
    assert first["keys"] == ["bad", "good", "odd"]
    assert (first["probability"], first["calibrated"]) == (pytest.approx(0.9), False)
    space.resolve("data/noise").mkdir(parents=True)
    for calibrated in (True, False):
        write_json(space.resolve("data/noise/noise.json"), {"calibrated": calibrated})
        assert asked(space, "Ann").question(0)["calibrated"] is calibrated
    with pytest.raises(IndexError):
        questions.question(3)


def test_an_answer_is_taken_back_and_a_given_label_is_kept(space: Workspace) -> None:
    questions = asked(space, "Ann")
    assert questions.answer(0, "relabel good", "") == {"answer": "keep"}
    assert questions.answer(1, "relabel odd", "") == {"answer": "relabel odd"}
    assert decided(space) == [("u0", "relabel", "odd", "Ann"), ("u4", "keep", "", "Ann")]
    questions.answer(1, "", "relabel odd")
    assert decided(space) == [("u4", "keep", "", "Ann")]
    assert questions.overview()["answers"] == {0: "keep"}


def test_an_answer_to_what_has_changed_is_refused_unless_it_says_the_same(space: Workspace) -> None:
    asked(space, "Ann").answer(0, "drop", "")
    with pytest.raises(ChangedError, match="answered in the meantime"):
        asked(space, "Ann").answer(0, "keep", "")
    asked(space, "Ann").answer(0, "drop", "")
    asked(space, "Ann").answer(0, "keep", "drop")
    assert decided(space) == [("u4", "keep", "", "Ann")]


def test_a_settled_row_is_decided_by_both_and_one_may_leave_it(space: Workspace) -> None:
    ann, bob = asked(space, "Ann"), asked(space, "Bob")
    ann.answer(0, "keep", "")
    bob.answer(0, "drop", "")
    found = bob.agreement()
    assert found["disputed"] == [0]
    assert found["lines"] == ["Ann and Bob both decided 1 rows and agree on 0 % of them (Cohen's kappa 0.00)."]
    joint = bob.question(0)["joint"]
    with pytest.raises(ChangedError):
        bob.answer(0, "drop", "Ann: keep", settles=True)
    bob.answer(0, "drop", joint, settles=True)
    assert decided(space) == [("u4", "drop", "", "Ann; Bob")]
    assert bob.agreement()["disputed"] == []
    ann.answer(0, "", "drop")
    assert decided(space) == [("u4", "drop", "", "Bob")]


def test_without_a_name_rows_of_others_are_not_asked_again(space: Workspace) -> None:
    asked(space, "Ann").answer(2, "drop", "")
    assert asked(space, "root", alone=False).overview()["answers"] == {2: "drop"}
    assert asked(space, "Bob").overview()["answers"] == {}


def test_rows_below_the_list_are_asked_about_where_they_are_wanted_and_stay_once_they_are_decided(space: Workspace) -> None:
    questions = asked(space, "Ann", further=2)
    assert [questions.question(place)["uid"] for place in range(5)] == ["u4", "u0", "u7", "u8", "u6"]
    assert questions.overview()["count"] == 5
    for place in range(4):
        questions.answer(place, "drop", "")
    [line] = questions.agreement()["lines"]
    assert line == (
        "People changed 4 of the last 4 labels down the list: errors go on below it. "
        "The next rows: python -m tasks review --workspace workspaces/reviews --open --further 50"
    )
    again = asked(space, "Ann", further=2)
    assert [again.question(place)["uid"] for place in range(6)] == ["u4", "u0", "u7", "u8", "u6", "u5"]
    assert again.overview()["answers"] == dict.fromkeys(range(4), "drop")


def test_without_a_list_the_rows_doubted_most_are_asked_about(space: Workspace) -> None:
    noise = NOISE.set_column(NOISE.column_names.index("flagged"), "flagged", pa.array([False] * NOISE.num_rows))
    questions = SuspectQuestions(space, (EXAMPLES, noise), "Ann", lambda: None, alone=True)
    assert questions.overview()["count"] == NOISE.num_rows
    assert [questions.question(place)["uid"] for place in range(4)] == ["u4", "u0", "u7", "u8"]
    unsure = noise.set_column(noise.column_names.index("probability"), "probability", pa.array([0.0] * noise.num_rows))
    assert SuspectQuestions(space, (EXAMPLES, unsure), "Ann", lambda: None, alone=True).overview()["count"] == 0


@pytest.mark.parametrize("answer", ["maybe", "relabel", "relabel worse", "relabelodd"])
def test_what_is_no_answer_is_refused(space: Workspace, answer: str) -> None:
    with pytest.raises(InputError, match="is no answer; expected keep, drop"):
        asked(space, "Ann").answer(0, answer, "")
    assert not (space.path / "review").exists()


@pytest.mark.parametrize("name", ["", "  ", "a; b", "a\nb", "x" * 81])
def test_a_name_that_a_file_of_decisions_cannot_hold_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="--annotator is"):
        require_name(name)

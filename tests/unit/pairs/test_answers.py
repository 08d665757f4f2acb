"""Sheets of pairs that people answer: as they are written, and as people and spreadsheets give them back."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pytest

from cartograph.errors import InputError, WaitingError
from cartograph.pairs.answers import answer_sheet, answers_in, check_of, read_answers
from cartograph.pairs.task import Task

NAMES = ("=a", "b", "c", "d", "e")


def task_of(texts: tuple[str, ...]) -> Task:
    """One set of texts, none of whose pairs is stated."""
    nothing, stated = np.empty(0, np.int64), np.empty(0, np.int8)
    return Task(texts, texts, np.zeros(len(texts), np.int8), True, True, nothing, nothing, stated)


def answering() -> tuple[Any, np.ndarray]:
    return task_of(NAMES), np.array([1, 2, 7], np.int64)


def filled(task: Any, keys: np.ndarray, *words: str) -> bytes:
    header, *lines = answer_sheet(task, keys).decode("utf-8-sig").splitlines()
    return "\n".join([header, *(f"{line.removesuffix(',,')},{word}," for line, word in zip(lines, words, strict=True))]).encode()


def test_answers_come_back_as_people_write_them() -> None:
    task, keys = answering()
    sheet = answer_sheet(task, keys)
    assert b"'=a" in sheet
    assert read_answers(filled(task, keys, "Yes", " no", "skip"), "review/round-01.csv", task, keys).tolist() == [1, 0, -1]


@pytest.mark.parametrize(
    ("delimiter", "end", "encoding"),
    [(",", "\r\n", "utf-8-sig"), (";", "\r\n", "utf-8-sig"), ("\t", "\r\n", "utf-16"), (",", "\n", "utf-8")],
)
def test_answers_come_back_as_spreadsheets_save_them(delimiter: str, end: str, encoding: str) -> None:
    task = task_of(("=1+1; é", 'so "quoted", ünd', "两个\nlines", "-5", "0012", "naïve"))
    keys = np.array([1, 6 * 2 + 3, 6 * 4 + 5], np.int64)
    table = [*csv.reader(io.StringIO(answer_sheet(task, keys).decode("utf-8-sig")))]
    for row, word in zip(table[1:], ("YES", "No", " skip "), strict=True):
        row[4] = word
    saved = io.StringIO(newline="")
    csv.writer(saved, delimiter=delimiter, lineterminator=end).writerows([*table, [""] * 6])
    assert read_answers(saved.getvalue().encode(encoding), "s.csv", task, keys).tolist() == [1, 0, -1]


def test_answers_about_other_data_are_refused() -> None:
    task, keys = answering()
    sheet = filled(task, keys, "yes", "no", "no")
    changed = task_of(("=a", "b", "z", "d", "e"))
    wanted = "s.csv line 3 shows another right text for pair p2 than the data has now (“z”), and its `check` does not fit: the data changed"
    with pytest.raises(InputError, match=f"^{re.escape(wanted)}"):
        read_answers(sheet, "s.csv", changed, keys)
    without_check = b"pair,left,right,label\np1,'=a,b,yes\np2,'=a,c,no\np7,b,c,no\n"
    with pytest.raises(InputError, match=f"^{re.escape(wanted)}"):
        read_answers(without_check, "s.csv", changed, keys)
    without_left = f"pair,check,right,label\np1,{check_of(task, 1)},b,yes\np2,{check_of(task, 2)},z,no\np7,{check_of(task, 7)},z,no\n"
    with pytest.raises(InputError, match=r"^s\.csv line 3: the `check` of pair p2 is `[a-z]{6}`, but is [a-z]{6} by the data as it is now"):
        read_answers(without_left.encode(), "s.csv", changed, keys)
    without_texts = b"pair,label\np1,yes\np2,no\np7,no\np9999,yes\n"
    assert read_answers(without_texts, "s.csv", changed, keys).tolist() == [1, 0, 0]


def test_an_edited_text_is_told_and_its_answer_counts_while_the_row_is_about_its_pair() -> None:
    task, keys = answering()
    sheet = filled(task, keys, "yes", "no", "no").replace(b",c,no", b",c (the same as a!),no").replace(b"'=a", b"a", 1)
    said: list[str] = []
    assert read_answers(sheet, "s.csv", task, keys, said.append).tolist() == [1, 0, 0]
    assert said == [
        "s.csv: texts were edited in line 3 (the right text of p2), line 4 (the right text of p7). The answers count for the pairs as the "
        "data has them; to change a text, change the data."
    ]
    read_answers(filled(task, keys, "yes", "no", "no"), "s.csv", task, keys, said.append)
    assert len(said) == 1


@pytest.mark.parametrize(
    ("yes", "no", "encoding"),
    [
        ("1.0", "0.0", "utf-8-sig"),
        ("ja", "nein", "cp1252"),
        ("WAHR", "FALSCH", "cp1252"),
        ("oui", "non", "cp1252"),
        ("x", "n", "utf-8"),
        ("match", "no match", "utf-16"),
        ("1", "0", "cp1252"),
        ("TRUE", "FALSE", "utf-8"),
    ],
)
def test_the_words_of_spreadsheets_and_people_are_understood_in_their_encodings(yes: str, no: str, encoding: str) -> None:
    task, keys = task_of(("Ä “b”", "ö", "ü")), np.array([1, 2, 5], np.int64)
    table = [*csv.reader(io.StringIO(answer_sheet(task, keys).decode("utf-8-sig")))]
    for row, word in zip(table[1:], (yes, no, ""), strict=True):
        row[4] = word
    saved = io.StringIO(newline="")
    csv.writer(saved, delimiter=";").writerows(table)
    found = answers_in(saved.getvalue().encode(encoding), "s.csv", task)
    assert found.answers == {1: 1, 2: 0}
    assert found.listed == {1, 2, 5}
    assert found.edited == ()
    with pytest.raises(WaitingError, match=r"^s\.csv: 1 of the 3 pairs have no answer yet"):
        read_answers(saved.getvalue().encode(encoding), "s.csv", task, keys)


def test_letters_that_an_old_encoding_lacks_do_not_count() -> None:
    task = task_of(("Zürich 两个", "b"))
    sheet = b"pair,left,right,label\np1,Z?rich  ??,b,yes\n"
    assert read_answers(sheet, "s.csv", task, np.array([1])).tolist() == [1]
    with pytest.raises(InputError, match=r"^s\.csv line 2 shows another left text for pair p1"):
        read_answers("pair,left,right,label\np1,Zürich 三个,b,yes\n".encode(), "s.csv", task, np.array([1]))


def test_known_answers_are_filled_in_on_the_sheet() -> None:
    task, keys = answering()
    sheet = answer_sheet(task, keys, {1: 0, 2: -1})
    with pytest.raises(WaitingError, match=r"^s\.csv: 1 of the 3 pairs have no answer yet"):
        read_answers(sheet, "s.csv", task, keys)
    assert read_answers(sheet, "s.csv", task, keys[:2]).tolist() == [0, -1]


@pytest.mark.parametrize(
    ("words", "kind", "wanted"),
    [
        (("yes", "", ""), WaitingError, "s.csv: 2 of the 3 pairs have no answer yet"),
        (("yes", "perhaps", "no"), InputError, "s.csv line 3: `perhaps` is no answer; write yes, no, or skip."),
    ],
)
def test_words_that_are_no_answer_are_named(words: tuple[str, ...], kind: type[Exception], wanted: str) -> None:
    task, keys = answering()
    with pytest.raises(kind, match=f"^{re.escape(wanted)}"):
        read_answers(filled(task, keys, *words), "s.csv", task, keys)


def test_contradictory_answers_are_named() -> None:
    task, keys = answering()
    twice = filled(task, keys, "yes", "no", "no") + b"\np1,,'=a,b,no,\n"
    with pytest.raises(InputError, match=r"^s\.csv line 5 answers pair p1 differently from line 2; correct one\.$"):
        read_answers(twice, "s.csv", task, keys)
    same = filled(task, keys, "yes", "no", "no") + b"\np1,,'=a,b,yes,\n"
    assert read_answers(same, "s.csv", task, keys).tolist() == [1, 0, 0]


def test_a_row_that_is_gone_is_an_open_question_and_a_sheet_of_other_pairs_is_refused() -> None:
    task, keys = answering()
    sheet = filled(task, keys, "yes", "no", "no")
    with pytest.raises(
        WaitingError, match=r"^s\.csv: 1 of the 2 pairs have no answer yet; .* 1 of them are no longer on it, such as p3; rename"
    ):
        read_answers(sheet, "s.csv", task, np.array([1, 3]))
    with pytest.raises(InputError, match=r"^s\.csv has none of the 1 pairs that this round asks about, such as p3"):
        read_answers(sheet, "s.csv", task, np.array([3]))


def test_all_words_that_are_no_answers_are_named_at_once() -> None:
    task, keys = answering()
    with pytest.raises(InputError, match=r"^s\.csv line 2: `maybe`, line 4: `=1` are no answers; write yes, no, or skip\.$"):
        read_answers(filled(task, keys, "maybe", "no", "=1"), "s.csv", task, keys)


def test_a_sheet_as_excel_saves_it_in_the_west_is_read() -> None:
    task, keys = answering()
    sheet = filled(task, keys, "Sí", "FALSCH", "1,0").decode("utf-8-sig").encode("cp1252")
    assert read_answers(sheet, "s.csv", task, keys).tolist() == [1, 0, 1]

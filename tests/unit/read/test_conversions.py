"""Winograd schemas as cloze rows and SQuAD questions as pairs, on lines made by hand and on the real files."""

from __future__ import annotations

import doctest
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cartograph.errors import InputError
from cartograph.read import squad
from cartograph.read.formats import read
from cartograph.read.source import Batch, Source

TEXT = "The cup does not fit in the case because it is too big."


def schema(noun: str, place: int, label: object, text: str = TEXT, pronoun: str = "it", at: int = 9) -> str:
    target = {"span1_text": noun, "span1_index": place, "span2_text": pronoun, "span2_index": at}
    return json.dumps({"text": text, "target": target, "label": label})


def wsc(folder: Path, *lines: str) -> Batch:
    path = folder / "wsc.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read(Source(str(path), path.name, format="wsc"))


def test_two_candidates_make_a_cloze_row(tmp_path: Path) -> None:
    batch = wsc(tmp_path, schema("the case", 6, False), schema("The cup", 0, True))
    assert batch.table.to_pylist() == [
        {
            "sentence": "The cup does not fit in the case because _ is too big.",
            "option1": "The cup",
            "option2": "the case",
            "answer": "1",
        }
    ]
    assert batch.rows.to_pylist() == [2]
    assert not batch.rejected


def test_punctuation_beside_the_pronoun_stays(tmp_path: Path) -> None:
    text = "Ann told Bea that she had seen her."
    batch = wsc(tmp_path, schema("Ann", 0, False, text, "her", 7), schema("Bea", 2, True, text, "her", 7))
    assert batch.table["sentence"].to_pylist() == ["Ann told Bea that she had seen _."]
    assert batch.table["answer"].to_pylist() == ["2"]


def test_rows_that_make_none_are_listed(tmp_path: Path) -> None:
    batch = wsc(
        tmp_path,
        schema("The cup", 0, True),
        schema("the case", 6, False),
        schema("the shelf", 8, False),
        schema("Ann", 0, True, "Ann saw that she won.", "she", 3),
        schema("Bea", 0, False, "Bea saw that she won.", "she", 3),
        schema("The cup", 0, True, at=40),
        schema("The cup", 0, None),
        '{"text": "no target"}',
        "not json",
        schema("Ann", 0, True, "Ann_B saw that she won.", "she", 3),
    )
    assert batch.table.num_rows == 1
    assert [(one.row, one.reason) for one in batch.rejected] == [
        (3, "a further candidate of a pronoun that has its two"),
        (4, "no second row with a candidate that is not meant"),
        (5, "no second row with a candidate that is meant"),
        (6, "the pronoun is not where its index says"),
        (7, "no label"),
        (8, "not a Winograd schema in SuperGLUE's format"),
        (9, "not a Winograd schema in SuperGLUE's format"),
        (10, "the text has a blank of its own"),
    ]


@pytest.mark.realdata
def test_the_real_winograd_schemas(real_data: Path) -> None:
    batch = read(Source(str(real_data / "wsc/train.jsonl"), "train.jsonl", format="wsc"))
    assert batch.table.num_rows == 227
    assert Counter(batch.table["answer"].to_pylist()) == {"1": 110, "2": 117}
    assert Counter(one.reason for one in batch.rejected) == {
        "no second row with a candidate that is meant": 50,
        "no second row with a candidate that is not meant": 31,
        "a further candidate of a pronoun that has its two": 19,
    }
    row = batch.table.to_pylist()[1]
    assert row == {
        "sentence": "I poured water from the bottle into the cup until _ was full.",
        "option1": "the bottle",
        "option2": "the cup",
        "answer": "2",
    }


CONTEXT = "Mr. Ash lived in Ulm. He died in 1900! Nobody (not even J. Elm) knew."


def squad_file(folder: Path, *questions: dict[str, Any]) -> Source:
    path = folder / "squad.json"
    path.write_text(json.dumps({"data": [{"title": "t", "paragraphs": [{"context": CONTEXT, "qas": list(questions)}]}]}))
    return Source(str(path), path.name, format="squad")


def test_a_sentence_with_an_answer_entails(tmp_path: Path) -> None:
    asked = {"id": "q1", "question": " Where did he live?", "answers": [{"text": "Ulm", "answer_start": 17}]}
    batch = read(squad_file(tmp_path, asked))
    assert batch.table.to_pylist() == [
        {"question": "Where did he live?", "sentence": sentence, "label": label, "id": "q1"}
        for sentence, label in (
            ("Mr. Ash lived in Ulm.", "entailment"),
            ("He died in 1900!", "not_entailment"),
            ("Nobody (not even J. Elm) knew.", "not_entailment"),
        )
    ]
    assert batch.rows.to_pylist() == [1, 1, 1]


def test_an_answer_is_never_cut_in_two(tmp_path: Path) -> None:
    asked = {"id": "q1", "question": "What?", "answers": [{"text": "Ulm. He", "answer_start": 17}]}
    batch = read(squad_file(tmp_path, asked))
    assert batch.table["sentence"].to_pylist() == ["Mr. Ash lived in Ulm. He died in 1900!", "Nobody (not even J. Elm) knew."]
    assert batch.table["label"].to_pylist() == ["entailment", "not_entailment"]


def test_questions_without_an_answer_are_listed(tmp_path: Path) -> None:
    sound = {"id": "q1", "question": "Where?", "answers": [{"text": "Ulm", "answer_start": 17}]}
    wrong = {"id": "q2", "question": "Where?", "answers": [{"text": "Bonn", "answer_start": 17}]}
    batch = read(squad_file(tmp_path, sound, wrong, {"id": "q3"}))
    assert batch.table.num_rows == 3
    assert [(one.row, one.reason, one.detail) for one in batch.rejected] == [
        (2, "no answer stands where the file says", "1 answers, none of them in the paragraph"),
        (3, "no answer stands where the file says", "KeyError: 'question'"),
    ]


def test_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"rows": []}')
    with pytest.raises(InputError, match=r"other.json is not in SQuAD's format \(data, paragraphs, context and qas\): KeyError"):
        read(Source(str(path), path.name, format="squad"))


def test_sentences() -> None:
    assert doctest.testmod(squad).failed == 0


@pytest.mark.realdata
def test_the_real_adversarial_squad(real_data: Path) -> None:
    batch = read(Source(str(real_data / "adversarial_squad/adversarial_dataset.json"), "adversarial", format="squad"))
    assert not batch.rejected
    rows = batch.table.to_pylist()
    assert len({row["id"] for row in rows}) == 3560
    entailed = {row["id"] for row in rows if row["label"] == "entailment"}
    assert len(entailed) == 3560, "every question has a sentence that answers it"
    attacked = [row for row in rows if row["id"] == "56be4db0acb8001400a502ee-high-conf-turk0"]
    assert attacked[-1]["sentence"] == "The Champ Bowl 40 took place in Chicago."
    assert attacked[-1]["label"] == "not_entailment"

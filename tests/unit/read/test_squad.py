"""SQuAD's questions as pairs, on a file made by hand and on a real one."""

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
from cartograph.read.source import Source

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
        (2, "no answer is where the file says", "1 answers, none of them in the paragraph"),
        (3, "no answer is where the file says", "KeyError: 'question'"),
    ]


def test_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"rows": []}')
    with pytest.raises(InputError, match=r"other.json is not in SQuAD's format \(data, paragraphs, context and qas\): KeyError"):
        read(Source(str(path), path.name, format="squad"))


def test_the_examples_of_sentences_run() -> None:
    assert doctest.testmod(squad).failed == 0


def test_of_adversarial_copies_answers_and_what_was_added_are_read(tmp_path: Path) -> None:
    ulm, died = ([{"text": text, "answer_start": CONTEXT.index(text)}] for text in ("Ulm", "1900"))
    added = CONTEXT.rstrip(".") + ". Mrs. Elm lived in Bonn. She sang."
    one = {"id": "q1", "question": "Where did he live?", "answers": ulm}
    other = {"id": "q2", "question": "When did he die?", "answers": died}
    unlike = {"id": "q2-b", "question": "When did he die?", "answers": died}
    paragraphs = [
        {"context": CONTEXT, "qas": [one, other, unlike]},
        {"context": added, "qas": [{**one, "id": "q1-a"}, {**one, "id": "q3-a"}]},
    ]
    path = tmp_path / "adversarial.json"
    path.write_text(json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}]}))
    batch = read(Source(str(path), path.name, format="squad"))
    found = [(row["sentence"], row["label"], row["id"]) for row in batch.table.to_pylist()]
    assert found == [
        ("Mr. Ash lived in Ulm.", "entailment", "q1-a"),
        ("Mrs. Elm lived in Bonn.", "not_entailment", "q1-a"),
        ("She sang.", "not_entailment", "q1-a"),
    ], "q1 is copied, q2 has no copy that is longer, and q3 is not in the file"
    assert batch.rows.to_pylist() == [4, 4, 4]
    assert not batch.rejected


@pytest.mark.realdata
def test_the_real_adversarial_squad(real_data: Path) -> None:
    batch = read(Source(str(real_data / "adversarial_squad/adversarial_dataset.json"), "adversarial", format="squad"))
    assert not batch.rejected
    rows = batch.table.to_pylist()
    assert Counter(row["label"] for row in rows) == {"entailment": 2760, "not_entailment": 2564}, "5,324, as the paper's Table 5 has it"
    assert len({row["id"] for row in rows}) == 2560
    entailed = {row["id"] for row in rows if row["label"] == "entailment"}
    assert len(entailed) == 2560, "every question has a sentence that answers it"
    attacked = [row for row in rows if row["id"] == "56be4db0acb8001400a502ee-high-conf-turk0"]
    assert attacked[-1]["sentence"] == "The Champ Bowl 40 took place in Chicago."
    assert attacked[-1]["label"] == "not_entailment"

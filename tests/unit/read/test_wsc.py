"""Winograd schemas as cloze rows, on lines made by hand and on the real file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

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


def test_candidates_without_a_partner_are_listed(tmp_path: Path) -> None:
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

"""Pairs as Label Studio tasks, and what comes back in its exports."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.pairs.label_studio import CONFIGURATION, answers_of_export, tasks
from cartograph.pairs.task import Task

TEXTS = ("a <b>", "$b", "c\n", "d")
KEYS = np.array([1, 6, 11], np.int64)
NOTHING = np.empty(0, np.int64)
TASK = Task(TEXTS, TEXTS, np.zeros(4, np.int8), True, True, NOTHING, NOTHING, np.empty(0, np.int8))


def annotation(who: Any, word: str, *, cancelled: bool = False) -> dict[str, Any]:
    result = [{"from_name": "label", "to_name": "left", "type": "choices", "value": {"choices": [word]}}]
    return {"completed_by": who, "was_cancelled": cancelled, "result": result if word else []}


def exported(*annotations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    given = tasks(TASK, KEYS, {})
    return [{"id": 7 + place, **one, "annotations": own} for place, (one, own) in enumerate(zip(given, annotations, strict=True))]


def read(export: object, by: str = "") -> dict[str, dict[int, int]]:
    return answers_of_export(json.dumps(export).encode(), "e.json", TASK, KEYS, by)


def test_every_control_of_the_configuration_reads_what_a_task_has() -> None:
    tree = ElementTree.fromstring(CONFIGURATION)
    given = tasks(TASK, KEYS, {6: "asked again"})
    assert [one["data"]["about"] for one in given] == ["Do both mean the same?", "asked again", "Do both mean the same?"]
    assert [(one["data"]["left"], one["data"]["right"]) for one in given] == [("a <b>", "$b"), ("$b", "c\n"), ("c\n", "d")]
    for element in tree.iter():
        for name in (element.get("value") or "").split():
            assert not name.startswith("$") or name[1:] in given[0]["data"]


def test_the_answers_of_each_annotator_come_back() -> None:
    ann, bob = {"email": "ann@x.org"}, 3
    export = exported(
        [annotation(ann, "yes"), annotation(bob, "no")], [annotation(ann, "skip"), annotation(bob, "yes", cancelled=True)], []
    )
    assert read(export) == {"ann@x.org": {1: 1, 6: -1}, "Label Studio user 3": {1: 0}}
    assert read(exported([annotation(bob, "yes")], [annotation(bob, "")], []), by="Eve") == {"Eve": {1: 1}}
    short = [{**one["data"], "label": word, "annotator": 1} for one, word in zip(tasks(TASK, KEYS, {}), ("yes", "no", ""), strict=True)]
    assert read(short) == {"Label Studio user 1": {1: 1, 6: 0}}


@pytest.mark.parametrize(
    ("export", "message"),
    [
        ([{"data": {"pair": "p3"}, "annotations": []}], r"^e\.json task 1 is about pair 'p3', which this round does not ask about"),
        (
            [{"data": {"pair": "p1", "check": "abcdef"}, "annotations": []}],
            r"^e\.json task 1 is about pair 'p1', which .* or about other texts",
        ),
        (
            exported([annotation(1, "perhaps")], [annotation(1, "yes")], [annotation(1, "nope")]),
            r"^e\.json task 1: `perhaps`, task 3: `nope` cannot be read as answers; expected yes, no, or skip\.$",
        ),
        (
            exported([annotation(1, "yes"), annotation(1, "no")], [], []),
            r"^e\.json task 1: Label Studio user 1 answers pair p1 in two ways; delete one annotation\.$",
        ),
    ],
)
def test_what_does_not_fit_is_named(export: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(export)

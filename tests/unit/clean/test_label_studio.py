"""Label Studio's exports: what comes back from them."""

from __future__ import annotations

import json

import pytest

from cartograph.clean.decisions import Decision, check
from cartograph.clean.label_studio import entries_of_export
from cartograph.errors import InputError

GIVEN = {"d": "bad", "a": "good", "-1": "bad", "b": "odd"}

LABELS = ("bad", "good", "odd")


def annotation(who: object, *answers: tuple[str, str, dict[str, list[str]]], cancelled: bool = False) -> dict[str, object]:
    results = [{"from_name": name, "to_name": "text_1", "type": kind, "value": value} for name, kind, value in answers]
    return {"id": 1, "completed_by": who, "was_cancelled": cancelled, "result": results}


def test_a_label_studio_export_is_read_back() -> None:
    relabel = [("decision", "choices", {"choices": ["relabel"]}), ("new_label", "choices", {"choices": ["odd"]})]
    export = [
        {
            "id": 7,
            "data": {"uid": "-1"},
            "annotations": [annotation({"email": "ann@x.org"}, *relabel, ("comment", "textarea", {"text": ["ok"]}))],
        },
        {"id": 8, "data": {"uid": "a"}, "annotations": [annotation(3, ("decision", "choices", {"choices": ["drop"]}))]},
        {"id": 9, "data": {"uid": "b"}, "annotations": [annotation(3, ("decision", "choices", {"choices": ["drop"]}), cancelled=True)]},
        {"id": 9, "data": {"uid": "b"}, "annotations": []},
    ]
    entries = entries_of_export(json.dumps(export).encode(), "e.json", LABELS)
    assert check(entries, "e.json", GIVEN, LABELS) == [
        Decision("-1", "relabel", "odd", "ann@x.org", "ok"),
        Decision("a", "drop", None, "Label Studio user 3"),
    ]
    assert {entry.by for entry in entries_of_export(json.dumps(export).encode(), "e.json", LABELS, by="Eve")} == {"Eve"}
    short = [{"uid": "a", "decision": "drop", "comment": "x", "annotator": 1, "id": 2}]
    assert check(entries_of_export(json.dumps(short).encode(), "e.json", LABELS), "e.json", GIVEN, LABELS) == [
        Decision("a", "drop", None, "Label Studio user 1", "x")
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[{", r"e\.json is not JSON that can be read \(.*\); export from Label Studio as JSON\."),
        (b"[1]", r"e\.json is not a Label Studio export: it should hold a list of tasks"),
        (
            b'[{"data": {"text": "x"}, "annotations": []}]',
            r"e\.json task 1 has no `uid` among its data; import reports/review",
        ),
        (b'[{"data": 3}]', r"e\.json task 1 has no `uid`"),
    ],
)
def test_what_is_no_such_export_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        entries_of_export(content, "e.json", LABELS)


def test_an_answer_that_does_not_fit_is_named_by_its_task() -> None:
    export = [{"uid": "a", "decision": "relabel"}, {"uid": "b", "decision": ["keep"]}]
    with pytest.raises(InputError, match=r"^e\.json task 1 \(uid 'a'\): `decision` is relabel, but `new_label` is empty"):
        check(entries_of_export(json.dumps(export).encode(), "e.json", LABELS), "e.json", GIVEN, LABELS)

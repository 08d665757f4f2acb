from __future__ import annotations

import pyarrow as pa

from cartograph.schema import CHANGES
from tasks.checks.cleaned_set import validate_cleaning
from tests.cleaning import make_examples


def test_the_checks_find_what_cleaning_must_not_do() -> None:
    original = make_examples([(f"u{number}", f"text {number}", number % 3) for number in range(30)])
    rows = original.to_pylist()
    rows[1] |= {"label": 0}
    rows[2] |= {"label": 0}
    rows[5] |= {"uid": "new"}
    cleaned = pa.Table.from_pylist([*rows[:20], *rows[22:], rows[0]], original.schema)
    reasons = [{"uid": "u20", "what": "drop", "to": None}, {"uid": "u1", "what": "relabel", "to": "bad"}]
    reasons += [{"uid": "u3", "what": "drop", "to": None}, {"uid": "u4", "what": "relabel", "to": "bad"}]
    changes = pa.Table.from_pylist([row | {"from": "bad", "why": "w", "by": "recipe relabel"} for row in reasons], CHANGES)
    found = validate_cleaning(original, cleaned, changes, files=["t.csv"], bound=0.15)
    assert not found["passed"]
    checks = {check["check"]: (check["passed"], sorted(check["examples"])) for check in found["sets"][0]["checks"]}
    assert checks == {
        "no row was invented": (False, ["new"]),
        "no row is there twice": (False, ["u0", "u0"]),
        "every row that was dropped has a reason": (False, ["u21", "u5"]),
        "every label that was changed has a reason": (False, ["u2"]),
        "every change that has a reason was made": (False, ["u3", "u4"]),
        "labels are known": (True, []),
        "no class shrinks or grows too far": (False, ["bad", "odd"]),
    }
    sound = validate_cleaning(original, original, CHANGES.empty_table(), files=["t.csv"], bound=0)
    assert sound["passed"]
    assert sound["sets"][0]["checks"][-1]["found"] == "no class changed"


def test_what_people_change_may_shrink_a_class_as_far_as_it_takes() -> None:
    original = make_examples([(f"u{number:02}", f"text {number}", number % 3) for number in range(30)])
    gone = [f"u{number:02}" for number in range(0, 24, 3)]
    cleaned = pa.Table.from_pylist([row for row in original.to_pylist() if row["uid"] not in gone], original.schema)

    def last(people: int) -> tuple[bool, str]:
        by = ["Ann" if place < people else "recipe drop-flagged" for place in range(len(gone))]
        rows = [{"uid": uid, "what": "drop", "from": "bad", "to": None, "why": "w", "by": who} for uid, who in zip(gone, by, strict=True)]
        found = validate_cleaning(original, cleaned, pa.Table.from_pylist(rows, CHANGES), files=["t.csv"], bound=0.5)
        check = found["sets"][0]["checks"][-1]
        return check["passed"], check["found"]

    assert last(8) == (True, "no class changed")
    assert last(6) == (True, "`bad` lost 50\u00a0%")
    assert last(5) == (False, "`bad` lost 60\u00a0%")
    assert last(0) == (False, "`bad` lost 80\u00a0%")


def test_people_may_change_every_row() -> None:
    original = make_examples([(f"u{number}", f"text {number}", number % 2) for number in range(6)])
    cleaned = pa.Table.from_pylist([row | {"label": 1 - row["label"]} for row in original.to_pylist()], original.schema)
    rows = [
        {"uid": f"u{number}", "what": "relabel", "from": "bad", "to": "good", "why": "w", "by": "Ann"}
        for number in range(original.num_rows)
    ]
    found = validate_cleaning(original, cleaned, pa.Table.from_pylist(rows, CHANGES), files=["t.csv"], bound=0.5)
    assert found["passed"] and found["sets"][0]["checks"][-1]["found"] == "no class changed"

"""Decisions hold for rows as they were."""

from __future__ import annotations

import pyarrow as pa

from cartograph.clean.decisions import Decision, read_decisions, write_decisions
from cartograph.clean.stale_decisions import is_current, passed_over, row_checks
from cartograph.schema import DatasetInfo, examples_schema

LABELS = ("no", "yes", "true")


def examples(**changed: tuple[str, int]) -> pa.Table:
    """Rows a and b, with another text and label where that is said."""
    info = DatasetInfo("train", "train", "single", ("text",), (), LABELS)
    rows = {"a": ("good film", 0), "b": ("bad film", 1)} | changed
    texts, ids = zip(*rows.values(), strict=True)
    return pa.table([[*rows], [*texts], pa.array(ids, pa.int32()), ["s"] * len(rows), [1] * len(rows)], schema=examples_schema(info))


def test_a_decision_is_about_a_row_as_it_was() -> None:
    before = row_checks(examples())
    content = write_decisions([Decision("a", "drop", None, "Ann"), Decision("b", "keep", None, "Ann")], before)
    given = {"a": LABELS[0], "b": LABELS[1]}
    found = read_decisions(content, "d.csv", given, LABELS)
    assert [is_current(one, before) for one in found] == [True, True]
    for other in (examples(a=("another film", 0)), examples(a=("good film", 1))):
        now = row_checks(other)
        assert [is_current(one, now) for one in found] == [False, True]
        kept = read_decisions(write_decisions(found, now), "d.csv", given, LABELS)
        assert [one.check for one in kept] == [before["a"], before["b"]], "not renewed by writing them again"
    assert not is_current(found[0], {"b": "x"}) and is_current(Decision("a", "drop", None, "Ann"), before)


def test_what_is_passed_over_is_said_but_for_what_was_put_right_at_the_source() -> None:
    before, now = row_checks(examples()), examples(a=("another film", 0), b=("bad film", 2))
    decisions = [
        Decision("a", "keep", None, "Ann", check=before["a"]),
        Decision("b", "relabel", "true", "Ann", check=before["b"]),
        Decision("gone", "drop", None, "Ann", check="0" * 16),
    ]
    gone, other = passed_over(decisions, {"a": "no", "b": "true"}, row_checks(now))
    assert gone.startswith("1 of 3 decisions is passed over, since the rows are no longer in the train set") and "(the first: gone)" in gone
    assert other.startswith("1 of 3 decisions is passed over, since the rows say or are labelled something else") and "first: a)" in other
    assert passed_over(decisions[:2], {"a": "no", "b": "yes"}, before) == []

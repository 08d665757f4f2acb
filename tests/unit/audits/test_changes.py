from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.audits.changes import audit_changes, match_rows
from cartograph.audits.record import Record
from cartograph.schema import RECORD, ROW_CHANGES
from tests.audit_records import AMBIGUOUS, BEFORE, EASY, HARD, NOW


def changed(what: str) -> list[tuple[str, str | None, str | None]]:
    rows = audit_changes(BEFORE, NOW, np.random.default_rng(1)).rows.to_pylist()
    return [(row["uid"], row["from"], row["to"]) for row in rows if row["what"] == what]


def test_every_kind_of_change_is_named() -> None:
    assert changed("added") == [("f", None, "dog")]
    assert changed("removed") == [("e", "dog", None)]
    assert changed("edited") == [("b", None, None)]
    assert changed("relabelled") == [("z", "dog", "cat")], "its uid is made from its content, and is another since its label is"
    assert changed("new suspect") == [("a", None, None), ("f", None, None)]
    assert changed("no longer suspect") == [("z", None, None)]
    assert changed("moved") == [("b", EASY, AMBIGUOUS)]


def test_the_counts_add_up() -> None:
    changes = audit_changes(BEFORE, NOW, np.random.default_rng(1))
    assert changes.rows.schema.equals(ROW_CHANGES)
    assert changes.counts == {
        "rows.before": 5,
        "rows.now": 5,
        "rows.added": 1,
        "rows.removed": 1,
        "rows.edited": 1,
        "rows.relabelled": 1,
        "rows.moved": 1,
        "suspects.new": 2,
        "suspects.new.among_added": 1,
        "suspects.gone": 1,
        "suspects.removed": 1,
        "suspects.still": 1,
    }
    assert changes.classes == {"cat": (0.4, 0.6), "dog": (0.6, 0.4)}
    assert changes.class_shift == pytest.approx(0.2)
    assert changes.regions[EASY][AMBIGUOUS] == 1 and changes.regions[HARD][HARD] == 1


def test_large_maps_are_sampled_alike() -> None:
    rng = np.random.default_rng(6)
    size = 4000
    columns = {name: [str(row) for row in range(size)] for name in ("uid", "content")}
    columns |= {"label": ["cat"] * size, "region": [EASY] * size, "suspect": [False] * size}
    columns |= {"confidence": rng.random(size), "variability": rng.random(size) / 2, "probability": [0.1] * size, "suggested": ["x"] * size}
    rows = pa.table({name: columns[name] for name in RECORD.names}, schema=RECORD)
    same = audit_changes(Record(rows, {}), Record(rows, {}), rng).map
    assert (same.distance, same.p) == (pytest.approx(0, abs=1e-6), 1)
    grown = audit_changes(Record(rows.slice(5), {}), Record(rows, {}), rng).map
    assert grown.distance < 0.005


def test_equal_texts_are_matched_as_often_as_both_have_them() -> None:
    old = pa.table({"uid": ["p", "q"], "content": ["same", "same"]})
    new = pa.table({"uid": ["r", "s", "t"], "content": ["same", "same", "same"]})
    matched = match_rows(old, new)
    assert (matched.old.tolist(), matched.new.tolist()) == ([0, 1], [0, 1])
    assert (matched.removed.tolist(), matched.added.tolist()) == ([], [2])


TABLES = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=12, unique_by=lambda row: row[0])


@settings(max_examples=60, deadline=None)
@given(TABLES, TABLES)
def test_every_row_is_matched_once_or_added_or_removed(old: list[tuple[int, int]], new: list[tuple[int, int]]) -> None:
    left, right = (
        pa.table(
            {"uid": pa.array([str(uid) for uid, _ in rows], pa.string()), "content": pa.array([str(text) for _, text in rows], pa.string())}
        )
        for rows in (old, new)
    )
    matched = match_rows(left, right)
    assert sorted([*matched.old.tolist(), *matched.removed.tolist()]) == list(range(len(old)))
    assert sorted([*matched.new.tolist(), *matched.added.tolist()]) == list(range(len(new)))
    for one, other in zip(matched.old, matched.new, strict=True):
        assert old[one][0] == new[other][0] or old[one][1] == new[other][1]
    uids = {uid for uid, _ in old} & {uid for uid, _ in new}
    assert {old[one][0] for one, other in zip(matched.old, matched.new, strict=True) if old[one][0] == new[other][0]} == uids
    left_over = {old[one][1] for one in matched.removed} & {new[other][1] for other in matched.added}
    assert not left_over, "two rows of the same text stayed without a partner"

"""What changed from one audit to another: rows, labels, suspects, regions, classes, columns of features, and the map as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from cartograph.audits.columns import ColumnDrift, column_drift
from cartograph.audits.record import Record
from cartograph.data.arrays import Array, Bools, Integers
from cartograph.maps.distance import MOST_POINTS, MapDistance, map_distance
from cartograph.schema import REGIONS, ROW_CHANGES, UID


@dataclass(frozen=True)
class RowMatch:
    """Which row of one table is which of another: places in the old and in the new one, pairwise, and those without a partner."""

    old: Integers
    new: Integers
    removed: Integers
    added: Integers


def match_rows(old: pa.Table, new: pa.Table) -> RowMatch:
    """Find the rows of ``old`` in ``new``: by uid; those left over by what their texts say, equal texts in the order of their uids.

    A uid that is made from the content changes with the label and with the text. So a row that was given another label is found by
    its texts, while one whose text was edited counts as removed and added, unless a column identifies the rows.

    Args:
        old: ``schema.RECORD``.
        new: ``schema.RECORD``.

    >>> import pyarrow as pa
    >>> old, new = pa.table({"uid": ["a", "b"], "content": ["1", "2"]}), pa.table({"uid": ["b", "c"], "content": ["9", "1"]})
    >>> found = match_rows(old, new)
    >>> found.old.tolist(), found.new.tolist()
    ([1, 0], [0, 1])
    """
    left, right = (
        pd.DataFrame({"uid": table[UID].to_pylist(), "content": table["content"].to_pylist(), "place": range(table.num_rows)})
        for table in (old, new)
    )
    by_uid = left.merge(right, on="uid", suffixes=("_old", "_new"))
    left = left[~left["place"].isin(by_uid["place_old"])].sort_values("uid", kind="stable")
    right = right[~right["place"].isin(by_uid["place_new"])].sort_values("uid", kind="stable")
    for frame in (left, right):
        frame["occurrence"] = frame.groupby("content").cumcount()
    by_text = left.merge(right, on=["content", "occurrence"], suffixes=("_old", "_new"))
    found = pd.concat([by_uid[["place_old", "place_new"]], by_text[["place_old", "place_new"]]])
    places_old, places_new = (found[name].to_numpy(dtype=np.int64) for name in ("place_old", "place_new"))
    removed = np.setdiff1d(np.arange(old.num_rows), places_old)
    added = np.setdiff1d(np.arange(new.num_rows), places_new)
    return RowMatch(places_old, places_new, removed, added)


@dataclass(frozen=True)
class AuditChanges:
    """What changed.

    Attributes:
        rows: ``schema.ROW_CHANGES``: a row per change; of a row without a partner under its own uid, of others the new one's.
        counts: name -> number of rows, by the names of ``numbers``.
        regions: region before -> region now -> number of rows that both audits have.
        classes: class -> (share before, share now).
        map: distance of the two maps.
        columns: of two tables of features every column, those that drifted first.
    """

    rows: pa.Table
    counts: Mapping[str, int]
    regions: Mapping[str, Mapping[str, int]]
    classes: Mapping[str, tuple[float, float]]
    map: MapDistance
    columns: tuple[ColumnDrift, ...] = ()

    @property
    def class_shift(self) -> float:
        """Total variation distance of the class shares, in [0, 1]: the share of the rows that went from one class to another."""
        return 0.5 * sum(abs(now - before) for before, now in self.classes.values())

    def numbers(self) -> dict[str, float]:
        """Return the counts, the class shift, the distance of the maps and that of the columns, by name."""
        numbers = {**self.counts, "class_shift": self.class_shift, "map.distance": self.map.distance, "map.p": self.map.p}
        if self.columns:
            numbers["columns.drifted"] = sum(bool(column.why) for column in self.columns)
            numbers["columns.distance"] = max(column.distance or 0.0 for column in self.columns)
        return numbers


def audit_changes(before: Record, now: Record, rng: np.random.Generator) -> AuditChanges:
    """Compare two audits of what is meant to be the same data.

    Args:
        before: the earlier one.
        now: the later one.
        rng: of the test of the maps.
    """
    old, new = before.rows, now.rows
    matched = match_rows(old, new)
    kept_old, kept_new = old.take(matched.old), new.take(matched.new)
    edited = _differs(kept_old, kept_new, "content")
    relabelled = _differs(kept_old, kept_new, "label")
    moved = _differs(kept_old, kept_new, "region")
    was, is_now = (_array(table, "suspect") for table in (kept_old, kept_new))
    added, removed = new.take(matched.added), old.take(matched.removed)
    parts = [
        _changes("added", added, None, added["label"]),
        _changes("removed", removed, removed["label"], None),
        _changes("edited", kept_new.filter(pa.array(edited)), None, None),
        _pairs("relabelled", kept_old, kept_new, relabelled, "label"),
        _changes("new suspect", added.filter(added["suspect"]), None, None),
        _changes("new suspect", kept_new.filter(pa.array(is_now & ~was)), None, None),
        _changes("no longer suspect", kept_new.filter(pa.array(was & ~is_now)), None, None),
        _pairs("moved", kept_old, kept_new, moved, "region"),
    ]
    added_suspects, removed_suspects = (int(np.count_nonzero(_array(table, "suspect"))) for table in (added, removed))
    counts = {
        "rows.before": old.num_rows,
        "rows.now": new.num_rows,
        "rows.added": added.num_rows,
        "rows.removed": removed.num_rows,
        "rows.edited": int(edited.sum()),
        "rows.relabelled": int(relabelled.sum()),
        "rows.moved": int(moved.sum()),
        "suspects.new": int((is_now & ~was).sum()) + added_suspects,
        "suspects.new.among_added": added_suspects,
        "suspects.gone": int((was & ~is_now).sum()),
        "suspects.removed": removed_suspects,
        "suspects.still": int((was & is_now).sum()),
    }
    columns = column_drift(before.columns, now.columns)
    changes = pa.concat_tables(parts).sort_by([("what", "ascending"), (UID, "ascending")])
    return AuditChanges(changes, counts, _crossed(kept_old, kept_new), _class_shares(old, new), _distance(old, new, rng), columns)


def _array(table: pa.Table, name: str) -> Array:
    values: Array = table[name].to_numpy()
    return values


def _differs(old: pa.Table, new: pa.Table, name: str) -> Bools:
    differing: Bools = np.asarray(_array(old, name) != _array(new, name), dtype=bool)
    return differing


def _changes(what: str, rows: pa.Table, before: pa.ChunkedArray | None, now: pa.ChunkedArray | None) -> pa.Table:
    empty = pa.nulls(rows.num_rows, pa.string())
    columns = {UID: rows[UID], "what": pa.repeat(what, rows.num_rows), "from": before, "to": now}
    return pa.table({name: empty if column is None else column for name, column in columns.items()}, schema=ROW_CHANGES)


def _pairs(what: str, old: pa.Table, new: pa.Table, differing: Bools, name: str) -> pa.Table:
    mask = pa.array(differing)
    return _changes(what, new.filter(mask), old[name].filter(mask), new[name].filter(mask))


def _crossed(old: pa.Table, new: pa.Table) -> dict[str, dict[str, int]]:
    pairs = pd.Series(list(zip(old["region"].to_pylist(), new["region"].to_pylist(), strict=True))).value_counts()
    return {before: {now: int(pairs.get((before, now), 0)) for now in REGIONS} for before in REGIONS}


def _class_shares(old: pa.Table, new: pa.Table) -> dict[str, tuple[float, float]]:
    counts = [pd.Series(table["label"].to_pylist()).value_counts(normalize=True) for table in (old, new)]
    names = sorted(set(counts[0].index) | set(counts[1].index))
    return {name: (float(counts[0].get(name, 0.0)), float(counts[1].get(name, 0.0))) for name in names}


def _distance(old: pa.Table, new: pa.Table, rng: np.random.Generator) -> MapDistance:
    sampled = [table.take(pa.array(_sampled(table[UID].to_pylist()), pa.int64())) for table in (old, new)]
    one, other = (np.stack([_array(table, name) for name in ("variability", "confidence")], axis=1) for table in sampled)
    return map_distance(one, other, rng)


def _sampled(uids: Sequence[str]) -> Sequence[int]:
    """Return at most ``MOST_POINTS`` places, by a hash of the uid: of rows that both audits have, both samples have the same."""
    if len(uids) <= MOST_POINTS:
        return range(len(uids))
    return sorted(range(len(uids)), key=lambda place: hashlib.blake2b(uids[place].encode(), digest_size=8).digest())[:MOST_POINTS]

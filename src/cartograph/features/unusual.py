"""Which columns of a row of a table are unusual for its label: how few rows of that label lie as far out, or have that category."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Floats
from cartograph.schema import LABEL, Feature, dataset_info, values_of
from cartograph.wording import counted, cut, share

FAR = 0.05
"""Share of a label's rows; a number that fewer lie beyond, or a category as rare as those of fewer together, is unusual."""

_LONGEST, _LONGEST_TEXT = 60, 500


def rarity(table: pa.Table) -> Floats:
    """Return of each value the share of rows of the same label that are as far out, (n_rows, n_features); lower = more unusual.

    Of a number or date: twice the share beyond it, on its side of the median; equal shares are ordered by the distance. Of a category:
    the share that has it, or another that is no more frequent, so that none of a thousand cities is unusual where each is rare; missing is
    a category too. Of a missing number or date: the share that misses it too. Of a text 1: none is usual.

    Args:
        table: a set (``schema.examples_schema``) of a table of features.
    """
    info = dataset_info(table.schema)
    labels = table[LABEL].to_numpy()
    found = np.ones((len(table), len(info.features)))
    for place, feature in enumerate(info.features):
        if feature.kind == "text":
            continue
        column = values_of(table, feature.name)
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            found[rows, place] = _shares(column.take(pa.array(rows)), feature)
    return found


def _shares(column: pa.ChunkedArray, feature: Feature) -> Floats:
    """Return the shares of one label's rows."""
    if feature.kind == "category":
        codes = np.unique(np.array(["" if value is None else f"={value}" for value in column.to_pylist()]), return_inverse=True)[1]
        counts = np.bincount(codes)
        ordered = np.sort(counts)
        as_rare: Floats = ordered.cumsum()[np.searchsorted(ordered, counts, side="right") - 1] / len(codes)
        return as_rare[codes]
    values = pc.cast(pc.cast(column, pa.int64()) if feature.kind == "date" else column, pa.float64()).to_numpy(zero_copy_only=False)
    known = np.sort(values[~np.isnan(values)])
    missing = 1.0 - len(known) / max(len(values), 1)
    if not len(known):
        return np.full(len(values), missing)
    below, above = np.searchsorted(known, values, side="right"), len(known) - np.searchsorted(known, values, side="left")
    middle = known[len(known) // 2]
    width = float(np.subtract(*np.quantile(known, [0.9, 0.1]))) or 1.0
    beyond = np.minimum(1.0, 2.0 * np.minimum(below, above) / len(known)) / (1.0 + 1e-3 * np.abs(values - middle) / width)
    shares: Floats = np.where(np.isnan(values), missing, beyond)
    return shares


def shown_values(table: pa.Table) -> list[list[str]]:
    """Return each feature's values as people read them, ``(n_features, n_rows)``; empty where missing.

    Args:
        table: as above.
    """
    return [_shown(values_of(table, feature.name), feature) for feature in dataset_info(table.schema).features]


def usual_values(table: pa.Table) -> list[list[str]]:
    """Return what is usual of each feature under each label, ``(n_features, n_labels)``: the middle number, the most frequent category.

    Args:
        table: as above.
    """
    info = dataset_info(table.schema)
    labels = table[LABEL].to_numpy()
    parts = [table.filter(pa.array(labels == label)) for label in range(len(info.labels))]
    return [[_usual(values_of(part, feature.name), feature) for part in parts] for feature in info.features]


def held_values(table: pa.Table) -> list[str]:
    """Return what each feature holds, ``n_features`` texts: its range or number of categories, and the missing share.

    Args:
        table: as above.
    """
    return [_held(values_of(table, feature.name), feature) for feature in dataset_info(table.schema).features]


def _held(column: pa.ChunkedArray, feature: Feature) -> str:
    known = pc.drop_null(column)
    missing = f"{share(column.null_count, len(column))} missing" if column.null_count else ""
    if not len(known):
        return missing
    if feature.kind == "text":
        return missing or "none missing"
    if feature.kind == "category":
        held = counted(pc.count_distinct(known).as_py(), "value")
    else:
        ends = pc.min_max(known)
        low, high = _shown(pa.chunked_array([pa.array([ends["min"].as_py(), ends["max"].as_py()], known.type)]), feature)
        held = low if low == high else f"{low} to {high}"
    return f"{held}; {missing}" if missing else held


def _usual(column: pa.ChunkedArray, feature: Feature) -> str:
    known = pc.drop_null(column)
    if not len(known) or feature.kind == "text":
        return ""
    if feature.kind == "category":
        counts = sorted(known.value_counts().to_pylist(), key=lambda entry: (-entry["counts"], entry["values"]))
        return cut(counts[0]["values"], _LONGEST)
    middle = pc.sort_indices(known)[len(known) // 2].as_py()
    return _shown(known.slice(middle, 1), feature)[0]


def _shown(column: pa.ChunkedArray, feature: Feature) -> list[str]:
    if feature.kind in ("category", "text"):
        longest = _LONGEST if feature.kind == "category" else _LONGEST_TEXT
        return [cut(value or "", longest) for value in column.to_pylist()]
    if feature.kind == "date":
        return ["" if value is None else f"{value:%Y-%m-%d %H:%M}".removesuffix(" 00:00") for value in column.to_pylist()]
    return ["" if value is None else f"{value:.6g}" for value in column.to_pylist()]

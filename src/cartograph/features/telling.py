"""Columns of a table that tell the label of every row by themselves: likely made from it, so that wrong labels are in them too."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Integers
from cartograph.schema import LABEL, VALUES, dataset_info
from cartograph.wording import cut, listing

EXCEPT = 1000
"""One row in so many may have another label than its column tells, and one in any case."""

_FEWEST, _LONGEST, _MOST = 50, 60, 3


def telling_columns(table: pa.Table) -> list[str]:
    """Return the features each of which alone tells the label of all rows but a few; none of texts or of fewer than 50 rows.

    A category tells it where all rows with a value have one label; a number or date where its values in their order go through at most
    twice as many labels as there are classes, such as on either side of a threshold. A value that one row alone has tells nothing of it.

    Cost: O(n_rows · log n_rows) a feature.

    Args:
        table: a set (``schema.examples_schema``).
    """
    info, labels = dataset_info(table.schema), table[LABEL].to_numpy()
    if not info.features or len(labels) < _FEWEST or len(np.unique(labels)) < 2:
        return []
    allowed = 1 + len(labels) // EXCEPT
    found = []
    for feature in info.features:
        column = pc.struct_field(table[VALUES], feature.name)
        values = pc.rank(column, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64) - 1
        by_value = _counts(values, labels)
        if len(by_value) < 2 or len(labels) - by_value.max(axis=1).sum() > allowed:
            continue
        alone = int((by_value.sum(axis=1) == 1).sum())
        changes = int(np.count_nonzero(np.diff(by_value.argmax(axis=1))))
        few_parts = feature.kind != "category" and changes < 2 * len(info.labels)
        if alone <= allowed or few_parts:
            found.append(feature.name)
    return found


def telling_sentence(names: list[str]) -> str:
    """Return what columns that tell the label mean for an audit; empty where there are none.

    >>> telling_sentence(["grade"]).partition(": ")[0]
    '`grade` alone predicts the label of (nearly) every row'
    """
    if not names:
        return ""
    shown = listing([f"`{cut(name, _LONGEST)}`" for name in names[:_MOST]])
    more = f" (and {len(names) - _MOST:,} more)" if len(names) > _MOST else ""
    one = len(names) == 1
    predicts = "predicts" if one else "each predict"
    made = f"{'it' if one else 'one'} was made from the label, or numbers rows sorted by it"
    return f"{shown}{more} alone {predicts} the label of (nearly) every row: if {made}, wrong labels cannot be found; leave it out."


def _counts(values: Integers, labels: Integers) -> Integers:
    """Return how many rows of each value have each label, ``(n_values, n_classes)``."""
    classes = int(labels.max()) + 1
    sizes = (int(values.max()) + 1, classes)
    counts: Integers = np.bincount(values * classes + labels, minlength=sizes[0] * sizes[1]).reshape(sizes)
    return counts

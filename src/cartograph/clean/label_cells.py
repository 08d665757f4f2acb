"""The cells of rows that have several labels once some of these are turned into the opposite, spelled as the data spell them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cartograph.data.arrays import Bools
from cartograph.ingest.label_sets import LabelSets, names_of


def corrected_cells(sets: LabelSets, cells: Mapping[str, Sequence[Any]], rows: Sequence[int], turned: Bools) -> dict[str, list[Any]]:
    """Return the new cells of each label column in which a label is turned; a label that is added stands last.

    Args:
        sets: which labels all rows have.
        cells: of some rows, by label column: in the order of ``sets.names`` where each column is a label.
        rows: the places of these rows in ``sets``.
        turned: which of their labels become the opposite, ``(len(rows), n_labels)``.

    >>> sets = LabelSets(("love", "war"), np.array([[True, False]]), (), "separated", "|")
    >>> corrected_cells(sets, {"tags": ["love"]}, [0], np.array([[True, True]]))
    {'tags': ['war']}
    """
    if not turned.any():
        return {}
    if sets.form == "columns":
        given = sets.given[np.asarray(rows, dtype=np.int64)]
        return {
            name: _yes_or_no(own, given[:, label], turned[:, label])
            for label, (name, own) in enumerate(cells.items())
            if turned[:, label].any()
        }
    ((name, own),) = cells.items()
    return {name: [_listed(cell, sets, row) if row.any() else cell for cell, row in zip(own, turned, strict=True)]}


def _yes_or_no(cells: Sequence[Any], given: Bools, turned: Bools) -> list[Any]:
    spelled = {value: cells[int(np.flatnonzero(given == value)[0])] for value in (False, True)}
    return [spelled[not yes] if other else cell for cell, yes, other in zip(cells, given.tolist(), turned.tolist(), strict=True)]


def _listed(cell: Any, sets: LabelSets, turned: Bools) -> Any:
    had = names_of(cell, sets.separator)
    changes = [sets.names[label] for label in np.flatnonzero(turned)]
    left = [name for name in had if name not in changes] + [name for name in changes if name not in had]
    if sets.form == "separated":
        return sets.separator.join(left)
    return json.dumps(left, ensure_ascii=False) if isinstance(cell, str) else left

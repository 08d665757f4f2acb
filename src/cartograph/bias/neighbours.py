"""How near held-out rows are to the rows trained on: cosine distances to the nearest of the same class, and of the others.

The measure of Le Bras et al. 2020, Table 3: small distances within a class and large ones to the others mean that the features alone
sort the rows. Exact search by Faiss; cost O(n_held_out · n_train · d).
"""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Floats32, Integers, Reals
from cartograph.data.progress import Progress
from cartograph.schema import schema_of

TOPS = (1, 5, 10, 50)

_BLOCK = 2_000

NEIGHBOURS = schema_of(
    {"version": "string", "set": "string", "label": "int32", "against": "string", "top": "int32", "rows": "int64", "distance": "double?"}
)
"""Mean over the held-out ``rows`` of a label of the summed distances to their ``top`` nearest train rows ``against`` the ``same`` class or
the ``others``; null where there are fewer train rows than that, or no held-out row."""


def neighbour_distances(
    train: Reals,
    train_labels: Integers,
    held_out: Reals,
    labels: Integers,
    n_classes: int,
    *,
    most: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[dict[str, object]]:
    """Return the columns ``label`` to ``distance`` of ``NEIGHBOURS``, a dictionary per class, side and top.

    Args:
        train: (n_train, d) features.
        train_labels: (n_train,) label ids.
        held_out: (n_examples, d) features.
        labels: (n_examples,) label ids.
        n_classes: number of classes.
        most: held-out rows that are looked up at most, drawn at random: only means are shown; None: all.
        seed: of the draw.
        progress: called with (searches done, searches), two a class.
    """
    if most is not None and len(held_out) > most:
        drawn = np.sort(np.random.default_rng(seed).choice(len(held_out), most, replace=False))
        held_out, labels = held_out[drawn], labels[drawn]
    found: list[dict[str, object]] = []
    for label in range(n_classes):
        rows = _unit(held_out, np.flatnonzero(labels == label))
        for against, chosen in (("same", train_labels == label), ("others", train_labels != label)):
            nearest = _nearest(_unit(train, np.flatnonzero(chosen)), rows)
            for top in TOPS:
                mean = float(nearest[:, :top].sum(axis=1).mean()) if len(rows) and nearest.shape[1] >= top else None
                found.append({"label": label, "against": against, "top": top, "rows": len(rows), "distance": mean})
            if progress is not None:
                progress(len(found) // len(TOPS), 2 * n_classes)
    return found


def _nearest(train: Floats32, rows: Floats32) -> Floats32:
    """Return the distances of each row to its nearest train rows, nearest first, ``(n_rows, at most the largest top)``."""
    import faiss

    wanted = min(TOPS[-1], len(train))
    if not wanted or not len(rows):
        return np.empty((len(rows), 0), np.float32)
    similarity, _ = faiss.knn(rows, train, wanted, metric=faiss.METRIC_INNER_PRODUCT)
    distance: Floats32 = np.maximum(1.0 - similarity, 0.0).astype(np.float32)
    return distance


def _unit(features: Reals, rows: Integers) -> Floats32:
    """Return some rows, scaled to a length of 1, block by block."""
    found = np.empty((len(rows), features.shape[1]), np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = features[rows[start : start + _BLOCK]].astype(np.float32)
        length = np.linalg.norm(block, axis=1, keepdims=True)
        found[start : start + _BLOCK] = block / np.where(length > 0, length, 1.0)
    return found

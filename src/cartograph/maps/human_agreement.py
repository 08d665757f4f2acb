"""How far annotators agree on a row, for comparison with where the row lies on the data map.

Source: Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), §6 and Fig. 5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cartograph.data.arrays import Floats, Ids


def label_counts(labels: Sequence[Sequence[str] | None], classes: Sequence[str]) -> Ids:
    """Return how many annotators gave each class, ``(n_examples, n_classes)``; labels that are no class do not count.

    >>> label_counts([["yes", "no", "yes"], None], ["no", "yes"]).tolist()
    [[1, 2], [0, 0]]
    """
    place = {name: number for number, name in enumerate(classes)}
    counts = np.zeros((len(labels), len(classes)), np.int64)
    for row, given in enumerate(labels):
        for label in given or ():
            if label in place:
                counts[row, place[label]] += 1
    return counts


def annotator_agreement(counts: Ids) -> Floats:
    """Return, per row, the mean over its annotators of how surely each agrees with the majority of the other ones; [0, 1].

    Where several labels have most of the others' votes the majority is one of them at random, each as likely: its expectation is taken
    and no lot is drawn.

    Args:
        counts: how many annotators gave each label, ``(n_examples, n_classes)``; a row with fewer than two has NaN.

    >>> annotator_agreement(np.array([[5, 0, 0], [4, 1, 0], [1, 1, 0]])).tolist()
    [1.0, 0.8, 0.0]
    """
    total = counts.sum(axis=1)
    found = np.zeros(len(counts))
    for label in range(counts.shape[1]):
        others = counts.copy()
        others[:, label] -= 1
        most = others.max(axis=1)
        agrees = (others[:, label] == most) / (others == most[:, None]).sum(axis=1)
        found += np.where(counts[:, label] > 0, counts[:, label] * agrees, 0.0)
    mean: Floats = np.divide(found, total, out=np.full(len(counts), np.nan), where=total >= 2)
    return mean

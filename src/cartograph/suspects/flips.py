"""Label errors planted on purpose, so that a classifier can learn what they look like: flips from the easy region.

Source: Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), §5. 1 % of the train set is drawn from the easy-to-learn region and
relabelled, and the model trained again; ``cartograph.suspects.detector`` then learns to tell flipped from clean rows. Cost: O(n_examples).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Bools, Ids, Integers, Integers32
from cartograph.errors import InputError


@dataclass(frozen=True)
class Flips:
    """Labels that were changed on purpose.

    Attributes:
        rows: positions of the changed rows, ascending, ``(n_flips,)``.
        labels: the labels of *all* rows after the change, ``(n_examples,)``.
    """

    rows: Integers
    labels: Integers32

    @property
    def planted(self) -> Bools:
        """Whether a row's label was changed, ``(n_examples,)``."""
        mask = np.zeros(len(self.labels), dtype=np.bool_)
        mask[self.rows] = True
        return mask


def choose_flips(easy: Bools, labels: Ids, n_classes: int, share: float, rng: np.random.Generator) -> Flips:
    """Draw a share of the train set from the easy region and give each row another class, all equally likely (§5).

    Args:
        easy: whether a row is easy to learn, ``(n_examples,)``.
        labels: given label ids, ``(n_examples,)``.
        n_classes: two or more.
        share: of *all* rows, in (0, 1); the paper's 0.01.
        rng: draws rows and classes.

    Raises:
        InputError: the easy region has too few rows, or the share makes no row.

    >>> flips = choose_flips(np.arange(8) < 6, np.zeros(8, dtype=int), 2, 0.5, np.random.default_rng(1))
    >>> len(flips.rows), flips.labels[flips.rows].tolist()
    (4, [1, 1, 1, 1])
    """
    if n_classes < 2:
        raise InputError(f"a label can only be flipped to another class, but there is {n_classes}.")
    if not 0 < share < 1:
        raise InputError(f"`flip_share` must be above 0 and below 1, but is {share}.")
    number, candidates = round(share * len(labels)), np.flatnonzero(easy)
    if number < 4:
        raise InputError(
            f"`flip_share` {share:g} of {len(labels):,} rows makes {number} flips, and four is the least that can be learnt from and "
            f"tested on; raise it to {min(0.99, 4 / max(len(labels), 1)):.2g} or more."
        )
    if number > len(candidates):
        raise InputError(
            f"`flip_share` {share:g} asks for {number:,} flips, but the easy region has {len(candidates):,} of {len(labels):,} rows; "
            f"lower `flip_share` to {len(candidates) / len(labels):.2g} or less, or widen the region with `measure.easy`."
        )
    rows = np.sort(rng.choice(candidates, number, replace=False))
    changed = labels.astype(np.int32)
    changed[rows] = (changed[rows] + rng.integers(1, n_classes, number)) % n_classes
    return Flips(rows, changed)


def balanced_samples(planted: Bools, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Return the rows of two samples without a row in common, each with equally many flipped and clean rows, ascending (§5).

    Half the flips go into each; with an odd number one is left out.

    Raises:
        InputError: fewer than four flips, or fewer clean rows than flips.
    """
    flipped, clean = rng.permutation(np.flatnonzero(planted)), rng.permutation(np.flatnonzero(~planted))
    half = len(flipped) // 2
    if half < 2 or len(clean) < 2 * half:
        raise InputError(
            f"two balanced samples need at least four flipped rows and as many clean ones, but there are {len(flipped)} flipped and "
            f"{len(clean)} clean; set `flip_share` accordingly."
        )
    parts = [np.sort(np.concatenate([flipped[start : start + half], clean[start : start + half]])) for start in (0, half)]
    return parts[0], parts[1]

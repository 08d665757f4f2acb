"""Rows with several labels: short texts with words of each of their topics."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cartograph.data.arrays import Integers

WORDS = ("love", "sea", "space", "war")


def films(rows: int, seed: int = 4) -> tuple[list[str], Integers]:
    """Return texts, and which of four topics each has, 0 and 1, ``(rows, 4)``."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((rows, len(WORDS))) < [0.5, 0.3, 0.25, 0.2]).astype(np.int64)
    texts = []
    for row in labels:
        own = [f"{WORDS[label]}{number}" for label in np.flatnonzero(row) for number in rng.integers(0, 5, 2)]
        words = [*own, *(f"w{number}" for number in rng.integers(0, 60, 4))]
        texts.append(" ".join(rng.permutation(words)))
    return texts, labels


def film_frame(rows: int, wrong: float = 0.0, seed: int = 4) -> tuple[pd.DataFrame, Integers]:
    """Return them as a frame with the columns ``text`` and ``tags`` (``love|war``), a share of the labels wrong, and the right labels."""
    texts, labels = films(rows, seed)
    given = np.where(np.random.default_rng(seed + 1).random(labels.shape) < wrong, 1 - labels, labels)
    tags = ["|".join(WORDS[label] for label in np.flatnonzero(row)) for row in given]
    return pd.DataFrame({"text": texts, "tags": tags}, index=[f"r{row}" for row in range(rows)]), labels

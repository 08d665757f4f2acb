"""A generated corpus: its sets, what is planted in them, and the slips of the built-in sets that are real data."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from cartograph.data.arrays import Objects

SLIPS = 0.03
"""Share of the train rows of real built-in data whose label is changed to any other class."""


@dataclass(frozen=True)
class PlantedCorpus:
    """A generated corpus.

    Attributes:
        sets: table per set, ``train`` first; columns of strings (images: of bytes), ``uid`` and ``label`` among them.
        truth: what is planted in every row of every set (``schema.TRUTH``).
    """

    sets: dict[str, pa.Table]
    truth: pa.Table


def slips(kinds: Objects) -> list[str | None]:
    """Return what made each row's label wrong where all planted errors are slips.

    >>> import numpy as np
    >>> slips(np.array(["plain", "flipped"], object))
    [None, 'slip']
    """
    return ["slip" if kind == "flipped" else None for kind in kinds.tolist()]

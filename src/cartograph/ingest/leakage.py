"""Rows of an evaluation set that are in the train set too: a model has seen them, and its accuracy on them says little.

Near-duplicates are found with MinHash over character 5-grams (Broder 1997), in bands (Leskovec, Rajaraman and Ullman, *Mining of Massive
Datasets*, section 3.4), and each is confirmed by its Jaccard similarity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Array, Bools, Integers
from cartograph.ingest.identity import as_texts, normalised_texts

KINDS = ("exact", "normalised", "near")
"""How a row is in the train set: with the same characters; but for case and white space; or with a similarity of at least ``NEAR``."""

NEAR = 0.8
NOT_IN_TRAIN = "not in train"
"""The group of an evaluation set's rows that stand in the train set in none of these ways."""

_SHINGLE, _FEATURES = 5, 2**20
_BANDS, _ROWS_OF_BAND, _SEED = 10, 3, 13
_PRIME = (1 << 31) - 1
_CANDIDATES = 8
_CHUNK = 20_000
_MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class Leakage:
    """What of an evaluation set is in the train set too.

    Attributes:
        kinds: (n_rows,) of each row: 0, or 1 + its place in ``KINDS``; the first that fits.
        train_rows: (n_rows,) the place of the train row that it is like; -1 for none.
    """

    kinds: Integers
    train_rows: Integers

    @property
    def rows(self) -> Bools:
        """(n_rows,) whether a row is in the train set too."""
        return self.kinds > 0

    @property
    def counts(self) -> dict[str, int]:
        """Kind -> number of rows."""
        return {kind: int((self.kinds == place).sum()) for place, kind in enumerate(KINDS, start=1)}


def leakage(train: pa.Table, other: pa.Table, fields: Sequence[str], *, only_equal: bool = False) -> Leakage:
    """Return which rows of a set are in the train set too.

    Args:
        train: the train set's rows.
        other: the rows of the evaluation set.
        fields: the columns that are compared; all of a row's together.
        only_equal: whether only rows that are the same are found: images of the same pixels, and rows of a table of features, which have
            most of their text, the names of the columns, in common.
    """
    kinds, places = np.zeros(len(other), np.int64), np.full(len(other), -1)

    def note(kind: int, found: Integers) -> None:
        new = (kinds == 0) & (found >= 0)
        kinds[new], places[new] = kind, found[new]

    note(1, _places(_joined(train, fields), _joined(other, fields)))
    if only_equal or not len(train) or not len(other):
        return Leakage(kinds, places)
    mine, theirs = normalised_texts(train, fields), normalised_texts(other, fields)
    note(2, _places(mine, theirs))
    if len(train) + len(other) <= _MOST_ROWS:
        rest = np.flatnonzero(kinds == 0)
        found = np.full(len(other), -1)
        found[rest] = near_duplicates(mine.tolist(), theirs.iloc[rest].tolist())
        note(3, found)
    return Leakage(kinds, places)


def _joined(table: pa.Table, fields: Sequence[str]) -> pd.Series:
    parts = [pc.fill_null(as_texts(table[name]), "") for name in fields]
    return pd.Series(pc.binary_join_element_wise(*parts, "\x1f").to_pandas(), dtype="str")


def _places(train: pd.Series, other: pd.Series) -> Integers:
    first = pd.Series(np.arange(len(train)), index=train)
    first = first[~first.index.duplicated()]
    return np.asarray(first.reindex(other).fillna(-1), dtype=np.int64)


def near_duplicates(train: Sequence[str], other: Sequence[str]) -> Integers:
    """Return for each text the place of a train text whose set of character 5-grams is similar to its own, -1 where none was found.

    Similar is a Jaccard similarity of at least ``NEAR``; a text at just that is found with a probability of 0.999.
    """
    from sklearn.feature_extraction.text import HashingVectorizer

    found = np.full(len(other), -1)
    if not len(train) or not len(other):
        return found
    vectors = HashingVectorizer(
        analyzer="char",
        ngram_range=(_SHINGLE, _SHINGLE),
        n_features=_FEATURES,
        binary=True,
        norm=None,
        alternate_sign=False,
        dtype=np.float32,
    )
    mine, theirs = vectors.transform(train), vectors.transform(other)
    my_bands, their_bands = _bands(mine), _bands(theirs)
    my_sizes, their_sizes = np.diff(mine.indptr), np.diff(theirs.indptr)
    best = np.zeros(len(other))
    for band in range(_BANDS):
        order = np.argsort(my_bands[:, band], kind="stable")
        keys = my_bands[order, band]
        start = np.searchsorted(keys, their_bands[:, band])
        for step in range(_CANDIDATES):
            place = np.minimum(start + step, len(keys) - 1)
            rows = np.flatnonzero((keys[place] == their_bands[:, band]) & (start + step < len(keys)) & (their_sizes > 0) & (best < 1))
            for chunk in np.array_split(rows, max(1, -(-len(rows) // _CHUNK))):
                like = order[place[chunk]]
                common = np.asarray(theirs[chunk].multiply(mine[like]).sum(axis=1)).ravel()
                similarity = common / np.maximum(their_sizes[chunk] + my_sizes[like] - common, 1)
                better = (similarity >= NEAR) & (similarity > best[chunk])
                best[chunk[better]], found[chunk[better]] = similarity[better], like[better]
    return found


def _bands(shingles: Any) -> Array:
    """Return (n_rows, ``_BANDS``) a key per band of MinHash values; rows without shingles have a key that no other row has."""
    rng = np.random.default_rng(_SEED)
    factors = rng.integers(1, _PRIME, _BANDS * _ROWS_OF_BAND, dtype=np.uint64)
    offsets = rng.integers(0, _PRIME, _BANDS * _ROWS_OF_BAND, dtype=np.uint64)
    keys = np.zeros((shingles.shape[0], _BANDS), np.uint64)
    filled = np.flatnonzero(np.diff(shingles.indptr))
    features = shingles.indices.astype(np.uint64)
    for number, (factor, offset) in enumerate(zip(factors, offsets, strict=True)):
        if len(filled):
            least = np.minimum.reduceat((features * factor + offset) % np.uint64(_PRIME), shingles.indptr[filled])
            band = number // _ROWS_OF_BAND
            keys[filled, band] = keys[filled, band] * np.uint64(0x9E3779B97F4A7C15) + least + np.uint64(1)
    return keys

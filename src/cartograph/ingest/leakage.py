"""Rows of an evaluation set that are in the train set too: a model has seen them, and its accuracy on them says little.

Near-duplicates are found with MinHash over character 5-grams (Broder 1997), in bands (Leskovec, Rajaraman and Ullman, *Mining of Massive
Datasets*, section 3.4), and each is confirmed by its Jaccard similarity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Array, Bools, Integers
from cartograph.ingest.identity import JoinedTexts, keys_of, known_among

KINDS = ("exact", "normalised", "near")
"""How a row is in the train set: with the same characters; but for case and white space; or with a similarity of at least ``NEAR``."""

NEAR = 0.8
NOT_IN_TRAIN = "not in train"
"""The group of an evaluation set's rows that stand in the train set in none of these ways."""

_SHINGLE, _FEATURES = 5, 2**20
_BANDS, _ROWS_OF_BAND, _SEED = 10, 3, 13
_MIX = 0x9E3779B97F4A7C15
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

    note(1, known_among(*(keys_of(JoinedTexts(rows, fields, normalised=False)) for rows in (other, train))))
    if only_equal or not len(train) or not len(other):
        return Leakage(kinds, places)
    mine, theirs = (JoinedTexts(rows, fields, normalised=True) for rows in (train, other))
    note(2, known_among(keys_of(theirs), keys_of(mine)))
    if len(train) + len(other) <= _MOST_ROWS:
        rest = np.flatnonzero(kinds == 0)
        found = np.full(len(other), -1)
        found[rest] = near_duplicates(mine, theirs.at(rest))
        note(3, found)
    return Leakage(kinds, places)


def near_duplicates(train: Sequence[str], other: Sequence[str]) -> Integers:
    """Return for each text the place of a train text whose set of character 5-grams is similar to its own, -1 where none was found.

    Similar is a Jaccard similarity of at least ``NEAR``; a text at just that is found with a probability of 0.999. Of the train texts
    MinHash values are kept, and the 5-grams themselves of those alone that share a band with another text.
    """
    found = np.full(len(other), -1)
    if not len(train) or not len(other):
        return found
    my_bands, their_bands = _bands(train), _bands(other)
    candidates = list(_candidates(my_bands, their_bands))
    wanted = np.unique(np.concatenate([like for _, like in candidates])) if candidates else np.empty(0, np.int64)
    if not len(wanted):
        return found
    alike = train.at(wanted) if isinstance(train, JoinedTexts) else [train[row] for row in wanted.tolist()]
    mine, theirs = _shingles(alike), _shingles(other)
    my_sizes, their_sizes = np.diff(mine.indptr), np.diff(theirs.indptr)
    best = np.zeros(len(other))
    for rows, like in candidates:
        for start in range(0, len(rows), _CHUNK):
            part = slice(start, start + _CHUNK)
            open_ = best[rows[part]] < 1
            chunk, train_rows = rows[part][open_], like[part][open_]
            own = np.searchsorted(wanted, train_rows)
            common = np.asarray(theirs[chunk].multiply(mine[own]).sum(axis=1)).ravel()
            similarity = common / np.maximum(their_sizes[chunk] + my_sizes[own] - common, 1)
            better = (similarity >= NEAR) & (similarity > best[chunk])
            best[chunk[better]], found[chunk[better]] = similarity[better], train_rows[better]
    return found


def near_pairs(texts: Sequence[str], least: float = NEAR) -> Integers:
    """Return pairs of places of texts whose sets of character 5-grams are similar, ``(n_pairs, 2)``, the lower place first.

    A text is compared with its neighbours among those that share a band, so that of many near copies each is in a pair or two a band.

    Args:
        texts: (n_texts,) each compared as it is.
        least: Jaccard similarity of a pair; of one at 0.6, nine in ten are found, and fewer below.

    >>> near_pairs(["which of these rivers is the longest?", "so be it", "which of those rivers is the longest?"], 0.6).tolist()
    [[0, 2]]
    """
    bands = _bands(texts)
    found = [np.empty((0, 2), np.int64)]
    for band in range(_BANDS):
        order = np.argsort(bands[:, band], kind="stable")
        keys = bands[order, band]
        at = np.flatnonzero((keys[1:] == keys[:-1]) & (keys[1:] > 0))
        found.append(np.sort(np.stack([order[at], order[at + 1]], axis=1), axis=1))
    pairs: Integers = np.unique(np.concatenate(found), axis=0)
    grams = _shingles(texts)
    sizes, kept = np.diff(grams.indptr), [np.empty((0, 2), np.int64)]
    for start in range(0, len(pairs), _CHUNK):
        one, other = pairs[start : start + _CHUNK].T
        common = np.asarray(grams[one].multiply(grams[other]).sum(axis=1)).ravel()
        kept.append(pairs[start : start + _CHUNK][common >= least * np.maximum(sizes[one] + sizes[other] - common, 1)])
    return np.concatenate(kept)


def _candidates(mine: Array, theirs: Array) -> Iterator[tuple[Integers, Integers]]:
    """Yield places of other texts and as many of train texts with which they share a band; each other text once at a time."""
    for band in range(_BANDS):
        order = np.argsort(mine[:, band], kind="stable")
        keys = mine[order, band]
        start = np.searchsorted(keys, theirs[:, band])
        for step in range(_CANDIDATES):
            place = np.minimum(start + step, len(keys) - 1)
            rows = np.flatnonzero((keys[place] == theirs[:, band]) & (start + step < len(keys)) & (theirs[:, band] > 0))
            if len(rows):
                yield rows, order[place[rows]]


def _shingles(texts: Sequence[str]) -> Any:
    """Return which 5-grams are in which text, a sparse matrix of 0 and 1."""
    from sklearn.feature_extraction.text import HashingVectorizer

    vectors = HashingVectorizer(
        analyzer="char",
        ngram_range=(_SHINGLE, _SHINGLE),
        n_features=_FEATURES,
        binary=True,
        norm=None,
        alternate_sign=False,
        dtype=np.float32,
    )
    return vectors.transform(texts)


def _bands(texts: Sequence[str]) -> Array:
    """Return (n_texts, ``_BANDS``) a key per band of MinHash values; 0 for texts too short to have a 5-gram.

    The hash functions are those of Dietzfelbinger et al., *A Reliable Randomized Algorithm for the Closest-Pair Problem* (1997): an odd
    factor and the upper half of the product.
    """
    rng = np.random.default_rng(_SEED)
    factors = rng.integers(0, 1 << 63, _BANDS * _ROWS_OF_BAND, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    offsets = rng.integers(0, 1 << 63, _BANDS * _ROWS_OF_BAND, dtype=np.uint64)
    keys = np.zeros((len(texts), _BANDS), np.uint64)
    for first in range(0, len(texts), _CHUNK):
        grams, starts, filled = _hashed_grams(texts[first : first + _CHUNK])
        for number, (factor, offset) in enumerate(zip(factors, offsets, strict=True)):
            if len(filled):
                least = np.minimum.reduceat((grams * factor + offset) >> np.uint64(32), starts)
                band = number // _ROWS_OF_BAND
                keys[first + filled, band] = keys[first + filled, band] * np.uint64(_MIX) + least + np.uint64(1)
    return keys


def _hashed_grams(texts: Sequence[str]) -> tuple[Array, Integers, Integers]:
    """Return a number for every 5-gram of every text, where each text's begin, and the places of the texts that have some."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32).astype(np.uint64)
    lengths = np.array([len(text) for text in texts], np.int64)
    counts = np.maximum(lengths - _SHINGLE + 1, 0)
    ends = np.cumsum(lengths)
    whole = np.arange(len(codes)) < np.repeat(ends - _SHINGLE + 1, lengths)
    grams = np.zeros(max(len(codes) - _SHINGLE + 1, 0), np.uint64)
    for step in range(_SHINGLE):
        grams = grams * np.uint64(_MIX) + codes[step : step + len(grams)]
    grams = grams[whole[: len(grams)]]
    filled = np.flatnonzero(counts)
    return (grams ^ (grams >> np.uint64(29))) * np.uint64(_MIX), (np.cumsum(counts) - counts)[filled], filled

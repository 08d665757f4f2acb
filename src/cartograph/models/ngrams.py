"""Hashed n-grams: words, pairs of neighbouring words, and what two texts have in common, as 64-bit numbers that never change."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import count

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Hashes, Integers, Integers32
from cartograph.data.words import WORD_OR_SIGN
from cartograph.models.base import Side, sides_of
from cartograph.models.encoded import Ragged
from cartograph.schema import DatasetInfo

_WORD = re.compile(WORD_OR_SIGN)
_UNIGRAM, _BIGRAM, _BOTH, _FIRST_ONLY, _SECOND_ONLY, _SWAP = np.arange(1, 7, dtype=np.uint64)
_SWAPPED = 12
_BLOCK, _RANGES = 10_000, 16


class Words:
    """Texts as words, each word a 64-bit hash of its lower-case form (BLAKE2b, so the same on every machine)."""

    def __init__(self, texts: Sequence[str], max_length: int) -> None:
        known: defaultdict[str, int] = defaultdict(count().__next__)
        codes: list[int] = []
        offsets = np.zeros(len(texts) + 1, np.int64)
        for row, text in enumerate(texts):
            codes.extend(map(known.__getitem__, _WORD.findall(text.lower())[:max_length]))
            offsets[row + 1] = len(codes)
        hashes = [int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") for word in known]
        self.hashes: Hashes = np.array(hashes, np.uint64)[np.array(codes, np.int64)] if codes else np.empty(0, np.uint64)
        self.offsets = offsets

    @property
    def rows(self) -> Integers:
        """The row of each word."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def ngrams(self) -> tuple[Hashes, Integers]:
        """Return the hashes of all words and all pairs of neighbours, and the row of each."""
        rows = self.rows
        neighbours = np.flatnonzero(rows[1:] == rows[:-1])
        pairs = mix(mix(self.hashes[neighbours], self.hashes[neighbours + 1]), _BIGRAM)
        return np.concatenate([mix(self.hashes, _UNIGRAM), pairs]), np.concatenate([rows, rows[neighbours]])

    def distinct(self) -> tuple[Hashes, Integers]:
        """Return each row's words once, in order of appearance, and the row of each."""
        rows = self.rows
        first = np.sort(np.unique(mix(self.hashes, rows.astype(np.uint64)), return_index=True)[1])
        return self.hashes[first], rows[first]


def cross_features(first: Words, second: Words, *, most_swaps: int = _SWAPPED) -> tuple[Hashes, Integers]:
    """Return the hashes of what two sides have in common and what not, and the row of each.

    For each pair of texts: the words in both, those in the first only, those in the second only, and every word of the first
    only beside every word of the second only (the first ``most_swaps`` of each), which is where a word was exchanged.
    """
    words, rows = first.distinct()
    others, other_rows = second.distinct()
    key, other_key = mix(words, rows.astype(np.uint64)), mix(others, other_rows.astype(np.uint64))
    both, other_both = np.isin(key, other_key, assume_unique=True), np.isin(other_key, key, assume_unique=True)
    left, left_rows = words[~both], rows[~both]
    right, right_rows = others[~other_both], other_rows[~other_both]
    swaps, swap_rows = _swaps(left, left_rows, right, right_rows, len(first.offsets) - 1, most_swaps)
    hashes = [mix(words[both], _BOTH), mix(left, _FIRST_ONLY), mix(right, _SECOND_ONLY), swaps]
    return np.concatenate(hashes), np.concatenate([rows[both], left_rows, right_rows, swap_rows])


def _swaps(left: Hashes, left_rows: Integers, right: Hashes, right_rows: Integers, n_rows: int, most: int) -> tuple[Hashes, Integers]:
    left, left_rows = _leading(left, left_rows, n_rows, most)
    right, right_rows = _leading(right, right_rows, n_rows, most)
    counts = np.bincount(right_rows, minlength=n_rows)
    starts = np.concatenate(([0], np.cumsum(counts)))
    repeats = counts[left_rows]
    index = np.arange(repeats.sum()) + np.repeat(starts[left_rows] - (np.cumsum(repeats) - repeats), repeats)
    return mix(mix(np.repeat(left, repeats), right[index]), _SWAP), np.repeat(left_rows, repeats)


def _leading(hashes: Hashes, rows: Integers, n_rows: int, most: int) -> tuple[Hashes, Integers]:
    starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_rows))))
    kept = np.arange(len(rows)) - starts[rows] < most
    return hashes[kept], rows[kept]


def mix(hashes: Hashes, others: Hashes | np.uint64) -> Hashes:
    """Combine 64-bit hashes; the order of the two matters (the finaliser of SplitMix64, Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        mixed: Hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + others
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


class Counts:
    """How often each feature occurs, counted block by block."""

    def __init__(self) -> None:
        self._parts: list[tuple[Hashes, Integers32]] = []

    def add(self, hashes: Hashes) -> None:
        """Count some more features."""
        distinct, counts = np.unique(hashes, return_counts=True)
        self._parts.append((distinct, counts.astype(np.int32)))

    def vocabulary(self, *, least: int, most: int) -> Vocabulary:
        """Return the features that occur at least ``least`` times, at most the ``most`` frequent (ties by hash)."""
        found = [_frequent(part, least) for part in _by_range(self._parts)]
        hashes, counts = (np.concatenate(each) for each in zip(*found, strict=True))
        return Vocabulary(np.sort(hashes[np.argsort(-counts, kind="stable")[:most]]))


def _by_range(parts: Sequence[tuple[Hashes, Integers32]]) -> Iterator[tuple[Hashes, Integers]]:
    """Yield hashes and how often each occurs, one range of hashes after the other: sorting all at once would take many times their room."""
    bounds = np.arange(1, _RANGES, dtype=np.uint64) * np.uint64(2**64 // _RANGES)
    places = [[0, *np.searchsorted(hashes, bounds).tolist(), len(hashes)] for hashes, _ in parts]
    for number in range(_RANGES):
        cut = [slice(*place[number : number + 2]) for place in places]
        hashes, place = np.unique(np.concatenate([part[0][where] for part, where in zip(parts, cut, strict=True)]), return_inverse=True)
        counted = np.concatenate([part[1][where] for part, where in zip(parts, cut, strict=True)])
        yield hashes, np.bincount(place, counted, minlength=len(hashes)).astype(np.int64)


def _frequent(counted: tuple[Hashes, Integers], least: int) -> tuple[Hashes, Integers]:
    hashes, counts = counted
    return hashes[counts >= least], counts[counts >= least]


class Vocabulary:
    """The hashes that have an embedding, sorted; a feature's id is its place among them."""

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = hashes

    def __len__(self) -> int:
        return len(self.hashes)

    def ids(self, hashes: Hashes, rows: Integers, n_rows: int) -> Ragged:
        """Return the ids of those features that have one, by row."""
        place = np.searchsorted(self.hashes, hashes)
        found = np.zeros(len(hashes), bool)
        if len(self.hashes):
            found = self.hashes[np.minimum(place, len(self.hashes) - 1)] == hashes
        rows = rows[found]
        order = np.argsort(rows, kind="stable")
        offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_rows))))
        # Of half the size where they fit: the ids of all rows are held for the whole of a training.
        return Ragged(place[found][order].astype(np.uint16 if len(self.hashes) <= 2**16 else np.int32), offsets)


def features_of(sides: Sequence[Side], max_length: int) -> dict[str, tuple[Hashes, Integers]]:
    """Return the hashed features of some texts and the row of each: of the ``first`` text, the ``second``, and their ``cross``."""
    first = Words([side.first for side in sides], max_length)
    if not sides or sides[0].second is None:
        return {"first": first.ngrams()}
    second = Words([side.second or "" for side in sides], max_length)
    return {"first": first.ngrams(), "second": second.ngrams(), "cross": cross_features(first, second)}


def blocks(table: pa.Table, info: DatasetInfo) -> Iterator[list[Side]]:
    """Yield the texts of a set in blocks, so that strings and features of one block at a time are in memory; one at the least."""
    for start in range(0, max(table.num_rows, 1), _BLOCK):
        yield sides_of(table.slice(start, _BLOCK), info)

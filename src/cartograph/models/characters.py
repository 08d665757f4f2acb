"""Hashed runs of characters, for texts that share hardly a word: names, single words, scripts without blanks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cartograph.data.arrays import Bools, Hashes, Integers
from cartograph.models.base import Side
from cartograph.models.ngrams import Words, cross_features, features_of, mix

_RUN = np.uint64(7)
_LONGEST, _PER_WORD = 4, 4
_SIZES = (2, 3, 4)
_BLANK = ord(" ")


class Characters(Words):
    """Texts as runs of two to four characters, lower-case, within words; a blank says where a word begins and ends.

    Each run is a 64-bit number, the same on every machine, and none that a word or a pair of words has.

    Args:
        texts: the texts.
        most: of each text so many characters are read.
        sizes: of the runs that are kept, some of 2, 3 and 4.
    """

    def __init__(self, texts: Sequence[str], most: int, sizes: Sequence[int] = _SIZES) -> None:
        words = [text.lower()[:most].split() for text in texts]
        padded = [f" {' '.join(own)} " if own else "" for own in words]
        lengths = np.array([len(text) for text in padded], np.int64)
        # Points of code, surrogates among them, and places at the end that belong to no text.
        codes = np.frombuffer("".join([*padded, " " * _LONGEST]).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
        row = np.concatenate([np.repeat(np.arange(len(texts)), lengths), np.full(_LONGEST, -1)])
        hashes, rows, number = [], [], len(codes) - _LONGEST
        run, within = codes, np.ones(len(codes), bool)
        for further in range(1, _LONGEST):
            run = mix(run[:number], codes[further : further + number])
            if further > 1:
                # What lies between a run's ends is no blank.
                within = within[:number] & (codes[further - 1 : further - 1 + number] != _BLANK)
            if further + 1 in sizes:
                kept: Bools = within[:number] & (row[:number] == row[further : further + number])
                hashes.append(mix(run[kept], _RUN))
                rows.append(row[:number][kept])
        order = np.argsort(np.concatenate(rows), kind="stable")
        self.hashes: Hashes = np.concatenate(hashes)[order]
        self.offsets: Integers = np.concatenate(([0], np.cumsum(np.bincount(np.concatenate(rows), minlength=len(texts)))))


def features_with_characters(sides: Sequence[Side], max_length: int) -> dict[str, tuple[Hashes, Integers]]:
    """Return what ``ngrams.features_of`` does and the runs of characters beside it: of each text, and what two texts have in common.

    Of a text the first ``4 · max_length`` characters are read.
    """
    most = _PER_WORD * max_length
    first = Characters([side.first for side in sides], most)
    more = {"first": (first.hashes, first.rows)}
    if sides and sides[0].second is not None:
        second = Characters([side.second or "" for side in sides], most)
        more |= {"second": (second.hashes, second.rows), "cross": cross_features(first, second, most_swaps=0)}
    words = features_of(sides, max_length)
    return {name: (np.concatenate([own[0], more[name][0]]), np.concatenate([own[1], more[name][1]])) for name, own in words.items()}

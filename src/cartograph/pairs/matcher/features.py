"""Features of a pair: how alike its texts are as a whole, and field by field.

Similarities of strings are rapidfuzz's (Bachmann 2021); those of terms are weighted by rarity over both sides, labels unseen. A feature
that cannot be had, such as the difference of two prices where one is missing, is −1, which trees part from all similarities.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cartograph.data.arrays import Floats, Floats32, Integers
from cartograph.pairs.matcher.records import Records
from cartograph.pairs.matcher.terms import TermVectors, characters, codes, numbers, term_vectors, words

MISSING = -1.0
WHOLE = "text"
"""The name under which features of the whole text stand."""

_AMOUNT = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DECIMALS = re.compile(r"\.0+$")
_NUMERIC_SHARE = 0.8
_FEWEST_DIGITS = 4
_LONGEST = 400
_BLOCK = 262_144


@dataclass(frozen=True)
class Column:
    """One feature: its name as ``field: kind``, and how to compute it of rows of both sides."""

    name: str
    compute: Callable[[Integers, Integers], Floats32]


class Features:
    """The features of a task's pairs, from what is known of its records.

    Args:
        records: of both sides.
        vectors: ``encoder`` -> unit vectors of all left and of all right records, where there is one.
    """

    def __init__(self, records: Records, vectors: Mapping[str, tuple[Floats32, Floats32]] | None = None) -> None:
        self.vectors = dict(vectors or {})
        self.word_vectors = term_vectors(records.left, records.right, words)
        self.character_vectors = term_vectors(records.left, records.right, characters)
        self.columns = [
            Column(f"{WHOLE}: words", self.word_vectors.cosine),
            Column(f"{WHOLE}: characters", self.character_vectors.cosine),
            *_text_columns(WHOLE, records.left, records.right, self.word_vectors),
        ]
        for name, (left, right) in self.vectors.items():
            self.columns.append(Column(f"{WHOLE}: {name}", _dense_cosine(left, right)))
        for name, values in records.fields.items() if len(records.fields) > 1 else ():
            self.columns += _field_columns(name, *values, records.symmetric)

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in the order of their columns."""
        return tuple(column.name for column in self.columns)

    def table(self, left: Integers, right: Integers, tell: Callable[[int], None] = lambda _: None) -> Floats32:
        """Return (n_pairs, n_features) of pairs of rows, computed in blocks of pairs.

        Args:
            left: (n_pairs,) rows.
            right: (n_pairs,) rows.
            tell: called with how many pairs are done, block by block.
        """
        table = np.empty((len(left), len(self.columns)), np.float32)
        for start in range(0, len(left), _BLOCK):
            part = slice(start, start + _BLOCK)
            for place, column in enumerate(self.columns):
                table[part, place] = column.compute(left[part], right[part])
            tell(min(start + _BLOCK, len(left)))
        return table


def _field_columns(name: str, left: Sequence[str], right: Sequence[str], symmetric: bool) -> Iterator[Column]:
    one, other = _amounts(left), _amounts(right)
    if one is not None and other is not None:
        yield from _number_columns(name, (one, other), ([_plain(value) for value in left], [_plain(value) for value in right]))
        return
    right = left if symmetric else right
    vectors = term_vectors(left, right, words)
    yield Column(f"{name}: words", _known(vectors, vectors.cosine))
    by_characters = term_vectors(left, right, characters)
    yield Column(f"{name}: characters", _known(by_characters, by_characters.cosine))
    yield from _text_columns(name, left, right, vectors)


def _number_columns(name: str, amounts: tuple[Floats, Floats], written: tuple[list[str], list[str]]) -> Iterator[Column]:
    """Yield how far numbers lie apart; of numbers that name something first how alike they are written.

    Such as dates, postcodes and accounts, which are of one length: one with a slip of the pen is far off as an amount, another one near.
    """
    from rapidfuzz import fuzz

    if _of_one_length([*written[0], *written[1]]):
        yield Column(f"{name}: digits", _string_similarity(*written, fuzz.ratio, 100))
    yield Column(f"{name}: amount", _amount_difference(*amounts))


def _plain(value: str) -> str:
    """Return a number as written, without the decimals that software adds to whole ones."""
    return _DECIMALS.sub("", value.strip().lower())


def _of_one_length(written: Sequence[str]) -> bool:
    """Return whether most numbers that are given are whole, of the same number of digits, and long enough to name something."""
    given = [value for value in written if value]
    lengths = Counter(len(value) for value in given if value.isdecimal() and len(value) >= _FEWEST_DIGITS)
    return max(lengths.values(), default=0) >= _NUMERIC_SHARE * max(len(given), 1)


def _text_columns(name: str, left: Sequence[str], right: Sequence[str], vectors: TermVectors) -> Iterator[Column]:
    from rapidfuzz import fuzz
    from rapidfuzz.distance import JaroWinkler

    lowered = [[" ".join(words(text))[:_LONGEST] for text in side] for side in (left, right)]
    scorers = {
        "characters in order": (fuzz.ratio, 100),
        "words in any order": (fuzz.token_sort_ratio, 100),
        "shared words against the shorter": (fuzz.token_set_ratio, 100),
        "best part": (fuzz.partial_ratio, 100),
        "beginning (Jaro–Winkler)": (JaroWinkler.normalized_similarity, 1),
    }
    for kind, (scorer, most) in scorers.items():
        yield Column(f"{name}: {kind}", _string_similarity(lowered[0], lowered[1], scorer, most))
    sets = _sets(left, right, words)
    yield Column(f"{name}: rare words shared, of all", sets.of_all)
    yield Column(f"{name}: rare words shared, of the fewer", sets.of_the_fewer)
    yield Column(f"{name}: rarest word of one side only", sets.rarest_of_one_side)
    for kind, terms in (("numbers", numbers), ("codes", codes), ("years", _YEAR.findall)):
        sets = _sets(left, right, terms)
        if sets.left.nnz and sets.right.nnz:
            yield Column(f"{name}: {kind} shared, of all", sets.of_all)
            yield Column(f"{name}: {kind} shared, of the fewer", sets.of_the_fewer)
    lengths = [np.array([len(text) for text in side], np.float64) for side in lowered]
    yield Column(f"{name}: length", _shorter_to_longer(lengths[0], lengths[1]))


@dataclass(frozen=True)
class _Sets:
    """Which terms the records of both sides have, weighted by rarity."""

    left: Any
    right: Any

    def _shared(self, left: Integers, right: Integers) -> tuple[Floats, Floats, Floats]:
        weights = [np.asarray(side.multiply(side).sum(axis=1), np.float64).reshape(-1) for side in (self.left, self.right)]
        vectors = TermVectors(self.left, self.right)
        return vectors.cosine(left, right).astype(np.float64), weights[0][left], weights[1][right]

    def of_all(self, left: Integers, right: Integers) -> Floats32:
        """Return shared weight over that of either, missing where a side has no term."""
        shared, one, other = self._shared(left, right)
        return _ratio(shared, one + other - shared, (one > 0) & (other > 0))

    def of_the_fewer(self, left: Integers, right: Integers) -> Floats32:
        """Return shared weight over that of the side with less, missing where a side has no term."""
        shared, one, other = self._shared(left, right)
        return _ratio(shared, np.minimum(one, other), (one > 0) & (other > 0))

    def rarest_of_one_side(self, left: Integers, right: Integers) -> Floats32:
        """Return the weight of the rarest word of the shorter record that the other lacks; 0 = it lacks none."""
        rarest = np.zeros(len(left), np.float32)
        for start in range(0, len(left), 65_536):
            part = slice(start, start + 65_536)
            one, other = self.left[left[part]], self.right[right[part]]
            shared = one.multiply(other > 0)
            sides = [np.asarray((side - shared).max(axis=1).todense(), np.float32).reshape(-1) for side in (one, other)]
            rarest[part] = np.minimum(*sides)
        return rarest


def _sets(left: Sequence[str], right: Sequence[str], terms: Callable[[str], list[str]]) -> _Sets:
    """Return each record's terms; an entry is the root of the term's rarity, so that a product is the rarity of what is shared."""
    from scipy.sparse import csr_matrix, diags
    from sklearn.feature_extraction.text import CountVectorizer

    texts = list(left) if right is left else [*left, *right]
    if not any(terms(text) for text in texts):
        empty = csr_matrix((len(texts), 1), dtype=np.float32)
        return _Sets(empty[: len(left)], empty[: len(left)] if right is left else empty[len(left) :])
    held = CountVectorizer(analyzer=terms, binary=True, dtype=np.float32).fit_transform(texts).tocsr()
    rarity = np.log((1 + len(texts)) / (1 + np.asarray(held.sum(axis=0)).reshape(-1))) + 1
    weighted = (held @ diags(np.sqrt(rarity).astype(np.float32))).tocsr()
    first = weighted[: len(left)]
    return _Sets(first, first if right is left else weighted[len(left) :])


def _ratio(shared: Floats, whole: Floats, known: Any) -> Floats32:
    return np.where(known, shared / np.maximum(whole, 1e-9), MISSING).astype(np.float32)


def _known(vectors: TermVectors, compute: Callable[[Integers, Integers], Floats32]) -> Callable[[Integers, Integers], Floats32]:
    """Return a similarity that is missing where a side has no term."""
    has = [np.diff(side.indptr) > 0 for side in (vectors.left, vectors.right)]
    return lambda left, right: np.where(has[0][left] & has[1][right], compute(left, right), MISSING).astype(np.float32)


def _string_similarity(left: Sequence[str], right: Sequence[str], scorer: Any, most: int) -> Callable[[Integers, Integers], Floats32]:
    from rapidfuzz import process

    def compute(one: Integers, other: Integers) -> Floats32:
        texts = [left[row] for row in one.tolist()], [right[row] for row in other.tolist()]
        if not texts[0]:
            return np.empty(0, np.float32)
        found = (process.cpdist(*texts, scorer=scorer, dtype=np.float32) / most).astype(np.float32)
        empty = np.array([not a or not b for a, b in zip(*texts, strict=True)])
        return np.where(empty, np.float32(MISSING), found).astype(np.float32)

    return compute


def _dense_cosine(left: Floats32, right: Floats32) -> Callable[[Integers, Integers], Floats32]:
    from cartograph.pairs.models.cosine import pair_cosines

    return lambda one, other: pair_cosines(left, right, one, other)


def _amounts(values: Sequence[str]) -> Floats | None:
    """Return the values as numbers, nan where one is missing; None where this is no column of numbers."""
    found = np.full(len(values), np.nan)
    given = 0
    for row, value in enumerate(values):
        if not value.strip():
            continue
        given += 1
        match = _AMOUNT.search(value)
        if match is not None and len(re.sub(r"[^\w]", "", value)) <= len(re.sub(r"[^\w]", "", match[0])) + 3:
            found[row] = float(match[0].replace(",", "").replace("+", ""))
    return found if given and np.isfinite(found).sum() >= _NUMERIC_SHARE * given else None


def _amount_difference(left: Floats, right: Floats) -> Callable[[Integers, Integers], Floats32]:
    def compute(one: Integers, other: Integers) -> Floats32:
        a, b = left[one], right[other]
        difference = np.abs(a - b) / np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-9)
        return np.where(np.isfinite(difference), np.minimum(difference, 2.0), MISSING).astype(np.float32)

    return compute


def _shorter_to_longer(left: Floats, right: Floats) -> Callable[[Integers, Integers], Floats32]:
    def compute(one: Integers, other: Integers) -> Floats32:
        a, b = left[one], right[other]
        ratio: Floats32 = (np.minimum(a, b) / np.maximum(np.maximum(a, b), 1)).astype(np.float32)
        return ratio

    return compute

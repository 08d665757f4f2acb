"""Sparse text features for cheap linear models: hashed word and word-pair counts, weighted by TF-IDF.

Hashing needs no vocabulary, so 500,000 rows take memory for their own non-zeros only (about 40 a row, 8 bytes each) and
never for a dictionary of all bigrams. Cost: O(total length of the texts).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice, pairwise
from typing import Any, overload

import numpy as np
import pyarrow as pa
from scipy import sparse

from cartograph.data.arrays import Integers
from cartograph.data.memory import release_memory
from cartograph.data.progress import Progress
from cartograph.data.shared_words import reads_characters
from cartograph.data.words import WORD_OR_SIGN
from cartograph.errors import InputError
from cartograph.schema import DatasetInfo, dataset_info

Row = str | Sequence[str]
Tokens = Callable[[Sequence[str]], Iterator[str]]

_BUCKETS, _BLOCK, _GROUP = 2**20, 20_000, 8
_TOKEN = re.compile(WORD_OR_SIGN)
_SIZES = (2, 3, 4)

_MOST_OF_CLASSES = 200_000_000
MOST_CHARACTERS = 10_000_000
"""Of all texts, for their characters to be read: they take about twice as much room and time as their words."""


def text_features(
    rows: Sequence[Row], *, max_features: int = 2**18, read: Tokens | None = None, progress: Progress | None = None
) -> sparse.csr_array:
    """Return the TF-IDF matrix of single texts or of texts of several fields: float32, ``(n_examples, n_features)``, rows of length 1.

    Features: words, punctuation marks and pairs of neighbours, lower-cased; logarithmic term frequency, smoothed inverse document
    frequency. With several fields every feature carries its field's number, and from the second field on each word says besides whether
    an earlier field has it too (what a model of pairs needs most). Where a tenth of the rows share no word with another row
    (``shared_words.reads_characters``), as single words, names and scripts without blanks do, two to four characters in a row of each
    word are features as well, and how a word with capitals is written (``Aa``, ``A_A``). Features of a single row are left out, where
    others exist, and the ``max_features`` most frequent are kept.

    Args:
        rows: one string, or one sequence of as many strings as there are fields, per example.
        max_features: bound on the number of columns.
        read: returns the features of a row's fields, in place of those above.
        progress: called with (rows read, rows to read).

    Raises:
        InputError: no rows, rows of different numbers of fields, or not a single word in all of them.

    >>> text_features(["a good film", "a bad film", "bad"]).shape
    (3, 3)
    """
    from sklearn.feature_extraction import FeatureHasher

    if len(rows) == 0:
        raise InputError("there are no rows to take features from; give at least one text.")
    hasher, fields = FeatureHasher(_BUCKETS, input_type="string", dtype=np.float32, alternate_sign=False), _fields(rows)
    if read is None:
        read = _tokens_and_characters if reads_characters(rows) else _tokens
    parts = []
    for start in range(0, len(rows), _BLOCK):
        parts.append(_short(hasher.transform(read(texts) for texts in islice(fields, _BLOCK))))
        if progress is not None:
            progress(min(start + _BLOCK, len(rows)), len(rows))
    frequency = np.zeros(_BUCKETS, np.int64)
    for part in parts:
        frequency += np.bincount(part.indices, minlength=_BUCKETS)
    if not frequency.any():
        raise InputError(
            f"the texts of all {len(rows):,} rows are empty or blank, so no model can distinguish them; check the text columns."
        )
    kept = np.flatnonzero(frequency >= (2 if (frequency >= 2).any() else 1))
    if len(kept) > max_features:
        kept = np.sort(kept[np.argsort(-frequency[kept], kind="stable")[:max_features]])
    counts = _stacked(parts, kept, int(frequency[kept].sum()))
    _weigh(counts, frequency[kept])
    return counts


def character_features(rows: Sequence[Row], classes: int = 2) -> sparse.csr_array | None:
    """Return four characters in a row of each word, lower-cased, weighted as ``text_features`` does, of single texts.

    A word in another form, or misspelt, has most of them in common with the word. None of texts of several fields, of those whose
    ``text_features`` have characters among them, of more than ``MOST_CHARACTERS`` characters altogether, or as many by ``classes`` as in
    two hundred millions, and of those without a word of two characters.

    >>> character_features(["films", "a film", "sea"]).shape
    (3, 2)
    """
    if not len(rows) or not isinstance(rows[0], str) or sum(map(len, rows)) > min(MOST_CHARACTERS, _MOST_OF_CLASSES // classes):
        return None
    if reads_characters(rows) or not any(len(word) > 1 for text in rows for word in str(text).split()):
        return None
    return text_features(rows, read=_fours)


def _short(counts: Any) -> Any:
    """Return counts as numbers of one byte where they fit: blocks of all rows are held until the most frequent features are known."""
    if counts.data.max(initial=0) <= np.iinfo(np.uint8).max:
        counts.data = counts.data.astype(np.uint8)
    return counts


def _weigh(counts: sparse.csr_array, frequency: Integers) -> None:
    """Turn counts, float32, into TF-IDF weights in their place, block by block: (1 + ln count) · (1 + ln((1 + n) / (1 + rows with it))).

    The same as scikit-learn's ``TfidfTransformer(sublinear_tf=True)``, to the last bit.

    Args:
        counts: ``(n_examples, n_features)``, none of those that it holds 0.
        frequency: of each feature, the number of rows that have it.
    """
    from sklearn.preprocessing import normalize

    rarity = np.full(len(frequency), counts.shape[0] + 1, np.float32)
    rarity /= frequency.astype(np.float32) + 1.0
    np.log(rarity, out=rarity)
    rarity += 1.0
    for start in range(0, counts.shape[0], _BLOCK):
        ends = counts.indptr[start : start + _BLOCK + 1]
        inside = slice(ends[0], ends[-1])
        values, columns = counts.data[inside], counts.indices[inside]
        np.log(values, values)
        values += 1.0
        values *= rarity[columns]
        block = sparse.csr_array((values, columns, ends - ends[0]), shape=(len(ends) - 1, counts.shape[1]))
        values[:] = normalize(block, copy=False).data


class TextRows(Sequence[Row]):
    """What ``text_features`` reads of some sets of examples (``schema.examples_schema``), one set under the other.

    An entry per row, of a choice per option. Strings are made of one block of rows at a time, as they are asked for.
    """

    def __init__(self, *tables: pa.Table) -> None:
        self._tables = tables
        infos = [dataset_info(table.schema) for table in tables]
        self._lengths = [table.num_rows * (max(len(info.options), 1)) for table, info in zip(tables, infos, strict=True)]

    def __len__(self) -> int:
        return sum(self._lengths)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return list(islice(self, *place.indices(len(self))))
        start = range(len(self))[place]
        return next(islice(self, start, None))

    def __iter__(self) -> Iterator[Row]:
        for table in self._tables:
            info = dataset_info(table.schema)
            for start in range(0, table.num_rows, _BLOCK):
                yield from _rows_of(table.slice(start, _BLOCK), info)


def _rows_of(table: pa.Table, info: DatasetInfo) -> Iterator[Row]:
    columns = [table[name].to_pylist() for name in info.fields]
    if info.task in ("single", "table"):
        return iter(columns[0])
    if info.task == "pair":
        return zip(*columns, strict=True)
    return ((text, option) for text, *options in zip(*columns, strict=True) for option in options)


def _fields(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    width = 1 if isinstance(rows[0], str) else len(rows[0])
    for number, row in enumerate(rows, start=1):
        fields = (row,) if isinstance(row, str) else row
        if len(fields) != width:
            raise InputError(f"row {number} has {len(fields)} text fields and row 1 has {width}; give every row the same fields.")
        yield fields


def _tokens(fields: Sequence[str]) -> Iterator[str]:
    earlier: set[str] = set()
    for number, text in enumerate(fields):
        words = _TOKEN.findall(text.lower())
        # The separators are blanks, which no token contains: no two kinds of feature can have one name.
        yield from (f"{number} {word}" for word in words)
        yield from (f"{number} {left} {right}" for left, right in pairwise(words))
        if number:
            yield from (f"{number}  {word} {'shared' if word in earlier else 'new'}" for word in set_in_order(words))
        earlier.update(words)


def _tokens_and_characters(fields: Sequence[str]) -> Iterator[str]:
    yield from _tokens(fields)
    yield from _characters(fields)
    for number, text in enumerate(fields):
        yield from (f"{number}\t\t{_shape(written)}" for written in text.split() if written.lower() != written)


def _fours(fields: Sequence[str]) -> Iterator[str]:
    return _characters(fields, (4,))


def _characters(fields: Sequence[str], sizes: Sequence[int] = _SIZES) -> Iterator[str]:
    for number, text in enumerate(fields):
        for word in text.lower().split():
            # The blanks say where a word begins and ends; no word contains the separator.
            padded = f" {word} "
            yield from (f"{number}\t{padded[start : start + size]}" for size in sizes for start in range(len(padded) - size + 1))


def _shape(word: str) -> str:
    """Return how a word is written, ``Aa`` for a name, ``A_A`` for ``MAX_SIZE``: letters of one case and digits in a row are one sign."""
    signs = ("A" if sign.isupper() else "a" if sign.islower() else "0" if sign.isdigit() else sign for sign in word)
    return "".join(sign for sign, _ in groupby(signs))


def set_in_order(words: Sequence[str]) -> list[str]:
    """Return the distinct words in the order of their first occurrence (a set's own order changes from run to run).

    >>> set_in_order(["b", "a", "b"])
    ['b', 'a']
    """
    return list(dict.fromkeys(words))


def _stacked(parts: list[Any], kept: Integers, used: int) -> sparse.csr_array:
    """Return some columns of sparse matrices, one under the other; the list is emptied as they are read, for room.

    Args:
        parts: counts of ``_BUCKETS`` columns each.
        kept: the columns.
        used: how many counts stand in them.
    """
    position = np.full(_BUCKETS, -1, dtype=np.int32)
    position[kept] = np.arange(len(kept), dtype=np.int32)
    # Places of 32 bits are half as large as scipy's.
    data, columns, ends = np.empty(used, np.float32), np.empty(used, np.int32), [np.zeros(1, np.int64)]
    start = rows = 0
    for part in iter(lambda: parts.pop(0) if parts else None, None):
        column = position[part.indices]
        inside = column >= 0
        within = np.concatenate([[0], np.cumsum(inside)])[part.indptr[1:]] + start
        stop = start + int(np.count_nonzero(inside))
        data[start:stop], columns[start:stop] = part.data[inside], column[inside]
        ends.append(within)
        start, rows = stop, rows + part.shape[0]
        if not len(parts) % _GROUP:
            del part
            release_memory(rows)
    places = np.concatenate(ends).astype(np.int32 if used < 2**31 else np.int64)
    return sparse.csr_array((data, columns if used < 2**31 else columns.astype(np.int64), places), shape=(rows, len(kept)))

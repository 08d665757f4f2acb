"""Rows with the same content: uids, repeated texts, and labels that contradict each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import overload

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Bools, Integers

_BLOCK = 1 << 16
_KEY = 16

NOT_CONTRADICTED = "not contradicted"
"""The group of an evaluation set's rows whose texts stand with no other label, in the set or in the train set."""


def content_uids(table: pa.Table, fields: Sequence[str], label: str) -> pa.Array:
    """Return a uid per row from its content: 20 hexadecimal digits, and ``-2``, ``-3``, … for further rows with the same content.

    The content is the texts, of images their digests (``images.image_digests``), and the label's name, so that uids do not change
    when rows are moved, added or taken away, or when a set is given another name.
    """
    parts = [pc.fill_null(as_texts(table[name]), "") for name in (*fields, label)]
    contents = pc.binary_join_element_wise(*parts, "\x1f")
    digests = pa.array((blake2b(str(content).encode(), digest_size=10).hexdigest() for content in one_by_one(contents)), pa.string())
    occurrence = pd.Series(0, index=_codes(keys_of(one_by_one(digests)))).groupby(level=0).cumcount().to_numpy()
    again = np.flatnonzero(occurrence)
    if not len(again):
        return digests
    numbered = pd.Series(digests.take(pa.array(again)).to_pandas(), dtype="str") + "-" + pd.Series(occurrence[again] + 1).astype("str")
    return pc.replace_with_mask(digests, pa.array(occurrence > 0), pa.array(numbered, pa.string()))


def one_by_one(texts: pa.Array | pa.ChunkedArray) -> Iterator[str]:
    """Yield a column's texts; Python's strings are made of one block of them at a time."""
    for start in range(0, len(texts), _BLOCK):
        yield from texts.slice(start, _BLOCK).to_pylist()


class JoinedTexts(Sequence[str]):
    """Each row's texts as one, of images their digests; made of one block of rows at a time, as they are asked for.

    Args:
        table: the rows.
        fields: columns of texts or images.
        normalised: whether in lower case and with single spaces.
    """

    def __init__(self, table: pa.Table, fields: Sequence[str], *, normalised: bool) -> None:
        self._table, self._normalised = table.select(list(fields)), normalised

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            return self._joined(self._table.slice(start, max(stop - start, 0)))[::step]
        return self.at(np.array([range(len(self))[place]]))[0]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _BLOCK):
            yield from self._joined(self._table.slice(start, _BLOCK))

    def at(self, rows: Integers) -> list[str]:
        """Return the texts of these rows, in this order."""
        return self._joined(self._table.take(pa.array(rows)))

    def _joined(self, table: pa.Table) -> list[str]:
        parts = [pc.fill_null(as_texts(column), "") for column in table.columns]
        if self._normalised:
            parts = [pc.utf8_trim_whitespace(pc.utf8_lower(text)) for text in parts]
            parts = [pc.replace_substring_regex(text, r"\s+", " ") for text in parts]
        joined: list[str] = pc.binary_join_element_wise(*parts, "\x1f").to_pylist()
        return joined


def normalised_keys(table: pa.Table, fields: Sequence[str]) -> pa.Array:
    """Return a key (``keys_of``) of each row's texts in lower case and with single spaces; of images, of their digests."""
    return keys_of(JoinedTexts(table, fields, normalised=True))


def keys_of(texts: Iterable[str | None]) -> pa.Array:
    """Return digests of 128 bits, (n_texts,), equal where texts are: the texts themselves would take their room once more."""
    digests = b"".join(blake2b(str(text).encode(), digest_size=_KEY).digest() for text in texts)
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(_KEY), len(digests) // _KEY, [None, pa.py_buffer(digests)])


def as_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts as they are, and images as their digests."""
    if not pa.types.is_binary(column.type):
        return column
    from cartograph.data.images import image_digests

    return image_digests(column)


def known_among(keys: pa.Array, others: pa.Array) -> Integers:
    """Return for each key the place of the first equal one among others, -1 where no other is equal."""
    # The set looked in is the larger one as a rule, and a table of its keys would hold them once more.
    wanted = pc.fill_null(pc.index_in(others, value_set=keys), -1).to_numpy()
    equal = np.flatnonzero(wanted >= 0)[::-1]
    found = np.full(len(keys), -1, np.int64)
    found[wanted[equal]] = equal
    places: Integers = found[pc.index_in(keys, value_set=keys).to_numpy()]
    return places


def repeats(keys: pa.Array) -> Bools:
    """Return for each key whether an earlier one is equal."""
    return pd.Series(_codes(keys)).duplicated().to_numpy()


def contradicting(keys: pa.Array, labels: pd.Series) -> Bools:
    """Return for each row whether another row has the same key and another label; rows without a label do not count."""
    codes = pd.factorize(labels, use_na_sentinel=True)[0]
    frame = pd.DataFrame({"key": _codes(keys), "label": codes})[codes >= 0]
    spread = frame.groupby("key")["label"].agg(["min", "max"])
    doubtful = spread.index[spread["min"] != spread["max"]]
    mask = np.zeros(len(keys), dtype=bool)
    mask[frame.index[frame["key"].isin(doubtful)]] = True
    return mask


def repeated(keys: pa.Array, labels: pd.Series) -> Bools:
    """Return for each row whether an earlier row has the same key and the same label."""
    return pd.DataFrame({"key": _codes(keys), "label": pd.factorize(labels)[0]}).duplicated().to_numpy()


def _codes(keys: pa.Array) -> Integers:
    """Return a number for each key, equal ones the same."""
    halves = np.frombuffer(keys.buffers()[1], np.uint64).reshape(-1, 2)[keys.offset : keys.offset + len(keys)]
    order = np.lexsort(halves.T)
    new = (halves[order[1:]] != halves[order[:-1]]).any(axis=1)
    codes = np.zeros(len(order), np.int64)
    codes[order[1:]] = np.cumsum(new)
    return codes

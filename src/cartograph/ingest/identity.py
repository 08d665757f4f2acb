"""Rows with the same content: uids, repeated texts, and labels that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Bools, Integers

_BLOCK = 1 << 16

NOT_CONTRADICTED = "not contradicted"
"""The group of an evaluation set's rows whose texts stand with no other label, in the set or in the train set."""


def content_uids(table: pa.Table, fields: Sequence[str], label: str) -> pa.Array:
    """Return a uid per row from its content: 20 hexadecimal digits, and ``-2``, ``-3``, … for further rows with the same content.

    The content is the texts, of images their digests (``images.image_digests``), and the label's name, so that uids do not change
    when rows are moved, added or taken away, or when a set is given another name.
    """
    parts = [pc.fill_null(as_texts(table[name]), "") for name in (*fields, label)]
    contents = pc.binary_join_element_wise(*parts, "\x1f")
    digests = pa.array((blake2b(str(content).encode(), digest_size=10).hexdigest() for content in _one_by_one(contents)), pa.string())
    occurrence = pd.Series(0, index=_codes(digests)).groupby(level=0).cumcount().to_numpy()
    again = np.flatnonzero(occurrence)
    if not len(again):
        return digests
    numbered = pd.Series(digests.take(pa.array(again)).to_pandas(), dtype="str") + "-" + pd.Series(occurrence[again] + 1).astype("str")
    return pc.replace_with_mask(digests, pa.array(occurrence > 0), pa.array(numbered, pa.string()))


def _one_by_one(texts: pa.Array | pa.ChunkedArray) -> Iterator[str]:
    for start in range(0, len(texts), _BLOCK):
        yield from texts.slice(start, _BLOCK).to_pylist()


def normalised_texts(table: pa.Table, fields: Sequence[str]) -> pd.Series:
    """Return each row's texts as one, in lower case and with single spaces; of images their digests."""
    parts = []
    for name in fields:
        text = pc.utf8_trim_whitespace(pc.utf8_lower(pc.fill_null(as_texts(table[name]), "")))
        parts.append(pc.replace_substring_regex(text, r"\s+", " "))
    return pd.Series(pc.binary_join_element_wise(*parts, "\x1f").to_pandas(), dtype="str")


def as_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts as they are, and images as their digests."""
    if not pa.types.is_binary(column.type):
        return column
    from cartograph.data.images import image_digests

    return image_digests(column)


def known_among(keys: pd.Series, others: pd.Series) -> Integers:
    """Return for each text the place of the first equal one among others, -1 where no other is equal."""
    mine, theirs = _arrow(keys), _arrow(others)
    # The set looked in is the larger one as a rule, and a table of its texts would hold them once more.
    wanted = pc.fill_null(pc.index_in(theirs, value_set=mine), -1).to_numpy()
    equal = np.flatnonzero(wanted >= 0)[::-1]
    found = np.full(len(mine), -1, np.int64)
    found[wanted[equal]] = equal
    places: Integers = found[pc.index_in(mine, value_set=mine).to_numpy()]
    return places


def repeats(keys: pd.Series) -> Bools:
    """Return for each text whether an earlier one is equal."""
    return pd.Series(_codes(_arrow(keys))).duplicated().to_numpy()


def contradicting(keys: pd.Series, labels: pd.Series) -> Bools:
    """Return for each row whether another row has the same texts and another label; rows without a label do not count."""
    codes = pd.factorize(labels, use_na_sentinel=True)[0]
    frame = pd.DataFrame({"key": _codes(_arrow(keys)), "label": codes})[codes >= 0]
    spread = frame.groupby("key")["label"].agg(["min", "max"])
    doubtful = spread.index[spread["min"] != spread["max"]]
    mask = np.zeros(len(keys), dtype=bool)
    mask[frame.index[frame["key"].isin(doubtful)]] = True
    return mask


def repeated(keys: pd.Series, labels: pd.Series) -> Bools:
    """Return for each row whether an earlier row has the same texts and the same label."""
    return pd.DataFrame({"key": _codes(_arrow(keys)), "label": pd.factorize(labels)[0]}).duplicated().to_numpy()


def _arrow(texts: pd.Series) -> pa.Array:
    """Return texts as one Arrow array: pandas would make a Python string of each to compare them."""
    column = pa.array(texts.astype("str"))
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _codes(texts: pa.Array | pa.ChunkedArray) -> Integers:
    """Return a number for each text, equal ones the same, by digests of 128 bits: a dictionary would hold every text once more."""
    digests = b"".join(blake2b(str(text).encode(), digest_size=16).digest() for text in _one_by_one(texts))
    halves = np.frombuffer(digests, np.uint64).reshape(-1, 2)
    order = np.lexsort(halves.T)
    new = (halves[order[1:]] != halves[order[:-1]]).any(axis=1)
    codes = np.zeros(len(order), np.int64)
    codes[order[1:]] = np.cumsum(new)
    return codes

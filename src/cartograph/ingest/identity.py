"""Rows with the same content: uids, repeated texts, and labels that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Bools

NOT_CONTRADICTED = "not contradicted"
"""The group of an evaluation set's rows whose texts stand with no other label, in the set or in the train set."""


def content_uids(table: pa.Table, fields: Sequence[str], label: str) -> pa.Array:
    """Return a uid per row from its content: 20 hexadecimal digits, and ``-2``, ``-3``, … for further rows with the same content.

    The content is the texts, of images their digests (``images.image_digests``), and the label's name, so that uids do not change
    when rows are moved, added or taken away, or when a set is given another name.
    """
    parts = [pc.fill_null(as_texts(table[name]), "") for name in (*fields, label)]
    contents = pc.binary_join_element_wise(*parts, "\x1f").to_pylist()
    digests = pd.Series([blake2b(content.encode(), digest_size=10).hexdigest() for content in contents], dtype="str")
    occurrence = digests.groupby(digests).cumcount().to_numpy()
    again = occurrence > 0
    digests[again] = digests[again] + "-" + pd.Series(occurrence[again] + 1, index=digests.index[again]).astype("str")
    return pa.array(digests, pa.string())


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


def contradicting(keys: pd.Series, labels: pd.Series) -> Bools:
    """Return for each row whether another row has the same texts and another label; rows without a label do not count."""
    codes = pd.factorize(labels, use_na_sentinel=True)[0]
    frame = pd.DataFrame({"key": pd.factorize(keys)[0], "label": codes})[codes >= 0]
    spread = frame.groupby("key")["label"].agg(["min", "max"])
    doubtful = spread.index[spread["min"] != spread["max"]]
    mask = np.zeros(len(keys), dtype=bool)
    mask[frame.index[frame["key"].isin(doubtful)]] = True
    return mask


def repeated(keys: pd.Series, labels: pd.Series) -> Bools:
    """Return for each row whether an earlier row has the same texts and the same label."""
    return pd.DataFrame({"key": keys, "label": labels}).duplicated().to_numpy()

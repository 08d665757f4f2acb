"""Order and selection of rows by uid."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

SHOWN = 3
"""Most uids that a message names."""


def text_uids(uids: Iterable[Any]) -> pa.Array:
    """Return uids as strings: whole numbers, also NumPy's and those of tensors, are written out; None stays null.

    >>> text_uids(["a", 7]).to_pylist()
    ['a', '7']

    Raises:
        TypeError: a uid is neither a string nor a whole number.
        ValueError: a string is not valid Unicode.
    """
    return pa.array([uid if isinstance(uid, str) or uid is None else _written_out(uid) for uid in uids], pa.string())


def _written_out(uid: Any) -> str:
    try:
        if not isinstance(uid, bool):
            return str(operator.index(uid))
    except TypeError:
        pass
    raise TypeError(f"{uid!r} is of type {type(uid).__name__}")


def in_uid_order(uids: pa.Array) -> pa.Array:
    """Return uids sorted by code point."""
    return uids.take(pc.sort_indices(uids))


def without(uids: Any, others: Any) -> Any:
    """Return those uids that are not among the others."""
    return uids.filter(pc.invert(pc.is_in(uids, value_set=others.combine_chunks() if isinstance(others, pa.ChunkedArray) else others)))


def some(uids: Any) -> str:
    """Return the first few uids, for a message."""
    return ", ".join(repr(uid) for uid in uids[:SHOWN].to_pylist()) + (", …" if len(uids) > SHOWN else "")

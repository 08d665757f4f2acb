"""Order and selection of rows by uid."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

SHOWN = 3
"""Most uids that a message names."""

_OF_CONTENT = re.compile(r"[0-9a-f]{20}(?:-[0-9]+)?(?:#.*)?", re.DOTALL)


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


def with_places(uids: Sequence[str], examples: pa.Table) -> list[str]:
    """Return uids for a message, those that are made of a row's content, and stand in no file, with the place of their row.

    Args:
        uids: some uids of the examples.
        examples: ``schema.examples_schema``, or its columns ``uid``, ``source`` and ``row``.

    >>> rows = pa.table({"uid": ["u1", "0123456789abcdef0123-2"], "source": ["a.csv", "a.csv"], "row": [1, 1042]})
    >>> with_places(["0123456789abcdef0123-2", "u1"], rows)
    ["'0123456789abcdef0123-2' (row 1,042)", "'u1'"]
    """
    made = [uid for uid in uids if _OF_CONTENT.fullmatch(uid)]
    rows = examples.filter(pc.is_in(examples["uid"], value_set=pa.array(made, pa.string()))).select(["uid", "source", "row"]).to_pylist()
    files = len(examples["source"].unique()) > 1 if made else False
    places = {row["uid"]: f" ({row['source'] + ' ' if files else ''}row {row['row']:,})" for row in rows}
    return [f"{uid!r}{places.get(uid, '')}" for uid in uids]

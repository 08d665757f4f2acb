"""Order and selection of rows by uid."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_SHOWN = 3


def in_uid_order(uids: pa.Array) -> pa.Array:
    """Return uids sorted by code point."""
    return uids.take(pc.sort_indices(uids))


def without(uids: Any, others: Any) -> Any:
    """Return those uids that are not among the others."""
    return uids.filter(pc.invert(pc.is_in(uids, value_set=others.combine_chunks() if isinstance(others, pa.ChunkedArray) else others)))


def some(uids: Any) -> str:
    """Return the first few uids, for a message."""
    return ", ".join(repr(uid) for uid in uids[:_SHOWN].to_pylist()) + (", …" if len(uids) > _SHOWN else "")

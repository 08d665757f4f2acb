"""Memory that is free, but kept for later by those who asked for it."""

from __future__ import annotations

import ctypes
import gc

MOST_WAITING = 2**28
"""Bytes of results that wait on a GPU for the end of a pass; more of them are moved to the machine's memory before."""

_WORTH = 50_000


def release_memory(rows: int) -> None:
    """Give memory that nothing needs any more back to the system, between two parts of a step that both need much.

    Python keeps what only a cycle refers to until it collects, Arrow and the C library keep what was freed: together 450 MB after a
    training on 550,000 pairs. Of fewer than 50,000 rows it is not worth the time.

    Args:
        rows: how many rows the step works on.
    """
    if rows < _WORTH:
        return
    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's
    if trim is not None:
        trim(0)

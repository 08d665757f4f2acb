"""A disk without space, as far as this process is concerned: for tests of what a full one does."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def full_disk(after: int = 0) -> Iterator[None]:
    """Let no file grow beyond so many bytes: the write that goes beyond fails (EFBIG), as on a full disk (ENOSPC)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (after, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

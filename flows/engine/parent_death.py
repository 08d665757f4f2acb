"""Processes that end with the one that started them, however that one ended."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

_BETWEEN_SECONDS = 0.2
_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int, *, signalled: bool = False) -> None:
    """End this process as soon as its parent is gone.

    Args:
        parent: the id of the process that started it.
        signalled: have Linux kill it at once, even where it is deep in a computation. Linux counts a process as gone when the thread ends
            that started this one; so only where that thread lives as long.
    """
    if signalled and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_BETWEEN_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()

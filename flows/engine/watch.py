"""A flow run from a command line ends soon where it cannot go on: at Ctrl-C or SIGTERM, and where its Prefect server is gone.

Prefect itself tries for minutes to reach a server, and waits for a running step before it ends. A step can be stopped at any
moment: what finished is installed, a training goes on from its checkpoint, and the next run does the rest.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from prefect.settings import PREFECT_API_URL

from flows.engine.closing_lines import INTERRUPTED, TERMINATED
from tasks.presentation import console

_LOST = 2
_GRACE_SECONDS = 5.0
_BETWEEN_SECONDS = 1.0
_PATIENCE_SECONDS = 40.0
_from_a_command_line = threading.Event()


@contextmanager
def ending_soon() -> Iterator[None]:
    """Run a flow in the block: at Ctrl-C or SIGTERM, or where its server is lost, the process ends with a sentence, a minute later at most.

    Prefect itself catches SIGTERM while a flow runs; ``terminated`` is called with what it makes of it.
    """
    over = threading.Event()
    api = PREFECT_API_URL.value()
    if api is None:
        from flows.engine.temporary_server import use_temporary_server

        server = use_temporary_server()

        def is_lost() -> bool:
            # Prefect forgets the process of a server that it has stopped itself.
            process = server.server_process
            return process is not None and process.poll() is not None

        patience, what, way = 0.0, "that the flow started for itself has ended", "run it again"
    else:

        def is_lost() -> bool:
            return not _answers(api)

        patience, what, way = _PATIENCE_SECONDS, f"at {_shown(api)} does not answer any more", "start the server and run it again"
    sentence = f"the Prefect server {what}; every step that finished is complete and recorded in its receipt. {way[0].upper()}{way[1:]}: "
    sentence += "it continues from there."
    threading.Thread(target=_watch, args=(over, is_lost, patience, sentence), name="server", daemon=True).start()
    _from_a_command_line.set()
    try:
        with _interruptible():
            yield
    finally:
        _from_a_command_line.clear()
        over.set()


def terminated() -> None:
    """End the process soon, after SIGTERM, where it is a command line; a flow run that Prefect started is Prefect's to end."""
    if _from_a_command_line.is_set():
        _stop(TERMINATED)


def _stop(code: int) -> None:
    console.complain("stopped; finished steps are kept, and the next run continues from there.")
    timer = threading.Timer(_GRACE_SECONDS, _end, (code,))
    timer.daemon = True
    timer.start()


def _watch(over: threading.Event, is_lost: Callable[[], bool], patience: float, sentence: str) -> None:
    since: float | None = None
    while not over.wait(_BETWEEN_SECONDS):
        if not is_lost():
            since = None
        else:
            since = since or time.monotonic()
            if time.monotonic() - since >= patience and not over.is_set():
                console.complain(sentence)
                _end(_LOST)


@contextmanager
def _interruptible() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _stop(INTERRUPTED)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is stop:
            signal.signal(signal.SIGINT, before)


def _end(code: int) -> None:
    """End the process at once, in whatever its threads are; what it started sees that and ends as well."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _answers(api: str) -> bool:
    try:
        with urllib.request.urlopen(f"{api.rstrip('/')}/health", timeout=5):  # noqa: S310 (Prefect's own address)
            return True
    except urllib.error.HTTPError:
        # A server that wants a password is there.
        return True
    except (OSError, ValueError):
        return False


def _shown(api: str) -> str:
    return api.partition("://")[2].rpartition("@")[2] or api

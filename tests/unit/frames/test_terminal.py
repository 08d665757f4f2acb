"""An interruption that Python would lose."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import pytest

from cartograph.frames.terminal import watched


class Interrupted:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


class Broken:
    def __del__(self) -> None:
        raise ValueError


@pytest.fixture
def printed() -> Iterator[list[type[BaseException]]]:
    """What Python would print of exceptions that it loses; interruptions are handled as in a program of its own."""
    found: list[type[BaseException]] = []
    before, sys.unraisablehook = sys.unraisablehook, lambda unraised: found.append(unraised.exc_type)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield found
    signal.signal(signal.SIGINT, handler)
    sys.unraisablehook = before


def test_an_interruption_while_an_object_is_let_go_of_is_not_lost_and_not_printed(printed: list[type[BaseException]]) -> None:
    with pytest.raises(KeyboardInterrupt), watched() as (trained, _, _):
        # Assigned, it would live on in the traceback.
        Interrupted()
        trained(1, 2)
    assert printed == []


def test_what_else_goes_wrong_there_is_printed(printed: list[type[BaseException]]) -> None:
    with watched():
        Broken()
    assert printed == [ValueError]

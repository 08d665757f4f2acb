"""How far long work is, as it says so itself while it runs."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with (done, to do) of whatever the work counts."""


def piece_of(progress: Progress | None, number: int, pieces: int, each: int | None = None) -> Progress | None:
    """Return what one of several pieces of work, done one after the other, says how far it is to; the whole is counted.

    Args:
        progress: of the whole, which is ``pieces`` times as much as each; None: nobody asks.
        number: which piece it is, from 0 on.
        pieces: how many there are.
        each: as how much a piece counts in the whole; None: as much as it counts itself, all pieces the same.

    >>> second = piece_of(print, 1, 3, 5)
    >>> second(10, 50), second(50, 50)
    6 15
    10 15
    (None, None)
    """
    if progress is None:
        return None

    def update(done: int, total: int) -> None:
        size = total if each is None else each
        progress(size * number + size * done // max(total, 1), size * pieces)

    return update

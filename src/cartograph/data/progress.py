"""How far long work is, as it says so itself while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cartograph.wording import duration, roughly

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


@dataclass(frozen=True)
class Course:
    """How far a running step is.

    Attributes:
        done: of ``total``, which is positive.
        total: what there is to do.
        unit: what is counted: ``examples``, ``files``.
        rate: how many a second since the first was counted; 0: not known yet.
        left: seconds that the step itself expects to take; None: as many as the rate says.

    >>> print(Course(1200, 6000, "examples", 250.0))
    1,200 of 6,000 examples, 250/s, 19 s left
    """

    done: int
    total: int
    unit: str
    rate: float
    left: float | None = None

    def __str__(self) -> str:
        far = f"{self.done:,} of {self.total:,} {self.unit}"
        if self.left is not None:
            return f"{far}, about {roughly(self.left)} left"
        if self.rate <= 0:
            return far
        speed = f"{self.rate:,.0f}/s" if self.rate >= 10 else f"{self.rate:.2g}/s"
        return f"{far}, {speed}, {duration((self.total - self.done) / self.rate)} left"


class Pace:
    """Makes a course of what work says of itself; it is as fast as since it first said something, or since it began once more.

    >>> pace = Pace("rows")
    >>> print(pace.course(100, 1000, 0.0), pace.course(300, 1000, 4.0), sep="; ")
    100 of 1,000 rows; 300 of 1,000 rows, 50/s, 14 s left
    """

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._first: tuple[float, int] | None = None

    def course(self, done: int, total: int, now: float, left: float | None = None) -> Course:
        """Return how far the work is.

        Args:
            done: of ``total``.
            total: what there is to do.
            now: in seconds, of a clock that never goes back.
            left: seconds that the work itself expects to take.
        """
        if self._first is None or done < self._first[1]:
            self._first = (now, done)
        since, before = self._first
        return Course(done, total, self._unit, (done - before) / (now - since) if now > since else 0.0, left)

"""How long a filter takes at most: first from its own first classifiers, then more closely with each round that ends.

The sizes given say how many rounds there can be, and of how many rows; a round's time is about in proportion to its rows. The first is
estimated while it runs: the rest of its work takes as long, for the share that it is, as the work since its first classifiers moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

import numpy as np

Report = Callable[[float], None]
"""Called with about the share of a round's work that is done, in [0, 1]; with 0 where the round begins only now, what went before being no
part of other rounds."""

_LEAST_SHARE = 0.05


def unheard(share: float) -> None:
    """Report to nobody."""


@dataclass(frozen=True)
class Forecast:
    """How far a filter is, and how long it takes if it makes every round that its sizes allow; one that ends at its threshold makes fewer.

    Attributes:
        rounds: most rounds, one that only measures what is kept included.
        ended: rounds that have ended.
        seconds: since the first round began.
        seconds_left: about, at least 0.
    """

    rounds: int
    ended: int
    seconds: float
    seconds_left: float


class Forecaster:
    """Times a filter's rounds, and says what that means for those ahead.

    Args:
        rows: rows as the filter begins.
        target_size: fewest rows that stay.
        slice_size: most rows removed in a round.
        measure_kept: whether a last round measures what is kept.
        tell: called with each forecast, none of them before the first round's first classifiers have moved; None: nobody asks.
        clock: seconds since whatever moment.
    """

    def __init__(
        self,
        rows: int,
        target_size: int,
        slice_size: int,
        measure_kept: bool,
        tell: Callable[[Forecast], None] | None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        sizes = np.arange(rows, target_size, -slice_size)
        self._sizes = np.append(sizes, min(rows, target_size)) if measure_kept else sizes
        self._later = self._sizes.sum() - np.cumsum(self._sizes)
        self._tell, self._clock = tell, clock
        self._ended = 0
        self._start = self._round_start = clock()
        self._first: tuple[float, float] | None = None
        self._seconds_a_row: float | None = None

    @contextmanager
    def a_round(self) -> Iterator[Report]:
        """Time a round that reports to what is yielded."""
        self._round_start = self._clock()
        yield self._moved
        now, place = self._clock(), self._ended
        self._seconds_a_row = (now - self._round_start) / int(self._sizes[place])
        self._ended += 1
        self._say(now, self._seconds_a_row * int(self._later[place]))

    def _moved(self, share: float) -> None:
        now, place = self._clock(), self._ended
        if share == 0:
            self._round_start = now
            return
        pace = self._seconds_a_row
        if pace is None:
            first, since = self._first = self._first or (share, now)
            if share - first < _LEAST_SHARE:
                return
            pace = (now - self._round_start + (1 - share) * (now - since) / (share - first)) / int(self._sizes[place])
        of_this = pace * int(self._sizes[place]) - (now - self._round_start)
        self._say(now, max(of_this, 0.0) + pace * int(self._later[place]))

    def _say(self, now: float, left: float) -> None:
        if self._tell is not None:
            self._tell(Forecast(len(self._sizes), self._ended, now - self._start, left))

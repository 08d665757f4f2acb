"""What more labels would bring, by a curve that rises with the logarithm of their number; or why that cannot be estimated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Floats, Reals
from cartograph.pairs.answers import SECONDS_A_PAIR
from cartograph.wording import counted

AN_HOUR = 3600 // SECONDS_A_PAIR
"""Pairs that a person compares in an hour."""

_LEAST_ROUNDS = 4
_FARTHEST = 2.0
# Times the labels so far: farther than one doubling, a logarithm that fits the rounds may be wrong.


_NOISE = "from round to round the curve rises by no more than its own noise"
_BENT = "the curve rises with every round, but not evenly enough to be continued"


@dataclass(frozen=True)
class Forecast:
    """What more labels would bring.

    Attributes:
        more: how many.
        gain: in average precision; 0 where it cannot be estimated.
        low: lower end of its 95 % interval.
        high: upper end.
        why_not: why it cannot be estimated; empty where it can.
    """

    more: int
    gain: float
    low: float
    high: float
    why_not: str = ""


def forecast(labels: Reals, values: Reals, draws: Floats, more: int, rng: np.random.Generator) -> Forecast:
    """Return what more labels would bring, fitted by least squares to value = a + b · log(labels), over rounds that have labels.

    The interval has the variance between draws of the utterances, each with a fit of its own, and that of the rounds around the line
    (Student's t with rounds − 2 degrees of freedom). Nothing is estimated from fewer than four rounds, for more than a doubling of the
    labels, nor where the interval of the slope holds 0.

    Args:
        labels: (n_rounds,) that each round's model learnt from, rising, at least 1.
        values: (n_rounds,) average precision after each.
        draws: (n_draws, n_rounds) the same on each draw of the utterances; rows with nan do not count.
        more: labels.
        rng: of Student's t.
    """
    if len(labels) < _LEAST_ROUNDS:
        return Forecast(
            more, 0.0, 0.0, 0.0, f"a curve of {counted(len(labels), 'round')} says nothing about the next labels; it takes {_LEAST_ROUNDS}"
        )
    if more > (_FARTHEST - 1) * labels[-1]:
        return Forecast(more, 0.0, 0.0, 0.0, f"that would more than double the {int(labels[-1]):,} labels that there are")
    x = np.log(np.asarray(labels, np.float64))
    centred = x - x.mean()
    spread = float(centred @ centred)

    def slope(rows: Floats) -> Floats:
        found: Floats = rows @ centred / spread
        return found

    own = float(slope(np.asarray(values, np.float64)))
    residual = values - np.mean(values) - own * centred
    error = float(np.sqrt(residual @ residual / (len(x) - 2) / spread))
    kept = draws[~np.isnan(draws).any(axis=1)]
    drawn = slope(kept) + error * rng.standard_t(len(x) - 2, len(kept))
    low, high = np.quantile(drawn, [0.025, 0.975])
    if low <= 0:
        return Forecast(more, 0.0, 0.0, 0.0, _BENT if (np.diff(values) > 0).all() else _NOISE)
    step = float(np.log(1 + more / labels[-1]))
    room = 1.0 - float(values[-1])
    gain, least, most = (min(max(float(end), 0.0) * step, room) for end in (own, low, high))
    return Forecast(more, gain, least, most)

"""What people's decisions say of the labels that they did not look at: the probabilities, recalibrated by what was found.

Of a label that looked wrong with probability p, people find it wrong with σ(a + b logit p) (logistic recalibration: Cox, *Biometrika* 45,
1958). Two explanations of what they found are weighed, by how likely each makes it: the probabilities hold but for a little, or they are
far off, as where errors gather on hard rows, where labels were given by a rule, or where a matter of taste looks like errors. While few
labels were looked at the first holds; the second takes over where people find far more, or far fewer, than was estimated.

People look down the ranking, so that b is learnt among labels that look wrong. Whether a b below 1 goes on far below them, where nearly
all rows are, nobody has seen: it is believed as much as that from there on the models' odds are only shifted.

The constants below were chosen on 71 sets of texts with planted errors (`benchmarks/decisions.py --seeds 1,2`). On other draws of them,
after 30 labels down the ranking, the interval of the others' number holds in 56 of 69 sets, in 49 where only the share that is left is
taken of the interval of all; of 8 others (descriptions of programs, definitions), after a whole list, in 6 of the 7 that have a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtri

from cartograph.data.arrays import Bools, Floats, Integers

_OFFSETS, _LOG_SLOPES = np.linspace(-7.0, 7.0, 113), np.linspace(-2.0, 1.2, 49)
_HOLD, _OFF, _RARE = (0.6, 0.0, 0.3), (2.0, -0.2, 0.5), 0.05
"""Of both explanations: the offset's spread, mean and spread of the slope's logarithm; and how likely the second is at first."""

_ANCHORS = 0.7
"""How much of the interval's width before anyone looked comes from what decisions do not show: how often surest rows are mislabelled."""

_GOES_ON, _BELOW = 0.5, 1.0
"""How likely a slope below 1 goes on below the labels that people looked at, and from how far below the least likely of them (log odds) it
else does not."""

_LEAST, _STEP, _NEGLIGIBLE = 1e-9, 0.05, 1e-6
_FACTORS, _DRAWS = ndtri((np.arange(15) + 0.5) / 15), ndtri((np.arange(7) + 0.5) / 7)
_REFUTED = 0.5
"""Share of the most that can be wrong from which on what people found shows that it is no bound: models learnt the errors, as those of a
rule."""


class Estimate(NamedTuple):
    """How many labels are wrong, before anyone looked: the number, its interval if errors do not gather on hard rows, and at most."""

    expected: float
    low: float
    scattered: float
    most: float


@dataclass(frozen=True)
class Recalibration:
    """Which offsets and slopes of the log odds are how likely, given what people found.

    Attributes:
        offsets, slopes: (n_cells,).
        holds, off: (n_cells,) their probabilities where the probabilities hold, and where they are far off; together they sum to 1.
        least: log odds of the least likely label that they looked at, before anyone looked.
    """

    offsets: Floats
    slopes: Floats
    holds: Floats
    off: Floats
    least: float

    def probability(self, given: Floats) -> Floats:
        """Return the probability that each label is wrong, ``(n,)``, at the mean offset and slope, from that before anyone looked."""
        likely = self.holds + self.off
        found: Floats = expit(float(likely @ self.offsets) + float(likely @ self.slopes) * _log_odds(given))
        return found

    def number(self, others: Floats, before: Estimate, found: int) -> tuple[float, float, float]:
        """Return how many labels of rows that nobody looked at are wrong: the median, and an interval that is meant for 95 %.

        That errors gather on hard rows, which nobody looked at, is not in it (``gathered``).

        Args:
            others: probability that each of their labels is wrong, ``(n_others,)``, before anyone looked.
            before: how many of all labels are wrong, before anyone looked.
            found: how many people found to be wrong.
        """
        if not len(others):
            return 0.0, 0.0, 0.0
        odds, counted = np.unique(np.round(_log_odds(others) / _STEP), return_counts=True)
        above = np.log(before.scattered / before.expected) / ndtri(0.975)
        least = max(before.low, 0.02 * before.expected)
        below = np.log(before.expected / least) / ndtri(0.975)
        factors = np.append(np.exp(_ANCHORS * _FACTORS * np.where(_FACTORS < 0, below, above)), 1.0)
        numbers = np.stack([self._drawn(odds * _STEP, counted, start) for start in (-np.inf, self.least - _BELOW)])[..., None] * factors
        weights = np.zeros_like(numbers)
        weights[..., :-1] = (self.holds / (len(_DRAWS) * (len(factors) - 1)))[:, None, None]
        weights[..., -1] = (self.off / len(_DRAWS))[:, None]
        weights *= np.array([_GOES_ON, 1.0 - _GOES_ON])[:, None, None, None]
        most = float(len(others))
        if found < _REFUTED * before.most:
            most = min(most, before.most - found)
        possible = numbers <= most
        if not weights[possible].sum() > 0.0:
            # All that is believed lies above the bound: as many as that, or as many as before anyone looked.
            return most, float(np.clip(before.expected - found, 0.0, most)), most
        numbers = np.maximum(numbers, 0.0)
        low, middle, high = _quantiles(numbers[possible], weights[possible], (0.025, 0.5, 0.975))
        return middle, low, high

    def _drawn(self, odds: Floats, counted: Integers, start: float) -> Floats:
        """Return draws of how many labels are wrong, ``(n_cells, n_draws)``, if slopes below 1 go on down to the log odds ``start``."""
        slopes = self.slopes[:, None]
        passed = np.minimum(odds - start, 0.0) if np.isfinite(start) else np.zeros_like(odds)
        chance = expit(self.offsets[:, None] + slopes * (odds - passed) + np.maximum(slopes, 1.0) * passed)
        mean, spread = chance @ counted, np.sqrt((chance * (1.0 - chance)) @ counted)
        drawn: Floats = mean[:, None] + spread[:, None] * _DRAWS
        return drawn


def recalibrate(probability: Floats, wrong: Bools) -> Recalibration:
    """Return how the probabilities are to be read, after people looked at some labels.

    Args:
        probability: that each label that they looked at is wrong, ``(n_looked_at,)``, before they looked.
        wrong: whether they found it so, ``(n_looked_at,)``.

    >>> surely = np.full(20, 0.9)
    >>> [round(float(recalibrate(surely, np.arange(20) < found).probability(surely[:1])[0]), 2) for found in (18, 0)]
    [0.91, 0.04]
    """
    offsets, log_slopes = (grid.ravel() for grid in np.meshgrid(_OFFSETS, _LOG_SLOPES, indexing="ij"))
    slopes = np.exp(log_slopes)
    odds, place = np.unique(np.round(_log_odds(probability) / _STEP), return_inverse=True)
    changed, asked = np.bincount(place, wrong, len(odds)), np.bincount(place, minlength=len(odds))
    eta = offsets[:, None] + slopes[:, None] * (odds * _STEP)
    fit = eta @ changed - np.logaddexp(0.0, eta) @ asked
    fit = np.exp(fit - fit.max())
    holds, off = (_prior(offsets, log_slopes, *spread) * fit for spread in (_HOLD, _OFF))
    holds, off = (1.0 - _RARE) * holds, _RARE * off
    total = (holds + off).sum()
    kept = np.flatnonzero(holds + off > _NEGLIGIBLE * total)
    total = (holds + off)[kept].sum()
    return Recalibration(offsets[kept], slopes[kept], holds[kept] / total, off[kept] / total, float(odds[0] * _STEP))


def no_surer(probability: Floats, rows: Integers, wrong: Bools) -> Floats:
    """Return how likely each label is wrong, for changes that no person makes: by models or by what people found, whichever is less.

    Args:
        probability: that each label is wrong, ``(n_examples,)``, before anyone looked.
        rows: places of the rows that people looked at, ``(n_looked_at,)``.
        wrong: whether they found their labels wrong, ``(n_looked_at,)``.
    """
    if not len(rows):
        return probability
    found: Floats = np.minimum(probability, recalibrate(probability[rows], wrong).probability(probability))
    return found


def _prior(offsets: Floats, log_slopes: Floats, offset: float, middle: float, slope: float) -> Floats:
    density = np.exp(-((offsets / offset) ** 2 + ((log_slopes - middle) / slope) ** 2) / 2.0)
    shares: Floats = density / density.sum()
    return shares


def _log_odds(probability: Floats) -> Floats:
    odds: Floats = logit(np.clip(probability, _LEAST, 1.0 - _LEAST))
    return odds


def _quantiles(values: Floats, weights: Floats, at: tuple[float, ...]) -> list[float]:
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weights[order])
    return [float(values[order[min(int(np.searchsorted(share, one * share[-1])), len(order) - 1)]]) for one in at]

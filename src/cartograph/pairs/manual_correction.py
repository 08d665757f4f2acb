"""Precision corrected by people's judgements of false positives (sections 3.3 and A.3 of the paper).

A pair that no label calls positive counts as negative, even where the model is right and nobody stated it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Floats
from cartograph.pairs.estimate import NEAR, RANDOM, Sample
from cartograph.pairs.pair_space import Keys
from cartograph.statistics.proportion import wilson_interval

MOST_JUDGED = 50
"""Pairs of either kind that people are asked about, as in the paper."""


def draw_false_positives(
    sample: Sample, score: Floats, threshold: float, rng: np.random.Generator, most: int = MOST_JUDGED
) -> dict[str, Keys]:
    """Return false positives to judge, drawn uniformly: ``near`` and ``random`` -> ascending keys, ``most`` of either at the most.

    Args:
        sample: of the split.
        score: (n,) of its pairs.
        threshold: a pair is held positive from there on.
        rng: of the draw.
        most: how many of either kind.
    """
    drawn = {}
    for name, kind in (("near", NEAR), ("random", RANDOM)):
        above = sample.keys[(sample.kind == kind) & (score >= threshold)]
        drawn[name] = np.sort(rng.permutation(above)[:most])
    return drawn


@dataclass(frozen=True)
class Share:
    """How many of the judged false positives are real ones.

    Attributes:
        judged: how many people judged.
        real: share in [0, 1] of them that are negative; 1 where people judged none.
        low: lower end of its 95 % interval (Wilson 1927).
        high: upper end.
    """

    judged: int
    real: float
    low: float
    high: float


def share_of_real(keys: Sequence[int], judged: Mapping[int, int]) -> Share:
    """Return the share of real false positives among those of some keys that were judged.

    Args:
        keys: the false positives that were drawn.
        judged: key -> 1 if people hold the pair positive, 0 if negative; others, such as skipped pairs, do not count.

    >>> share_of_real([1, 2, 3, 4], {1: 0, 2: 0, 3: 1, 9: 1}).real
    0.6666666666666666
    """
    answers = [judged[key] for key in keys if judged.get(key) in (0, 1)]
    number = len(answers)
    if not number:
        return Share(0, 1.0, 1.0, 1.0)
    real = answers.count(0)
    return Share(number, real / number, *wilson_interval(real, number))


def corrected_precision(true: float, near: float, random: float, real_near: float, real_random: float) -> float:
    """Return the precision with found positives counted as positives: 1 − (p_near · FP_near + p_rand · FP_rand) / (TP + FP).

    At the threshold where a fifth of the *stated* positives is found. Where hidden positives are like stated ones, a fifth of them is found
    there too, so this is the precision at that recall.

    Args:
        true: true positives.
        near: false positives among the near negatives.
        random: those estimated among all others.
        real_near: share of ``near`` that is real.
        real_random: share of ``random`` that is real.

    >>> corrected_precision(10, 20, 10, 0.5, 0.0)
    0.75
    """
    whole = true + near + random
    return float(1 - (real_near * near + real_random * random) / whole) if whole else 0.0


def published_precision(true: float, near: float, random: float, real_near: float, real_random: float) -> float:
    """Return the precision of section A.3 of the paper, with FP = p_near · FP_near + p_rand · FP_rand.

    It leaves the positives that people found out of the true ones, so it is too low where many are hidden.

    Args:
        true: true positives.
        near: false positives among the near negatives.
        random: those estimated among all others.
        real_near: share of ``near`` that is real.
        real_random: share of ``random`` that is real.

    >>> published_precision(10, 20, 10, 0.5, 0.0)
    0.5
    """
    return float(true / (true + real_near * near + real_random * random)) if true else 0.0

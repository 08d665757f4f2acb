"""Average precision over all pairs of a split, estimated from a sample: Mussmann, Jia & Liang 2020, sections 2.2 and A.2.

Positives are few enough to score them all. False positives are counted exactly among the *near* negatives, where most of them are, and
estimated from a uniform sample of the remaining ones, each of which represents (remaining / sampled) pairs. The count is unbiased; average
precision is convex in it and comes out too high where few positives meet large weights (docs/methods/pairs.md has numbers).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Floats, Integers8, Reals
from cartograph.errors import InputError
from cartograph.pairs.candidates import Candidates
from cartograph.pairs.pair_space import Keys, PairSpace, is_among
from cartograph.pairs.task import Task

POSITIVE, NEAR, RANDOM = 0, 1, 2
RECALL = 0.2
# Poisson numbers with mean 1, as often as they occur in 65,536 draws: a look-up is much faster than a draw.
_POISSON = np.searchsorted(np.cumsum(np.exp(-1.0) / np.cumprod([1.0, *range(1, 12)])), (np.arange(65_536) + 0.5) / 65_536).astype(
    np.float64
)


@dataclass(frozen=True)
class Sample:
    """The pairs that represent all pairs of a split.

    Attributes:
        keys: (n,) positives, then near negatives, then random ones.
        kind: (n,) ``POSITIVE``, ``NEAR`` or ``RANDOM``.
        weight: (n,) how many pairs each represents.
        pairs: number of pairs of the split.
    """

    keys: Keys
    kind: Integers8
    weight: Floats
    pairs: int

    @property
    def positives(self) -> int:
        """How many pairs of the split are positive."""
        return int(np.count_nonzero(self.kind == POSITIVE))


def draw_sample(task: Task, split: str, near: Candidates, number: int, rng: np.random.Generator, *, legacy: bool = False) -> Sample:
    """Return the pairs to score for an estimate over all pairs of a split.

    Args:
        task: whose pairs.
        split: of ``SPLITS``.
        near: pairs near each other under the encoder before any training; its negatives are all scored.
        number: how many of the remaining negatives are drawn, uniformly and without replacement.
        rng: of that draw.
        legacy: count a near negative as often as a search found it, as the published numbers do: twice, where each of the two utterances
            is among the other's nearest.

    Raises:
        InputError: the split has no positive pair.
    """
    space: PairSpace = task.space(split)
    positives = task.positives(split)
    if not len(positives):
        raise InputError(
            f"the {split} split has no positive pair among its {space.size:,}, so it has no precision or recall; give it some."
        )
    negative = ~is_among(near.keys, positives)
    near_keys, orders = near.keys[negative], near.orders[negative].astype(np.float64)
    drawn = space.draw(number, np.concatenate([positives, near_keys]), rng)
    near_weight = orders if legacy else np.ones(len(near_keys))
    # Those that are counted twice may be more than there are.
    remaining = max(space.size - len(positives) - near_weight.sum(), 0.0)
    weight = [np.ones(len(positives)), near_weight, np.full(len(drawn), remaining / max(len(drawn), 1))]
    kinds = np.repeat(np.array([POSITIVE, NEAR, RANDOM], np.int8), [len(part) for part in weight])
    return Sample(np.concatenate([positives, near_keys, drawn]), kinds, np.concatenate(weight), space.size)


@dataclass(frozen=True)
class Curve:
    """Precision and recall at every distinct score, from the highest down.

    Attributes:
        score: (n,) thresholds, falling.
        recall: (n,) share of the positives that score as much or more.
        precision: (n,) share of the pairs that score as much or more which are positive.
    """

    score: Floats
    recall: Floats
    precision: Floats

    @property
    def average_precision(self) -> float:
        """Σ (Rᵢ − Rᵢ₋₁) · Pᵢ, in [0, 1]."""
        return float(np.sum(np.diff(self.recall, prepend=0.0) * self.precision))

    def precision_at(self, recall: float = RECALL) -> float:
        """Return the precision at the highest threshold that reaches this recall."""
        return float(self.precision[int(np.argmax(self.recall >= recall - 1e-12))])

    def threshold_at(self, recall: float = RECALL) -> float:
        """Return the highest threshold that reaches this recall."""
        return float(self.score[int(np.argmax(self.recall >= recall - 1e-12))])


def curve(sample: Sample, score: Reals) -> Curve:
    """Return precision and recall over all pairs of the split.

    Args:
        sample: of the split.
        score: (n,) of its pairs; higher = more likely positive. Pairs of one score are taken together.
    """
    positive = sample.kind == POSITIVE
    # Thresholds below the lowest positive's change no recall.
    kept = np.flatnonzero(score >= score[positive].min())
    order = kept[np.argsort(-score[kept], kind="stable")]
    ordered = score[order].astype(np.float64)
    ends = np.flatnonzero(np.diff(ordered, append=-np.inf))
    hits = np.cumsum(np.where(positive[order], sample.weight[order], 0.0))[ends]
    taken = np.cumsum(sample.weight[order])[ends]
    return Curve(ordered[ends], hits / hits[-1], hits / taken)


def bootstrap_scores(
    sample: Sample, space: PairSpace, scores: Iterable[Reals], resamples: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield average precision and P@R20 of each scoring on each draw of the utterances with replacement, ``(resamples, 2)``.

    A pair counts as often as its utterances were drawn: left ones alone where right ones are shared by all splits, both in a symmetric
    space (the vertex bootstrap of Snijders & Borgatti 1999); a random negative besides as often as the sample's own draw gives (a
    Poisson number with mean 1). All scorings see the same draws, so their differences can be taken draw by draw. A draw without a
    positive pair is nan.

    A sample without a false positive above the threshold does not show that all pairs there are positive: P@R20 of a draw has besides those
    drawn as many as Jeffreys' prior of a Poisson rate adds to a count, half a pair on average, of the near and of the sampled negatives
    each; one of the latter represents as many pairs as they do. So an interval at P@R20 = 1 does not end there. Sampled negatives that all
    share the lowest score, such as those that blocking never proposes, are not above.

    Args:
        sample: of the split.
        space: of the split.
        scores: (n,) each.
        resamples: how many draws.
        rng: of the draws.
    """
    left, right = space.pairs(sample.keys)
    left, right = np.searchsorted(space.left, left), np.searchsorted(space.right, right)
    state = rng.bit_generator.state
    for score in scores:
        rng.bit_generator.state = state
        yield _bootstrap(sample, space, left, right, np.asarray(score, np.float64), resamples, rng)


def _bootstrap(
    sample: Sample, space: PairSpace, left: Keys, right: Keys, score: Floats, resamples: int, rng: np.random.Generator
) -> Floats:
    positive = sample.kind == POSITIVE
    # Recall changes at the positives' scores alone: all else is counted by the lowest of them that it reaches.
    thresholds = np.unique(-score[positive])
    kept = np.flatnonzero(-score <= thresholds[-1])
    reached = np.searchsorted(thresholds, -score[kept])
    left, right, is_positive, weight = left[kept], right[kept], positive[kept], sample.weight[kept]
    by_chance = sample.kind == RANDOM
    random, drawn = np.flatnonzero(by_chance), np.flatnonzero(by_chance[kept])
    drawn_place = np.searchsorted(random, kept[drawn])
    # A sample that holds all remaining negatives varies no more than they do.
    partial = len(random) > 0 and bool(sample.weight[random].max() > 1.0)
    draws = np.full((resamples, 2), np.nan)
    highest = random[np.argmax(score[random])] if partial else None
    unseen_weight = sample.weight[highest] if highest is not None and score[highest] > score.min() else 0.0
    for row in range(resamples):
        times = np.bincount(rng.integers(0, len(space.left), len(space.left)), minlength=len(space.left)).astype(np.float64)
        counted = weight * times[left]
        if space.symmetric:
            counted *= times[right]
        if partial:
            counted[drawn] *= _POISSON[rng.integers(0, len(_POISSON), len(random), dtype=np.uint16)[drawn_place]]
        unseen = rng.poisson(rng.gamma(0.5, size=2))
        hits = np.cumsum(np.bincount(reached[is_positive], counted[is_positive], len(thresholds)))
        if hits[-1] <= 0:
            continue
        taken = np.cumsum(np.bincount(reached, counted, len(thresholds)))
        recall, precision = hits / hits[-1], np.divide(hits, taken, out=np.zeros_like(hits), where=taken > 0)
        place = int(np.argmax(recall >= RECALL - 1e-12))
        more = unseen[0] + unseen[1] * unseen_weight
        draws[row] = np.sum(np.diff(recall, prepend=0.0) * precision), hits[place] / (taken[place] + more)
    return draws

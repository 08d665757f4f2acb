"""Test pairs that people are asked about, drawn with known chances, so that a model's test does not rest on what was stated before.

What nobody has stated counts as negative in a sample of all pairs, though some of it is positive. Of those pairs some are drawn, each of
them represents as many as its chance says (Horvitz & Thompson 1952), and people's answers take the place of the assumption.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Floats, Integers, Reals
from cartograph.pairs.estimate import POSITIVE, RANDOM, Sample


@dataclass(frozen=True)
class Questions:
    """Pairs of a sample that people are asked about.

    Attributes:
        rows: (n,) of the sample, none of them positive there; ascending.
        weight: (n,) how many pairs of the split each represents; all of them together about as many as are not known to be positive.
    """

    rows: Integers
    weight: Floats


def draw_questions(sample: Sample, score: Reals, number: int, rng: np.random.Generator) -> Questions:
    """Return pairs to ask about, each drawn with a chance that falls as one over its rank, so each power of ten of ranks has as many.

    Drawn systematically along the ranks (Madow 1949): with a fixed number of pairs and one random start.

    Args:
        sample: of the split.
        score: (n,) of its pairs, by which they are ranked: that of a model which no label has changed, so that one draw serves all rounds.
        number: how many, at most.
        rng: of the draw.
    """
    frame = np.flatnonzero((sample.kind != POSITIVE) & (sample.weight > 0))
    ranked = frame[np.lexsort((sample.keys[frame], -np.asarray(score, np.float64)[frame]))]
    represented = sample.weight[ranked]
    size = represented / (np.cumsum(represented) + max(sample.positives, number))
    chance = np.minimum(size * (number / max(size.sum(), 1e-300)), 1.0)
    while number < len(ranked) and chance.sum() < number - 1e-9 and (chance < 1).any():
        # What certain pairs leave over goes to the others, in their proportion.
        below = chance < 1
        more = np.minimum(chance[below] * (number - np.count_nonzero(~below)) / chance[below].sum(), 1.0)
        if np.allclose(more, chance[below]):
            break
        chance[below] = more
    steps = np.floor(np.cumsum(chance) + rng.random() + 1e-12)
    drawn = np.flatnonzero(np.diff(steps, prepend=0.0) > 0) if number < len(ranked) else np.arange(len(ranked))
    chance = chance if number < len(ranked) else np.ones(len(ranked))
    rows, weight = ranked[drawn], represented[drawn] / chance[drawn]
    order = np.argsort(rows)
    return Questions(rows[order], weight[order])


def answered_sample(sample: Sample, questions: Questions, answers: Mapping[int, int]) -> tuple[Sample, Integers]:
    """Return the sample that answers make, and its rows in the one that was drawn from: known positives, then the pairs answered yes or no.

    Pairs that were skipped are represented by the others.

    Args:
        sample: of the split.
        questions: that were asked.
        answers: key -> 1, 0 or −1; those of other pairs do not count.
    """
    said = np.array([answers.get(key, -1) for key in sample.keys[questions.rows].tolist()], np.int8)
    decided = np.flatnonzero(said >= 0)
    known = np.flatnonzero(sample.kind == POSITIVE)
    rows = np.concatenate([known, questions.rows[decided]])
    share = questions.weight[decided].sum() / max(questions.weight.sum(), 1e-300)
    weight = np.concatenate([np.ones(len(known)), questions.weight[decided] / max(share, 1e-300)])
    kind = np.concatenate([np.full(len(known), POSITIVE, np.int8), np.where(said[decided] == 1, POSITIVE, RANDOM).astype(np.int8)])
    return Sample(sample.keys[rows], kind, weight, sample.pairs), rows

"""What a round needs of a model of pairs, of whatever kind: scores, probabilities, and the pairs worth asking about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cartograph.data.arrays import Floats, Reals
from cartograph.pairs.candidates import Candidates, Kind, nearest
from cartograph.pairs.models.calibration import Calibration
from cartograph.pairs.models.learner import UtteranceVectors
from cartograph.pairs.pair_space import Keys, PairSpace


class Scorer(Protocol):
    """A model of pairs, applied to a task."""

    def score(self, space: PairSpace, keys: Keys) -> Reals:
        """Return (n,) scores of pairs; higher = more likely positive."""

    def probability(self, score: Reals) -> Floats:
        """Return the probability of being positive; it never falls as the score rises."""

    def candidates(self, space: PairSpace) -> Candidates:
        """Return the pairs of a space to choose among, ``similarity`` their score."""


@dataclass(frozen=True)
class CosineScorer:
    """A cosine model: candidates are nearest neighbours under its own vectors.

    Attributes:
        vectors: of all utterances under the model.
        calibration: of its cosines.
        neighbours: candidates per left utterance.
        index: of the search for them.
    """

    vectors: UtteranceVectors
    calibration: Calibration
    neighbours: int
    index: Kind = "auto"

    def score(self, space: PairSpace, keys: Keys) -> Reals:
        """Return the cosine of each pair."""
        return self.vectors.cosine(space, keys)

    def probability(self, score: Reals) -> Floats:
        """Return the calibrated probability of each cosine."""
        return self.calibration.probability(score)

    def candidates(self, space: PairSpace) -> Candidates:
        """Return each left utterance's nearest right ones."""
        return nearest(space, *self.vectors.sides(space), self.neighbours, kind=self.index)

"""A matcher applied to a task's splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from cartograph.data.arrays import Floats, Integers8, Reals
from cartograph.pairs.candidates import Candidates
from cartograph.pairs.comparison import UNTRAINED
from cartograph.pairs.estimate import Sample, bootstrap_scores, curve
from cartograph.pairs.matcher.blocked import Blocked
from cartograph.pairs.matcher.ensemble import FEWEST
from cartograph.pairs.matcher.features import Features
from cartograph.pairs.matcher.fitting import calibrated, fit_matcher
from cartograph.pairs.matcher.learnt import learn_vectors
from cartograph.pairs.matcher.model import Gain, Matcher, probability
from cartograph.pairs.models.learner import Learner, UtteranceVectors
from cartograph.pairs.pair_space import Keys, PairSpace, is_among

_DRAWS, _SURE = 50, 2.0
_LEARNT_NEIGHBOURS = 20


@dataclass
class MatcherTask:
    """The candidates of a task's splits, and their features.

    Attributes:
        blocked: split -> its candidates and the pairs that its evaluation needs.
        make_features: returns the features of the task's pairs; called where a pair is asked for that ``blocked`` does not have.
    """

    blocked: dict[str, Blocked]
    make_features: Callable[[], Features]
    _features: list[Features] = field(default_factory=list)

    def pairs(self, split: str, keys: Keys) -> Blocked:
        """Return a split's pairs, the given ones among them."""
        known = self.blocked[split]
        if not is_among(keys, known.keys).all():
            if not self._features:
                self._features.append(self.make_features())
            self.blocked[split] = known = known.with_pairs(keys, self._features[0])
        return known

    def with_vectors(self, vectors: UtteranceVectors) -> MatcherTask:
        """Return the task with learnt vectors: their nearest pairs are candidates too."""
        if not self._features:
            self._features.append(self.make_features())
        features = self._features[0]
        blocked = {split: pairs.with_vectors(vectors, _LEARNT_NEIGHBOURS, features) for split, pairs in self.blocked.items()}
        return MatcherTask(blocked, lambda: features, [features])

    def split_of(self, space: PairSpace) -> str:
        """Return which split's space that is."""
        return next(
            split
            for split, pairs in self.blocked.items()
            if np.array_equal(pairs.space.left, space.left) and np.array_equal(pairs.space.excluded, space.excluded)
        )

    def calibrated(self, keys: Keys, label: Integers8, prior: str) -> MatcherScorer:
        """Return the matcher that ranks by a label-free score, with the probabilities that labelled pairs of the train split give it.

        Args:
            keys: (n,) of the pairs.
            label: (n,) 1 = positive.
            prior: the label-free score.
        """
        return MatcherScorer(calibrated(self.pairs("train", keys), keys, label, prior), self)

    def fit(self, keys: Keys, label: Integers8, prior: str, seed: int, learner: Learner | None = None) -> MatcherScorer:
        """Return a matcher trained on labelled pairs of the train split.

        Args:
            keys: (n,) of the pairs.
            label: (n,) 1 = positive.
            prior: the label-free score to begin from.
            seed: of everything drawn.
            learner: of vectors, for single texts; None: no vectors are learnt.
        """
        if learner is None or min(np.count_nonzero(label == 1), np.count_nonzero(label != 1)) < FEWEST:
            return MatcherScorer(fit_matcher(self.pairs("train", keys), keys, label, prior, seed), self)
        vectors, held_out = learn_vectors(learner, keys, label, self.blocked["train"].space.width, seed % 2**31)
        own = self.with_vectors(vectors)
        return MatcherScorer(fit_matcher(own.pairs("train", keys), keys, label, prior, seed, held_out), own)

    def better(self, fitted: MatcherScorer, keys: Keys, label: Integers8, prior: str, seed: int, sample: Sample) -> MatcherScorer:
        """Return a matcher with learnt vectors, or the one that the same labels make without them, if it is better on the dev split.

        Learnt vectors find questions that ask the same in other words; of names, and of WikiQA's answers, they mostly add look-alikes.

        Args:
            fitted: what ``fit`` returned for the next four.
            keys: (n,) of the pairs.
            label: (n,) 1 = positive.
            prior: the label-free score to begin from.
            seed: of everything drawn.
            sample: of the dev split.
        """
        if fitted.task is self:
            return fitted
        space, both = self.blocked["dev"].space, (self.fit(keys, label, prior, seed), fitted)
        return max(both, key=lambda one: curve(sample, one.score(space, sample.keys)).average_precision)


@dataclass(frozen=True)
class MatcherScorer:
    """A matcher as ``Scorer``; it scores all pairs of a split at once, and keeps the scores."""

    matcher: Matcher
    task: MatcherTask
    _known: dict[str, tuple[Blocked, Floats]] = field(default_factory=dict)

    def _scores(self, split: str, pairs: Blocked) -> Floats:
        known = self._known.get(split)
        if known is None or known[0] is not pairs:
            known = self._known[split] = (pairs, self.matcher.score(pairs))
        return known[1]

    def score(self, space: PairSpace, keys: Keys) -> Reals:
        """Return the calibrated log odds of each pair."""
        split = self.task.split_of(space)
        pairs = self.task.pairs(split, keys)
        return self._scores(split, pairs)[pairs.places(keys)]

    def probability(self, score: Reals) -> Floats:
        """Return the probability of each score."""
        return probability(score)

    def candidates(self, space: PairSpace) -> Candidates:
        """Return the pairs that blocking proposes and that belong to the split."""
        split = self.task.split_of(space)
        pairs = self.task.blocked[split]
        kept = pairs.blocked & ~is_among(pairs.keys, space.excluded)
        score = self._scores(split, pairs)[kept].astype(np.float32)
        return Candidates(pairs.keys[kept], score, np.ones(len(score), np.int8))


def choose(
    scores: Mapping[str, Reals], space: PairSpace, sample: Sample, gain: Gain | None = None, *, partly_stated: bool = False
) -> tuple[str, dict[str, float]]:
    """Return which matcher a round ends with, by average precision on the dev split, and that of each.

    A trained one takes the place of the untrained one where it is better by more than one standard error of the paired difference (50 draws
    of the utterances with replacement), so that chance on dev does not; or where it is not worse by as much, and ranks the answers that it
    has not seen better than the label-free score does, by more than two standard errors. Of several trained ones the best stays.

    Where most positives of dev are stated by nobody, they count as negatives, and those that are stated were the easiest to find. There, a
    new matcher that ranks the answers better than the label-free score does, by more than one standard error, is taken.

    Args:
        scores: ``untrained`` and the names of trained ones -> (n,) scores of the sample's pairs; ``earlier`` is one that was taken before.
        space: of the dev split.
        sample: of the dev split.
        gain: of the new matcher on the answers.
        partly_stated: whether most of dev's positives may be stated by nobody.
    """
    found = {name: curve(sample, score).average_precision for name, score in scores.items()}
    if partly_stated and gain is not None and gain.value > gain.error:
        return "new", found
    best = max((name for name in found if name != UNTRAINED), key=lambda name: found[name])
    if "earlier" in found and not partly_stated:
        return best, found
    both = [scores[best], scores[UNTRAINED]]
    draws = [drawn[:, 0] for drawn in bootstrap_scores(sample, space, both, _DRAWS, np.random.default_rng(0))]
    ahead, error = found[best] - found[UNTRAINED], np.nanstd(draws[0] - draws[1])
    sure = gain is not None and not partly_stated and gain.value > _SURE * gain.error
    return best if ahead > error or (sure and ahead > -error) else UNTRAINED, found

"""Extremely randomised trees and boosted trees over a pair's features, averaged, with the label-free score that they begin from.

Randomised trees (Geurts, Ernst & Wehenkel 2006) rank well from a few dozen labels on, boosted ones (Friedman 2001) from a few hundred on;
the mean of their log odds was ahead of either on the tasks that this was tuned on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Array, Floats, Floats32, Integers8
from cartograph.features.tree_arrays import Trees

FEWEST = 3
"""Fewest labels of either class that trees are fitted on."""

_FOREST, _BOOSTED, _RATE = 200, 150, 0.06
_LEAST = 1e-3
_PRIOR_LABELS, _PRIOR_SLOPE = 80.0, 10.0


def label_free_odds(prior: Floats) -> Floats:
    """Return the log odds that a label-free score in [0, 1] is taken for before labels say what it means: a guess."""
    odds: Floats = _PRIOR_SLOPE * (prior - 0.5)
    return odds


@dataclass(frozen=True)
class Ensemble:
    """Fitted trees.

    Attributes:
        forest: their values are shares of positives over the number of trees.
        boosted: their values are log odds.
        start: log odds that the boosted trees begin from.
        trust: in (0, 1), the weight of the trees beside the label-free score; it rises with the labels.
    """

    forest: Trees
    boosted: Trees
    start: float
    trust: float

    def log_odds(self, table: Floats32, prior: Floats) -> Floats:
        """Return (n_pairs,) log odds of being positive, not yet calibrated; higher = more likely.

        Args:
            table: (n_pairs, n_features).
            prior: (n_pairs,) label-free score in [0, 1].
        """
        share = np.clip(self.forest.total(table), _LEAST, 1 - _LEAST)
        boosted = np.clip(self.boosted.total(table) + self.start, np.log(_LEAST), -np.log(_LEAST))
        trained = (np.log(share / (1 - share)) + boosted) / 2
        odds: Floats = self.trust * trained + (1 - self.trust) * label_free_odds(prior)
        return odds

    def arrays(self) -> dict[str, Array]:
        """Return what ``from_arrays`` reads."""
        return {**self.forest.arrays("forest"), **self.boosted.arrays("boosted"), "numbers": np.array([self.start, self.trust])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Ensemble:
        """Return the ensemble that ``arrays`` gave."""
        start, trust = arrays["numbers"].tolist()
        return cls(Trees.from_arrays(arrays, "forest"), Trees.from_arrays(arrays, "boosted"), start, trust)


def fit_ensemble(table: Floats32, label: Integers8, presumed: Floats32, seed: int) -> Ensemble:
    """Fit both kinds of trees.

    Args:
        table: (n_pairs, n_features) of labelled pairs.
        label: (n_pairs,) 1 = positive; ``FEWEST`` of either class at least.
        presumed: (n_presumed, n_features) of unlabelled pairs that are presumed negative, for the randomised trees.
        seed: of their randomness.
    """
    from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier

    whole, target = np.concatenate([table, presumed]), np.concatenate([label == 1, np.zeros(len(presumed), bool)]).astype(np.int64)
    forest = ExtraTreesClassifier(_FOREST, min_samples_leaf=2, random_state=seed, n_jobs=1).fit(whole, target)
    boosted = GradientBoostingClassifier(
        n_estimators=_BOOSTED,
        learning_rate=_RATE,
        max_depth=4,
        subsample=0.7,
        max_features=0.3,
        min_samples_leaf=min(3, len(label) // 4),
        random_state=seed,
    ).fit(table, label == 1)
    shares = [one.tree_.value[:, 0, 1] / one.tree_.value[:, 0, :].sum(axis=1) / _FOREST for one in forest.estimators_]
    steps = [one.tree_.value[:, 0, 0] * _RATE for one in boosted.estimators_[:, 0]]
    positive = float(np.mean(label == 1))
    trust = len(label) / (len(label) + _PRIOR_LABELS)
    return Ensemble(
        Trees.of([one.tree_ for one in forest.estimators_], shares),
        Trees.of([one.tree_ for one in boosted.estimators_[:, 0]], steps),
        float(np.log(positive / (1 - positive))),
        trust,
    )

"""A classifier that knows label errors by their place on the map: learnt on planted flips, applied to the original rows.

Source: Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), §5: a logistic classifier of one feature, the confidence of the model
retrained on flipped labels, fitted on as many flipped as clean rows and tested on a second such sample. Applied to the
original map it names the suspects. ``detection`` fits the same classifier to several measures, and compares.

Cost: six fits of O(n_flips · n_features) each, and one pass over all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Bools, Floats, Ids, Integers, Integers32, Reals, Texts
from cartograph.errors import InputError
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.flips import balanced_samples
from cartograph.suspects.label_doubt import suggested_labels

Measures = Mapping[str, Reals]

_PARTS = 5


@dataclass(frozen=True)
class Detector:
    """A logistic classifier of planted flips.

    Attributes:
        features: names of the measures that it reads.
        centre, scale: mean and standard deviation of each in the sample that it was fitted on; a constant's scale is 1.
        weights: of the standardised measures; the sign says which end is suspect.
        bias: log odds at the centre.
        f1: on a second balanced sample, in [0, 1] (the paper: 1.00 for confidence, .70 for variability).
        average_precision: cross-validated, of ranking all rows of the noised map, in (0, 1].
        tested_on: rows of the second sample.
    """

    features: tuple[str, ...]
    centre: Floats
    scale: Floats
    weights: Floats
    bias: float
    f1: float
    average_precision: float
    tested_on: int

    def probability(self, measures: Measures) -> Floats:
        """Return the probability that a row's label is wrong, ``(n_examples,)``, on the scale of a balanced sample; flagged is ≥ ½.

        Raises:
            InputError: a measure is missing, or not finite.
        """
        return _sigmoid(self.contributions(measures).sum(axis=1) + self.bias)

    def contributions(self, measures: Measures) -> Floats:
        """Return what each measure adds to the log odds, ``(n_examples, n_features)``: the largest is the reason for a suspicion.

        Raises:
            InputError: as ``probability``.
        """
        return (_matrix(measures, self.features) - self.centre) / self.scale * self.weights


@dataclass(frozen=True)
class Suspects:
    """The verdict on the original rows, each of shape ``(n_examples,)``.

    Attributes:
        probability: that the label is wrong, in [0, 1].
        flagged: probability ≥ ½.
        suggested: the most probable other class.
        rank: 1 = most suspect; equal probabilities in the order of the rows.
        reason: name of the measure that speaks most for an error.
    """

    probability: Floats
    flagged: Bools
    suggested: Integers32
    rank: Integers
    reason: Texts


def fit_detector(measures: Measures, features: Sequence[str], planted: Bools, rng: np.random.Generator) -> Detector:
    """Fit a logistic classifier of planted flips on one balanced sample; test it on a second.

    Args:
        measures: columns of the map after retraining on the flipped labels, each ``(n_examples,)``.
        features: names of those to use; ``("confidence",)`` is the paper's.
        planted: which rows were flipped, ``(n_examples,)``.
        rng: draws the samples and the parts of the cross-validation; detectors given equal generators can be compared.

    Raises:
        InputError: a measure is missing or not finite, or there are too few flips.
    """
    from sklearn.metrics import f1_score

    table = _matrix(measures, features)
    if len(table) != len(planted):
        raise InputError(
            f"there are {len(table):,} rows of measures and {len(planted):,} marks of what was planted; both must be of the same rows."
        )
    train, test = balanced_samples(planted, rng)
    centre, scale, weights, bias = _fit(table[train], planted[train])
    predicted = _odds(table[test], centre, scale, weights, bias) >= 0
    f1 = float(f1_score(planted[test], predicted, zero_division=0.0))
    precision = average_precision(planted, _cross_validated(table, planted, rng))
    return Detector(tuple(features), centre, scale, weights, bias, f1, precision, len(test))


def apply_detector(detector: Detector, measures: Measures, probabilities: Reals, labels: Ids) -> Suspects:
    """Return the verdict on the original rows from their original measures (§5).

    Args:
        detector: fitted after retraining on flipped labels.
        measures: columns of the original map, each ``(n_examples,)``.
        probabilities: mean predicted probabilities, ``(n_examples, n_classes)``, best out of fold, for the suggestion.
        labels: given label ids, ``(n_examples,)``.

    Raises:
        InputError: a measure is missing or not finite, or shapes do not fit.
    """
    parts = detector.contributions(measures)
    suggested = suggested_labels(probabilities, labels)
    if len(parts) != len(labels):
        raise InputError(f"there are {len(parts):,} rows of measures and {len(labels):,} labels; both must be of the same rows.")
    odds = parts.sum(axis=1) + detector.bias
    # Odds rather than probabilities: these may round to 1 for many rows.
    rank = np.empty(len(odds), dtype=np.int64)
    rank[np.argsort(-odds, kind="stable")] = np.arange(1, len(odds) + 1)
    return Suspects(_sigmoid(odds), odds >= 0, suggested, rank, np.array(detector.features)[parts.argmax(axis=1)])


def _fit(table: Floats, planted: Bools) -> tuple[Floats, Floats, Floats, float]:
    from sklearn.linear_model import LogisticRegression

    centre, scale = table.mean(axis=0), table.std(axis=0)
    scale[scale <= 1e-12 * np.maximum(1.0, np.abs(centre))] = 1.0
    model = LogisticRegression(max_iter=1000).fit((table - centre) / scale, planted)
    return centre, scale, model.coef_[0], float(model.intercept_[0])


def _odds(table: Floats, centre: Floats, scale: Floats, weights: Floats, bias: float) -> Floats:
    odds: Floats = ((table - centre) / scale * weights).sum(axis=1) + bias
    return odds


def _cross_validated(table: Floats, planted: Bools, rng: np.random.Generator) -> Floats:
    """Return each row's log odds by a detector fitted on the other parts: their flips, and as many of their clean rows."""
    parts = min(_PARTS, int(planted.sum()))
    order = rng.permutation(len(planted))
    order = order[np.argsort(planted[order], kind="stable")]
    part = np.empty(len(planted), dtype=np.intp)
    part[order] = np.arange(len(planted)) % parts
    scores = np.empty(len(planted))
    for held_out in range(parts):
        flipped, clean = np.flatnonzero((part != held_out) & planted), np.flatnonzero((part != held_out) & ~planted)
        sample = np.sort(np.concatenate([flipped, rng.choice(clean, min(len(flipped), len(clean)), replace=False)]))
        scores[part == held_out] = _odds(table[part == held_out], *_fit(table[sample], planted[sample]))
    return scores


def _matrix(measures: Measures, features: Sequence[str]) -> Floats:
    if not features:
        raise InputError("a detector needs at least one measure; name some, such as confidence.")
    for name in features:
        if name not in measures:
            raise InputError(f"the measure {name!r} is not in the table; it has {', '.join(measures)}.")
        bad = ~np.isfinite(np.asarray(measures[name], dtype=np.float64))
        if bad.any():
            row = int(bad.argmax())
            raise InputError(
                f"the measure {name!r} has the value {measures[name][row]} in row {row + 1} ({int(bad.sum()):,} such rows), where a finite "
                "number is needed; leave that measure out, or fill it in."
            )
        if len(bad) != len(measures[features[0]]):
            raise InputError(
                f"the measure {name!r} has {len(bad):,} rows and {features[0]!r} has {len(measures[features[0]]):,}; give each one a row."
            )
    return np.stack([np.asarray(measures[name], dtype=np.float64) for name in features], axis=1)


def _sigmoid(odds: Floats) -> Floats:
    # 1 / (1 + e^-x) in the form that overflows on neither side.
    probability: Floats = 0.5 * (1.0 + np.tanh(odds / 2.0))
    return probability

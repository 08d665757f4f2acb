"""A matcher from labels: trees, calibrated on labels that they have not seen."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Bools, Floats, Floats32, Integers, Integers8
from cartograph.pairs.matcher.blocked import Blocked
from cartograph.pairs.matcher.ensemble import FEWEST, Ensemble, fit_ensemble, label_free_odds
from cartograph.pairs.matcher.model import Gain, Matcher, probability
from cartograph.pairs.models.calibration import calibrate
from cartograph.pairs.pair_space import Keys
from cartograph.statistics.rank_area import rank_area

_FOLDS, _DRAWS = 3, 200
_TOP_SHARE = 0.1
_STEEPEST = 2.0
_COSINE_SCALE, _RIDGE = 10.0, 0.5


def fit_matcher(pairs: Blocked, keys: Keys, label: Integers8, prior: str, seed: int, held_out_cosine: Floats | None = None) -> Matcher:
    """Return a matcher trained on labels; one that no trees are fitted for where either class has fewer than ``FEWEST``.

    Trees are calibrated by a logistic regression on the log odds that trees fitted without a third of the labels give that third. As many
    unlabelled candidates as there are labels, drawn from the nine tenths that are least alike, are presumed negative.

    Args:
        pairs: the train split's candidates, and the labelled pairs.
        keys: (n,) of the labelled pairs.
        label: (n,) 1 = positive.
        prior: the label-free score to begin from.
        seed: of everything drawn.
        held_out_cosine: (n,) cosine of each labelled pair under vectors that were learnt without its fold; None where ``pairs`` has no
            learnt vectors. Its weight beside the trees is fitted with the calibration.
    """
    if _too_few(label):
        return Matcher(prior)
    rng = np.random.default_rng(seed)
    names, table = pairs.whole
    places, score = pairs.places(keys), pairs.scores[prior]
    presumed = table[_presumed_negative(pairs, places, rng)]
    held_out = np.empty(len(keys))
    for fold in folds(label, seed % 2**31):
        kept = np.setdiff1d(np.arange(len(keys)), fold)
        held_out[fold] = _fit(table[places[kept]], label[kept], presumed, seed).log_odds(table[places[fold]], score[places[fold]])
    learnt, cosine = 0.0, np.zeros(len(keys)) if held_out_cosine is None else held_out_cosine
    if held_out_cosine is None:
        slope, intercept = _calibration(held_out, label)
    else:
        slope, learnt, intercept = _stacked(held_out, held_out_cosine, label)
    gain = _gain(slope * held_out + learnt * cosine, score[places], label == 1, rng)
    return Matcher(prior, names, _fit(table[places], label, presumed, seed), slope, intercept, learnt, gain)


def calibrated(pairs: Blocked, keys: Keys, label: Integers8, prior: str) -> Matcher:
    """Return the matcher that ranks by a label-free score alone, with the probabilities that labels give it.

    Its ranking is that of the score. Where either class has fewer than ``FEWEST`` labels, its probabilities are a guess.

    Args:
        pairs: the train split's candidates, and the labelled pairs.
        keys: (n,) of the labelled pairs.
        label: (n,) 1 = positive.
        prior: the label-free score.
    """
    if _too_few(label):
        return Matcher(prior)
    slope, intercept = _smoothed(label_free_odds(pairs.scores[prior][pairs.places(keys)]), label)
    return Matcher(prior, slope=slope, intercept=intercept)


def _smoothed(raw: Floats, label: Integers8) -> tuple[float, float]:
    """Return slope and intercept of log odds over raw ones by Platt's (1999) regression.

    Its targets are those of one more label of either kind, so that labels which the score parts without a mistake give no certainty.
    """
    from scipy.optimize import minimize

    positive = label == 1
    n_positive = int(np.count_nonzero(positive))
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (len(label) - n_positive + 2))
    centre, scale = float(raw.mean()), max(float(raw.std()), 1e-6)
    table = np.stack([(raw - centre) / scale, np.ones(len(raw))], axis=1)

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = table @ weights
        return float(np.sum(np.logaddexp(0.0, odds) - target * odds)), table.T @ (probability(odds) - target)

    found = minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B", bounds=[(1e-3, None), (None, None)]).x
    slope = float(found[0]) / scale
    return slope, float(found[1]) - slope * centre


def _too_few(label: Integers8) -> bool:
    return bool(min(np.count_nonzero(label == 1), np.count_nonzero(label != 1)) < FEWEST)


def _gain(score: Floats, prior: Floats, positive: Bools, rng: np.random.Generator) -> Gain:
    """Return how much better one score ranks the positives than the other."""
    draws = np.full(_DRAWS, np.nan)
    for draw in range(_DRAWS):
        rows = rng.integers(0, len(score), len(score))
        if positive[rows].any() and not positive[rows].all():
            draws[draw] = rank_area(score[rows], positive[rows]) - rank_area(prior[rows], positive[rows])
    return Gain(rank_area(score, positive) - rank_area(prior, positive), float(np.nanstd(draws)))


def _fit(table: Floats32, label: Integers8, presumed: Floats32, seed: int) -> Ensemble:
    return fit_ensemble(table, label, presumed, seed % 2**31)


def _presumed_negative(pairs: Blocked, labelled: Integers, rng: np.random.Generator) -> Integers:
    candidates = np.flatnonzero(pairs.blocked)
    order = candidates[np.argsort(-next(iter(pairs.scores.values()))[candidates], kind="stable")]
    far = np.setdiff1d(order[int(_TOP_SHARE * len(order)) :], labelled)
    drawn: Integers = rng.permutation(far)[: len(labelled)]
    return drawn


def folds(label: Integers8, seed: int) -> list[Integers]:
    """Return the rows of each fold, drawn; each has its share of either class."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(label))
    order = order[np.argsort(label[order] == 1, kind="stable")]
    return [order[start::_FOLDS] for start in range(_FOLDS)]


def _calibration(raw: Floats, label: Integers8) -> tuple[float, float]:
    """Return slope and intercept of log odds over raw ones; as many positives are expected among the labels as there are."""
    from scipy.optimize import brentq

    fitted = calibrate(raw, label)
    # A few labels that trees part without a mistake say little of how sure to be.
    slope = min(fitted.w / fitted.deviation, _STEEPEST)
    positive = np.count_nonzero(label == 1)
    furthest = slope * float(np.abs(raw).max()) + 50.0
    intercept = brentq(lambda b: float(probability(slope * raw + b).sum()) - positive, -furthest, furthest)
    return slope, float(intercept)


def _stacked(raw: Floats, cosine: Floats, label: Integers8) -> tuple[float, float, float]:
    """Return the weights of the trees' log odds and of the learnt cosine, neither negative, and the intercept."""
    from scipy.optimize import minimize

    table, target = np.stack([raw, _COSINE_SCALE * cosine, np.ones(len(raw))], axis=1), (label == 1).astype(np.float64)

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = table @ weights
        value = float(np.sum(np.logaddexp(0.0, odds) - target * odds) + _RIDGE * weights[:2] @ weights[:2])
        return value, table.T @ (probability(odds) - target) + 2 * _RIDGE * weights * np.array([1.0, 1.0, 0.0])

    bounds = [(1e-3, _STEEPEST), (1e-6, _STEEPEST), (None, None)]
    found = minimize(loss, np.array([0.5, 0.5, 0.0]), jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(found[0]), float(_COSINE_SCALE * found[1]), float(found[2])

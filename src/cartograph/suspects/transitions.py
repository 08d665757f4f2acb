"""How often a row of each true class is labelled as each class, estimated from the rows that a classifier is surest about.

Each row's count of labels is small, and rows that are hard rather than mislabelled count too. So the counts are held to even errors at the
overall rate, by as many *pseudo-rows* as the labels bear out: for five strengths, from hardly held to even, the labels' likelihood through
the noise (``through_noise``) times a prior is their weight, and the transition is the weighted mean (empirical Bayes). Where errors go one
way, the counts themselves are far likelier; where they are even, hard rows no longer pass for a habit of the annotators. Beforehand each
strength is twice as likely as the one before: five rows of a rare class, two of them with another label, are no habit either. Where classes
are uneven it is up to ``RARE`` times that: the surest rows of a rare class are few and hardly sure, those of a frequent one nearly certain,
so that the rare class seems to be missed often even where the frequent one passes for it. (52 tables: errors near the boundary of a rare
class are ranked by an average precision of .69 in place of .62. Where a fifth or half of a rare class itself was missed, it is .38 in
place of .44, .33 without any transition. Of several labels a row, of which any may be missed, it is not done.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cartograph.data.arrays import Floats, Integers
from cartograph.statistics.proportion import wilson_interval
from cartograph.suspects.through_noise import sharpen

LEAST = 0.002
"""Least rate of wrong labels."""

STRENGTHS = (1.0, 3.0, 10.0, 30.0, np.inf)
"""How many times as many pseudo-rows are tried."""

SHARES = (0.2, 0.3, 0.45, 0.6)
"""Of the rows predicted as a class, that are tried."""

_ENOUGH, EXPECTED = 40, 3.0
"""Anchors of a class from which on its surest quarter is looked at by itself; and how many times as often as the models expect anchors may
be contradicted for that to be hard rows: of sets whose labels are all right it is .8 to 2.7 times, of planted errors 3.4 to 13, even where
the surest rows show few of them."""

RARE, _STEEP = 5.0, 8.0
"""Most times that each stronger hold is likelier than where classes are even, and the power of their unevenness by which it becomes so."""


def anchor_share(probabilities: Floats, least: float) -> float:
    """Return the share of the rows predicted as a class, the surest first, that T is read off: more than the least where that helps.

    Few rows show how often labels go wrong with an error of their own, more rows are less sure: by how much, the classifier says itself. Of
    569 tissue samples, 48 of them labelled wrongly, 103 anchors contradicted 4 to 9 %, and 4 to 49 suspects were listed, by the draw.

    Args:
        probabilities: out-of-sample, ``(n_examples, n_classes)``.
        least: the least share, in (0, 1].
    """
    unsure = np.sort(1.0 - probabilities.max(axis=1))
    mean = np.cumsum(unsure) / np.arange(1, len(unsure) + 1)

    def error(share: float) -> float:
        number = max(int(np.ceil(share * len(unsure))), 1)
        rate, first = mean[number - 1], mean[max(int(np.ceil(least * len(unsure))), 1) - 1]
        return float((rate - first) ** 2 + rate * (1.0 - rate) / number)

    return min((least, *(share for share in SHARES if share > least)), key=error)


def anchor_counts(probabilities: Floats, given: Integers, share: float) -> Floats:
    """Return how often the surest rows of each predicted class have each label, ``(n_classes, n_classes)``.

    Args:
        probabilities: out-of-sample, ``(n_examples, n_classes)``.
        given: label ids, ``(n_examples,)``.
        share: of the rows predicted as a class, in (0, 1].
    """
    n_classes = probabilities.shape[1]
    predicted = probabilities.argmax(axis=1)
    counts = np.zeros((n_classes, n_classes))
    for label in np.unique(predicted):
        rows = np.flatnonzero(predicted == label)
        surest = rows[np.argsort(-probabilities[rows, label], kind="stable")[: int(np.ceil(share * len(rows)))]]
        counts[label] = np.bincount(given[surest], minlength=n_classes)
    return counts


def calm_anchors(probabilities: Floats, given: Integers, share: float) -> Floats | None:
    """Return how often the surest quarter of the anchors has each label, ``(n_classes, n_classes)``, where the others may be hard rows.

    Wrong labels contradict the surest rows as often as less sure ones, and more often than the models expect to be contradicted; hard rows
    do so about as often as they expect. So the quarter counts where it is contradicted clearly less often than all, and all are at most
    ``EXPECTED`` times as often as by the models' own probabilities; None elsewhere. A quarter of each class of which there are enough
    anchors, and of the others together: among many classes some are surer throughout.

    Args:
        probabilities: out-of-sample, ``(n_examples, n_classes)``.
        given: label ids, ``(n_examples,)``.
        share: of the rows predicted as a class that are anchors, in (0, 1].
    """
    predicted, highest = probabilities.argmax(axis=1), probabilities.max(axis=1)
    alone: list[Integers] = []
    together: list[Integers] = []
    for label in np.unique(predicted):
        rows = np.flatnonzero(predicted == label)
        surest = rows[np.argsort(-highest[rows], kind="stable")[: int(np.ceil(share * len(rows)))]]
        (alone if len(surest) >= _ENOUGH else together).append(surest)
    parts = [*alone, *([np.concatenate(together)] if together else [])]
    chosen, every = np.concatenate([_surest_quarter(part, highest) for part in parts]), np.concatenate(parts)
    wrong, contradicted = (int(np.count_nonzero(predicted[rows] != given[rows])) for rows in (chosen, every))
    expected = float((1.0 - highest[every]).sum())
    if contradicted > EXPECTED * expected or wilson_interval(wrong, len(chosen))[1] >= contradicted / len(every):
        return None
    counts = np.zeros((probabilities.shape[1],) * 2)
    np.add.at(counts, (predicted[chosen], given[chosen]), 1.0)
    return counts


def _surest_quarter(rows: Integers, highest: Floats) -> Integers:
    """Return the surest quarter of some rows, and those that are as sure as its last one: which of them stands first says nothing."""
    sure = np.sort(highest[rows])[::-1]
    kept: Integers = rows[highest[rows] >= sure[max(len(rows) // 4, 1) - 1]]
    return kept


def contradicting(anchors: Floats) -> tuple[float, float]:
    """Return how many anchors have another label than the predicted one, and how many there are."""
    total = float(anchors.sum())
    return total - float(np.trace(anchors)), total


def counted_transition(anchors: Floats, pseudo_rows: float) -> Floats:
    """Return the share of each predicted class that has each label, so many rows of even errors added; rows sum to 1."""
    wrong, total = contradicting(anchors)
    even = even_transition(len(anchors), max(wrong / total, LEAST))
    if np.isinf(pseudo_rows):
        return even
    estimated: Floats = (anchors + pseudo_rows * even) / (anchors.sum(axis=1, keepdims=True) + pseudo_rows)
    return estimated


def likely_transition(probabilities: Floats, given: Integers, anchors: Floats, pseudo_rows: float, *, missed: bool = False) -> Floats:
    """Return T[y, z], the share of the rows of true class y that are labelled z, ``(n_classes, n_classes)``; rows sum to 1.

    The mean over strengths, each weighted as ``strength_weights`` says.

    Cost: five fits of ``sharpen``.

    Args:
        probabilities: out-of-sample, of the given labels, ``(n_examples, n_classes)``.
        given: label ids, ``(n_examples,)``.
        anchors: how often the surest rows of each predicted class have each label, ``(n_classes, n_classes)``.
        pseudo_rows: > 0; the fewest that are tried.
        missed: whether a rare class may as well be missed as another: its habits are believed as theirs are.

    >>> sure = np.repeat([[0.9, 0.1], [0.1, 0.9]], 250, axis=0)
    >>> labels = np.repeat([0, 1, 1], [200, 50, 250])
    >>> likely_transition(sure, labels, np.array([[200.0, 50.0], [0.0, 250.0]]), 20.0).round(1).tolist()
    [[0.8, 0.2], [0.0, 1.0]]
    """
    tried = [counted_transition(anchors, pseudo_rows * strength) for strength in STRENGTHS]
    likelihood = [_log_likelihood(probabilities, given, transition) for transition in tried]
    mean: Floats = np.average(tried, axis=0, weights=strength_weights(likelihood, 1.0 if missed else unevenness(given)))
    return mean


def unevenness(given: Integers) -> float:
    """Return how uneven the classes are that occur: their number by the perplexity of the labels, at least 1.

    >>> round(unevenness(np.repeat([0, 1], [950, 50])), 2)
    1.64
    """
    shares = np.bincount(given) / len(given)
    shares = shares[shares > 0]
    return max(float(len(shares) * np.exp((shares * np.log(shares)).sum())), 1.0)


def strength_weights(log_likelihood: Sequence[float], uneven: float = 1.0) -> Floats:
    """Return how much each of ``STRENGTHS`` counts, ``(n_strengths,)``, sum 1, by how likely it makes the labels and is beforehand.

    Args:
        log_likelihood: of the labels under each of them.
        uneven: of the classes, as ``unevenness`` says.

    >>> strength_weights([0.0, 0.0, 0.0, 0.0, 0.0]).round(2).tolist()
    [0.03, 0.06, 0.13, 0.26, 0.52]
    >>> strength_weights([0.0, 0.0, 0.0, 0.0, 0.0], 1.64).round(2).tolist()
    [0.0, 0.0, 0.01, 0.09, 0.9]
    """
    found = np.asarray(log_likelihood) + np.log(2.0 * min(uneven**_STEEP, RARE)) * np.arange(len(STRENGTHS))
    weights = np.exp(found - found.max())
    shares: Floats = weights / weights.sum()
    return shares


def even_transition(n_classes: int, wrong: float) -> Floats:
    """Return the transition by which this share of each class is wrong, evenly among the others, ``(n_classes, n_classes)``."""
    even = np.full((n_classes, n_classes), wrong / (n_classes - 1))
    np.fill_diagonal(even, 1.0 - wrong)
    return even


def _log_likelihood(probabilities: Floats, given: Integers, transition: Floats) -> float:
    true_classes = sharpen(probabilities, given, transition).probabilities(probabilities)
    return float(np.log(np.clip(np.einsum("nc,nc->n", true_classes, transition.T[given]), 1e-300, None)).sum())

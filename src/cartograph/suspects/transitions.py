"""How often a row of each true class is labelled as each class, estimated from the rows that a classifier is surest about.

Each row's count of labels is small, and rows that are hard rather than mislabelled count too. So the counts are held to even errors at the
overall rate, by as many *pseudo-rows* as the labels bear out: for five strengths, from hardly held to even, how likely the labels are times
a prior is their weight, and the transition is the weighted mean (empirical Bayes). Two things say how likely: how well the other anchors of
a class foretell the label of each (leave one out), and all labels' likelihood through the noise (``through_noise``). The second also takes
classes that overlap for habits, the more pairs of them there are: the more classes, the less it counts; of two it is all that counts. Where
errors go one way, the counts themselves are far likelier; where they are even, hard rows no longer pass for habits. Beforehand each
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
from cartograph.suspects.anchors import contradicting
from cartograph.suspects.through_noise import sharpen

LEAST = 0.002
"""Least rate of wrong labels."""

STRENGTHS = (1.0, 3.0, 10.0, 30.0, np.inf)
"""How many times as many pseudo-rows are tried."""

RARE, _STEEP = 5.0, 8.0
"""Most times that each stronger hold is likelier than where classes are even, and the power of their unevenness by which it becomes so."""


def counted_transition(anchors: Floats, pseudo_rows: float) -> Floats:
    """Return the share of each predicted class that has each label, so many rows of even errors added; rows sum to 1."""
    even = _even_errors(anchors)
    if np.isinf(pseudo_rows):
        return even
    estimated: Floats = (anchors + pseudo_rows * even) / (anchors.sum(axis=1, keepdims=True) + pseudo_rows)
    return estimated


def _even_errors(anchors: Floats) -> Floats:
    wrong, total = contradicting(anchors)
    return even_transition(len(anchors), max(wrong / total, LEAST))


def _foretold(anchors: Floats, pseudo_rows: float) -> float:
    """Return the log probability of the anchors' labels, each by the other anchors of its class and so many rows of even errors."""
    even = _even_errors(anchors)
    there = anchors > 0
    if np.isinf(pseudo_rows):
        return float((anchors[there] * np.log(even[there])).sum())
    shares = (anchors - 1.0 + pseudo_rows * even) / (anchors.sum(axis=1, keepdims=True) - 1.0 + pseudo_rows)
    return float((anchors[there] * np.log(shares[there])).sum())


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
    through = np.array([_log_likelihood(probabilities, given, transition) for transition in tried])
    foretold = np.array([_foretold(anchors, pseudo_rows * strength) for strength in STRENGTHS])
    two = 2.0 / len(anchors)
    likelihood = (1.0 - two) * foretold + np.sqrt(two) * through
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


def strength_weights(log_likelihood: Sequence[float] | Floats, uneven: float = 1.0) -> Floats:
    """Return how much each of ``STRENGTHS`` counts, ``(n_strengths,)``, sum 1, by how likely it makes the labels and is beforehand.

    Args:
        log_likelihood: of the labels and anchors under each of them.
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

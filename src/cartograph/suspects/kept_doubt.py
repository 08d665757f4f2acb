"""The doubt about labels of many classes, from the most probable classes of each row (``label_doubt`` says what is estimated, and why).

Three things are simpler here. To find the probabilities of the true classes, labels are taken to go wrong evenly, at the rate that the
surest rows show: a thousand classes have a million habits, of which a data set shows next to none. And who has the rest of a row's
probability does not matter: it is shared out evenly. The habits that the surest rows do show count in the posterior, as there. Labels that
are given at random (``hard_classes``) are those of none of the classes that are kept.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cartograph.data.arrays import Floats, Ids, Integers
from cartograph.data.kept_logits import KeptShares
from cartograph.suspects.explained import entropy_of, explained_share
from cartograph.suspects.hard_classes import are_habits, fewer_at_random
from cartograph.suspects.how_many import MORE_ANCHORS, WrongLabels, between, bounds, missed_class
from cartograph.suspects.label_doubt import (
    CLEAR,
    CONTRADICTED,
    EXPLAINED,
    FEWEST_BETWEEN,
    FEWEST_ROWS,
    NOTHING,
    PSEUDO_ROWS,
    Doubt,
    Unknown,
    lone_rows,
    weakly_known,
)
from cartograph.suspects.seen_through import ANCHOR_ROWS, ANCHORS, MOST_ANCHORS
from cartograph.suspects.transitions import LEAST, STRENGTHS, strength_weights, unevenness

_HARD, _SURELY = 0.75, 0.999
"""How likely it is, where fewer labels are given at random than contradict the anchors, that the others are hard rows: of so many classes
most are rare, and their anchors hardly sure. And how sure a habit of a class has to be."""

_ROWS_A_CLASS = 20
"""Fewest rows to a class for an estimate: more than elsewhere, since labels are taken to go wrong evenly."""


def kept_doubt(shares: KeptShares, labels: Ids) -> Doubt:
    """Return the doubt about every given label, and an estimate of how many are wrong; ``transition`` is None.

    Args:
        shares: for each row by a model that did not see that row; the given label among the classes kept.
        labels: given label ids, ``(n_examples,)``.
    """
    given = np.asarray(labels).astype(np.int64)
    entropy, own = entropy_of(given), shares.of(given)
    explained = explained_share(own, entropy)
    unknown: Unknown | None = None
    number: WrongLabels | None = None
    part = min(max(ANCHORS, ANCHOR_ROWS / len(given)), MOST_ANCHORS)
    rows = _anchor_rows(shares, part)
    anchors, rate = _anchors(shares, given, rows)
    contradicted, surest = max(rate[0] / rate[1], LEAST), None
    if explained < NOTHING:
        estimated, score = False, _posterior(shares, given, None, LEAST)
    else:
        score = _posterior(shares, given, anchors, contradicted)
        surest = _even_errors(shares, given, rows, part)
        if surest is not None:
            score = (1.0 - _HARD) * score + _HARD * _posterior(
                shares, given, _habits(anchors), max(surest[0] / surest[1], LEAST), proven=True
            )
        estimated = _clear(shares, contradicted, entropy) >= CLEAR or (explained >= EXPLAINED and contradicted <= CONTRADICTED)
        if len(given) >= FEWEST_BETWEEN:
            wider, more = _anchors(shares, given, _anchor_rows(shares, MORE_ANCHORS))
            with_hard = _posterior(shares, given, wider, max(more[0] / more[1], LEAST))
            among = np.asarray(wider.sum(axis=1)).ravel()
            missed = missed_class(wider.diagonal(), among, np.bincount(given, minlength=shares.n_classes))
            number = bounds(score, float(with_hard.sum()), rate, more, float(len(given) - own.sum()), surest, missed)
    ends = None if estimated or number is None else between(number, score, fits=True)
    if not estimated:
        unknown = weakly_known(len(given), False, ends)
    elif len(given) < max(FEWEST_ROWS, _ROWS_A_CLASS * np.exp(entropy)):
        unknown = "few rows"
    lone = lone_rows(given)
    score[lone] = np.maximum(score[lone], 0.5)
    return Doubt(score, shares.other_than(given), None, explained, None if unknown else number, unknown, between=ends)


def _anchor_rows(shares: KeptShares, part: float) -> Integers:
    """Return the surest rows of each predicted class, ``(n_rows,)``."""
    predicted = shares.classes[:, 0].astype(np.int64)
    order = np.lexsort((-shares.values[:, 0], predicted))
    number = np.bincount(predicted, minlength=shares.n_classes)
    rank = np.arange(len(order)) - (np.cumsum(number) - number)[predicted[order]]
    surest: Integers = order[rank < np.ceil(part * number)[predicted[order]]]
    return surest


def _anchors(shares: KeptShares, given: Integers, rows: Integers) -> tuple[sparse.csr_array, tuple[float, float]]:
    """Return how often such rows of each predicted class have each label, how many have another, and how many there are."""
    predicted = shares.classes[rows, 0].astype(np.int64)
    counts = sparse.csr_array((np.ones(len(rows)), (predicted, given[rows])), shape=(shares.n_classes, shares.n_classes))
    counts.sum_duplicates()
    return counts, (float(np.count_nonzero(predicted != given[rows])), float(len(rows)))


def _habits(anchors: sparse.csr_array) -> sparse.csr_array:
    """Return the share of a class's anchors that have another label, where that is a habit; 0 elsewhere."""
    seen, total = anchors.tocoo(), np.asarray(anchors.sum(axis=1)).ravel()
    habits = are_habits(seen.data, total[seen.row], _SURELY) & (seen.row != seen.col)
    rows, others = seen.row[habits], seen.col[habits]
    return sparse.csr_array((seen.data[habits] / total[rows], (rows, others)), shape=anchors.shape)


def _even_errors(shares: KeptShares, given: Integers, rows: Integers, part: float) -> tuple[float, float] | None:
    """Return how many of the surest rows have a label given at random, and how many they are (``hard_classes``): none that is likely."""
    others = shares.classes.shape[1] - 1
    times = (shares.n_classes - 1) / (shares.n_classes - others)
    wrong = shares.classes[:, 0] != given
    return fewer_at_random(shares.classes[:, -1] == given, times, shares.values[:, 0], wrong, rows, part)


def _posterior(shares: KeptShares, given: Integers, anchors: sparse.csr_array | None, rate: float, *, proven: bool = False) -> Floats:
    """Return the probability that the true class is another than the given one, ``(n_examples,)``; by habits alone if they are proven."""
    n_classes, kept = shares.n_classes, shares.classes.shape[1]
    even = rate / (n_classes - 1)
    values, rest = (shares.values, shares.rest) if anchors is None else _true_classes(shares, rate)
    values, rest = np.clip(values, 1e-12, None), np.clip(rest, 1e-12, None)
    own = shares.classes == given[:, None]
    goes = np.where(own, 1.0 - rate, even)
    if anchors is not None:
        rows = np.repeat(given[:, None], kept, axis=1).ravel()
        seen = np.asarray(anchors[shares.classes.ravel(), rows]).reshape(goes.shape)
        if proven:
            goes = np.where(seen > 0.0, seen, goes)
        else:
            among = np.asarray(anchors.sum(axis=1)).ravel()[shares.classes]
            others = (n_classes - kept) * rest * even
            goes = _likely(seen, among, goes, values, others, unevenness(given))
    joint = values * goes
    right = np.where(own, joint, 0.0).sum(axis=1)
    wrong = np.where(own, 0.0, joint).sum(axis=1) + (n_classes - kept) * rest * even
    doubt: Floats = wrong / (wrong + right)
    return doubt


def _likely(seen: Floats, among: Floats, goes: Floats, values: Floats, others: Floats, uneven: float) -> Floats:
    """Return how often rows of the kept classes have the given label: the mean over strengths, by how likely they make the labels."""

    def held(strength: float) -> Floats:
        extra = PSEUDO_ROWS * strength
        return goes if np.isinf(extra) else (seen + extra * goes) / (among + extra)

    likelihood = [float(np.log((values * held(strength)).sum(axis=1) + others).sum()) for strength in STRENGTHS]
    total = np.zeros_like(goes)
    for weight, strength in zip(strength_weights(likelihood, uneven), STRENGTHS, strict=True):
        total += weight * held(strength)
    return total


def _true_classes(shares: KeptShares, rate: float) -> tuple[Floats, Floats]:
    """Return the probabilities of the classes that are kept, and of each other one, without the noise; sums may differ from 1."""
    even, least = rate / (shares.n_classes - 1), 0.01 / shares.n_classes
    values, rest = (np.clip((part - even) / max(1.0 - rate - even, 1e-3), least, None) for part in (shares.values, shares.rest))
    return values, rest


def _clear(shares: KeptShares, rate: float, entropy: float) -> float:
    """Return 1 − mean entropy of the rows' true classes / entropy of the labels: 1 where each is surely of one class."""
    values, rest = _true_classes(shares, rate)
    others = shares.n_classes - values.shape[1]
    total = values.sum(axis=1) + others * rest
    values, rest = values / total[:, None], rest / total
    mean = -float((values * np.log(values)).sum() + others * (rest * np.log(rest)).sum()) / len(values)
    return 1.0 - mean / entropy if entropy > 0 else 0.0

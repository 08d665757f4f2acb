"""What a row's other labels say of each of its labels: a stack of binary relevance (Godbole and Sarawagi, PAKDD 2004).

A logistic regression per label, out of fold, reads the committees' log odds of all labels and, of the other labels, how they are given.
Where labels follow from one another and each errs for itself, that finds far more than a label's own committee. But a row may be wrong as a
whole: a text on sound filed under video lacks one label and has another, and the two errors vouch for each other, all the more where every
row has exactly one label, or a label comes with its parent's. So two things are done.

A given label is heard as far as its own committee believes it: as 1 − 2 · its probability of being wrong, with the sign of yes or no.

And where given labels vouch for too many of those that their own committees doubt, they are not heard at all, only the committees' log
odds: for more than ``VOUCHED`` of all doubted labels, and for more than ``MOSTLY`` of those of which they say something. Of the latter they
vouch for a tenth to a third where each of 5 or 20 % of the labels was turned for itself (questions, intents, topics), for nearly all where
rows were given another class, and its parent's, and for half to two thirds where some of these rows had a second label besides. Where no
label is wrong they vouch for most, too, and are not heard: whom nobody contradicts nobody need ask. Committees that explain little doubt
right labels most; of theirs nothing is learnt, and labels are heard unless they hardly ever contradict each other (``NEVER``), as where a
form allows one alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cartograph.data.arrays import Floats, Ids, Integers
from cartograph.ingest.label_rows import FEWEST

VOUCHED, MOSTLY = 0.1, 0.4
"""Shares of the doubted labels that a row's others may vouch for and still be heard: of all, and of those that they say something of."""

NEVER = 0.005
"""Share of all labels of which the others say something that they may contradict and count as never contradicting any."""

_SOMETHING = 1.0
"""Log odds by which the others' word differs from the label's share for them to say something."""

_ROWS, _ROWS_HEARD = 20_000, 5_000
"""Most rows that a stack is fitted on, which has two numbers a label, and that it is looked on whether labels speak against each other."""


def stacked(odds: Floats, doubted: Floats, given: Ids, folds: Sequence[Integers], seed: int, *, weak: bool = False) -> Floats:
    """Return each label's probability of yes from all committees and the row's other labels, ``(n_examples, n_labels)``.

    Cost: two logistic regressions a label and fold.

    Args:
        odds: log odds of yes by each label's committee, ``(n_examples, n_labels)``.
        doubted: probability that each given label is wrong, by its own committee, likewise.
        given: 0 and 1, likewise; at least one of either in every label and all folds but one.
        folds: of each label the fold of each row.
        seed: of samples of rows.
        weak: whether committees explain too little for what they doubt to say anything.
    """
    signs = 2.0 * given - 1.0
    if not vouch(doubted, given, folds, seed, weak=weak):
        heard = signs * (1.0 - 2.0 * doubted)
        return _fitted(lambda label: np.concatenate([odds, np.delete(heard, label, axis=1)], axis=1), given, folds, seed, _ROWS)
    return _fitted(lambda label: odds, given, folds, seed, _ROWS)


def vouch(doubted: Floats, given: Ids, folds: Sequence[Integers], seed: int, *, weak: bool = False) -> bool:
    """Return whether a row's other labels vouch for too many of the doubted ones; arguments as ``stacked``."""
    signs = 2.0 * given - 1.0
    others = _fitted(lambda label: np.delete(signs, label, axis=1), given, folds, seed, _ROWS_HEARD)
    held, share = np.clip(others, 1e-9, 1.0 - 1e-9), given.mean(axis=0)
    word, doubts = np.log(held / (1.0 - held)), doubted >= 0.5
    spoken, agree = np.abs(word - np.log(share / (1.0 - share))) > _SOMETHING, (word > 0) == (given == 1)
    if weak:
        return bool(np.count_nonzero(spoken & ~agree) < NEVER * np.count_nonzero(spoken))
    vouched = np.count_nonzero(doubts & spoken & agree)
    return bool(vouched > VOUCHED * np.count_nonzero(doubts) and vouched > MOSTLY * np.count_nonzero(doubts & spoken))


def _fitted(read: Callable[[int], Floats], given: Ids, folds: Sequence[Integers], seed: int, most: int) -> Floats:
    from sklearn.linear_model import LogisticRegression

    found = np.empty(given.shape)
    for label, fold in enumerate(folds):
        rng, values = np.random.default_rng([seed, 4, label]), read(label)
        for part in range(int(fold.max()) + 1):
            taught = np.flatnonzero(fold != part)
            if len(taught) > most:
                taught = _sample(taught, given[taught, label], rng, most)
            model = LogisticRegression(max_iter=500).fit(values[taught], given[taught, label])
            found[fold == part, label] = model.predict_proba(values[fold == part])[:, 1]
    return found


def _sample(rows: Integers, given: Ids, rng: np.random.Generator, most: int) -> Integers:
    """Return some rows, with as many yes for each no as all of them have, and ``FEWEST`` of either at least."""
    parts = [rng.permutation(rows[given == value]) for value in (0, 1)]
    return np.sort(np.concatenate([part[: max(round(most * len(part) / len(rows)), FEWEST)] for part in parts]))

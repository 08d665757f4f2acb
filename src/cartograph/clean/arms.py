"""What to do with doubted labels, chosen by cross-validation on the train set alone: keep, drop, relabel or down-weight.

Each arm changes the rows that a cheap linear model on sparse features learns from, fold by fold, and the model is scored on the fold left
out. The labels there are as doubtful as those learnt from, so every row counts by its probability of a right label: a model is not
rewarded for repeating an error, nor for agreeing with a suggestion.

Where it is well determined how many labels are wrong (``statistics.determined``), the best arm that changes anything is recommended, unless
it is measurably worse than the original: that hundreds of labels are wrong does not become untrue because a linear model shrugs them off,
and others do not. Where it is not, an arm has to exceed the original by more than two standard errors of the paired difference (as Breiman
et al. 1984, §3.4.3, with one) and one row beyond it, since a single row that turns has a standard error of less than a row; else the
original is recommended. An arm under which no row is dropped or relabelled or weighs less than half is not recommended: what it gains
there is chance.

The probabilities were made once, each by models that had not seen the row itself but had seen the other rows, the fold left out among
them. What an arm does to the rows learnt from thus carries a trace of the labels that it is scored on, and gains come out too large:
those of ``down-weight``, on planted errors in TREC and customer reviews, were mostly 1.2 to 3 times as large as with probabilities made
again in every fold; without errors there was no gain either way. The differences are for choosing, not for quoting. How good the choice
is, ``benchmarks/cleaning.py`` measures on test rows that nothing here has seen.

Cost: O(arms · folds · n_classes · nnz), on at most ``MOST_ROWS`` rows; no test set is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from cartograph.clean.cleaning import Cleaning
from cartograph.data.arrays import Bools, Floats, Ids, Integers
from cartograph.data.folds import assign_folds
from cartograph.data.progress import Progress, piece_of
from cartograph.features.linear_models import out_of_fold_logistic
from cartograph.features.options import out_of_fold_options

Arm = Literal["original", "drop", "relabel", "down-weight"]

FOLDS = 5
PENALTY = 0.1
"""Of the linear models. Weak, so that a wrong label is learnt, as larger models learn it."""

SHARES_UP_TO = 8
"""Classes, up to which the models start from the classes' shares; with more of them that loses the rare ones (Banking77: accuracy .08)."""

MOST_ROWS = 20_000
"""Of a larger train set a sample of so many rows is compared on."""

ERRORS = 2.0
"""Standard errors by which an arm must exceed the original where it is not well determined how many labels are wrong. With one, 10 to 29
right labels of clean tables and texts were changed."""

LEAST_ROWS = 50
"""With fewer rows nothing is chosen: differences would be of single rows."""


@dataclass(frozen=True)
class ArmScore:
    """How good models are that were trained under one arm.

    Attributes:
        accuracy: cross-validated, each row counted by its probability of a right label, in [0, 1].
        difference: to the original's.
        error: standard error of that, paired by rows; 0 for the original.
        changed: rows that are dropped, relabelled, or weigh less than half.
    """

    accuracy: float
    difference: float
    error: float
    changed: int


@dataclass(frozen=True)
class ArmChoice:
    """The arms compared, and the recommended one.

    Attributes:
        recommended: the arm.
        scores: of each arm; empty where nothing could be compared.
        rows: how many were compared on.
        reason: why, in a sentence.
    """

    recommended: Arm
    scores: Mapping[Arm, ArmScore]
    rows: int
    reason: str

    def content(self) -> dict[str, Any]:
        """Return it as JSON values."""
        scores = {arm: {name: round(value, 6) for name, value in vars(score).items()} for arm, score in self.scores.items()}
        return {"recommended": self.recommended, "reason": self.reason, "rows": self.rows, "arms": scores}


def choose_arm(
    features: sparse.csr_array,
    labels: Ids,
    n_classes: int,
    right: Floats,
    arms: Mapping[Arm, Cleaning],
    rng: np.random.Generator,
    groups: Integers | None = None,
    *,
    known: bool = False,
    of_options: bool = False,
    progress: Progress | None = None,
) -> ArmChoice:
    """Return the arms compared on the train set, and the recommended one.

    Args:
        features: float32, ``(n_examples, n_features)``, finite.
        labels: given label ids, ``(n_examples,)``.
        n_classes: two or more.
        right: probability that each given label is right, in [0, 1], ``(n_examples,)``; where people decided, 1 or 0.
        arms: the outcome of each for every row, ``original`` among them.
        rng: draws folds, and a sample of rows where there are more than ``MOST_ROWS``.
        groups: of each row, ``(n_examples,)``: rows of one are left out together (``linked_rows``); None: each row is on its own.
        known: whether it is well determined how many labels are wrong.
        of_options: whether features are of every option of multiple choice (``features.options.option_features``).
        progress: called with (folds done, folds), over all arms.
    """
    rows = np.arange(len(labels)) if len(labels) <= MOST_ROWS else np.sort(rng.choice(len(labels), MOST_ROWS, replace=False))
    given, trust = labels[rows].astype(np.int64), right[rows]
    if len(rows) < LEAST_ROWS or trust.sum() <= 0:
        return kept_as_it_is(f"{len(rows):,} rows are too few to compare ways of cleaning")
    own = None if groups is None else np.unique(groups[rows], return_inverse=True)[1]
    fold = assign_folds(given, FOLDS, rng, own)
    hits: dict[Arm, Bools] = {}
    read = features[(rows[:, None] * n_classes + np.arange(n_classes)).ravel() if of_options else rows]
    for number, (arm, cleaning) in enumerate(arms.items()):
        used = cleaning.kept[rows] * (np.float32(1) if cleaning.weights is None else cleaning.weights[rows])
        after, weights = cleaning.labels[rows].astype(np.int64), used.astype(np.float32)
        shown, even = piece_of(progress, number, len(arms), FOLDS), n_classes > SHARES_UP_TO
        if of_options:
            [scores] = out_of_fold_options(read, after, n_classes, fold, (PENALTY,), weights, progress=shown)
        else:
            [scores] = out_of_fold_logistic(read, after, n_classes, fold, (PENALTY,), weights, even=even, progress=shown)
        hits[arm] = scores.argmax(axis=1) == given
    changed = {arm: _changed(cleaning, labels) for arm, cleaning in arms.items()}
    scored = {arm: _score(own, hits["original"], trust, changed[arm]) for arm, own in hits.items()}
    changing = [arm for arm in scored if arm != "original" and changed[arm]]
    if not changing:
        return ArmChoice("original", scored, len(rows), "No way of cleaning changes anything.")
    best = max(changing, key=lambda arm: scored[arm].difference)
    taken, reason = _verdict(best, scored[best], float(trust.sum()), known=known)
    return ArmChoice(best if taken else "original", scored, len(rows), reason)


def kept_as_it_is(reason: str) -> ArmChoice:
    """Return the recommendation of the original where nothing was compared."""
    return ArmChoice("original", {}, 0, f"{reason}.")


def _score(hits: Bools, original: Bools, trust: Floats, changed: int) -> ArmScore:
    total = trust.sum()
    between = hits.astype(np.float64) - original
    difference = float((trust * between).sum() / total)
    error = float(np.sqrt((trust**2 * (between - difference) ** 2).sum()) / total)
    return ArmScore(float((trust * hits).sum() / total), difference, error, changed)


def _measurably(score: ArmScore, rows: float) -> bool:
    """Return whether an arm is better than the original by more than ``ERRORS`` and one row; ``rows``: their weights' sum."""
    return score.difference - 1.0 / rows > ERRORS * score.error


def _worse(score: ArmScore, rows: float) -> bool:
    return -score.difference - 1.0 / rows > score.error


def _changed(cleaning: Cleaning, labels: Ids) -> int:
    light = np.zeros(len(labels), np.bool_) if cleaning.weights is None else cleaning.weights < 0.5
    return int(np.count_nonzero(~cleaning.kept | (cleaning.labels != labels) | light))


def _verdict(best: Arm, score: ArmScore, rows: float, *, known: bool) -> tuple[bool, str]:
    """Return whether the best way of cleaning is recommended, and why, in a sentence."""
    judged = "By cross-validation of linear models on the train set"
    if known and not _worse(score, rows):
        taken = f"{best} is the best way to clean, and not measurably worse than none"
        return True, f"It is well determined how many labels are wrong. {judged}, {taken}."
    if known:
        return False, f"{judged}, every way of cleaning is worse than the original, {best} by more than one standard error and a row."
    if _measurably(score, rows):
        return True, f"{judged}, {best} is best, more than two standard errors and a row above the original."
    if score.difference <= 0:
        return False, f"{judged}, no way of cleaning is better than the original."
    return False, f"{judged}, {best}, the best, is within two standard errors and a row of the original."

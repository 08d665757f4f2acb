"""What to do with doubted labels, chosen by cross-validation on the train set alone: keep, drop, relabel or down-weight.

Each arm changes the rows that a cheap linear model on sparse features learns from, fold by fold, and of a table of features a forest and
boosted trees, too, and is scored on the fold left out. The labels there are as doubtful as those learnt from, so every row counts by its
probability of a right label: a model is not rewarded for repeating an error, nor for agreeing with a suggestion. Of several models the best
one on the original counts first; an arm under which it is not measurably worse may also be recommended for what another gains, and none
under which another is measurably worse: nobody knows which of them will be trained, and where a fifth of all labels is wrong and a class is
rare, trees learn the errors that a linear model shrugs off, boosted ones most.

Where it is certain that labels are wrong (``statistics.determined``), the best arm that changes anything is recommended, unless it is
measurably worse than the original: that hundreds of labels are wrong does not become untrue because a linear model shrugs them off, and
others do not. Where it is not, an arm has to exceed the original by more than two standard errors of the paired difference (as Breiman et
al. 1984, §3.4.3, with one) and one row beyond it, since a single row that turns has a standard error of less than a row; else the original
is recommended. Of weights less is asked where it is estimated how many labels are wrong, or the interval says that some are, and not a few
rows weigh little (``WEIGHED``): that models are better by more than a row, and recognise classes hardly less often on average. What is
scored on has the same wrong labels, which hide most of what is gained, and weights take no row and change no label. An arm under which no
row is dropped or relabelled or weighs less than half is not recommended: what it gains there is chance; if every arm is so, nothing is
compared. Nor is one under which models no longer recognise a class that they recognise in the original (``LOST``): where a class is rare
and its labels are doubted most, a model gains accuracy by never naming it, and an owner loses the class.

In every fold the doubted rows are found again among the rows learnt from, by models that read and hear nothing of the fold left out
(``suspects.among``): found once among all of them, they carry a trace of the labels that are scored on, and what is gained comes out up
to three times too large, and is gained where there is nothing to gain. Models start from even odds: of a rare class the first step from its
share goes too far, and a hair's difference in the rows then changes the accuracy by ten points. How good the choice is,
``benchmarks/cleaning.py`` measures on test rows that nothing here has seen.

Cost: O(arms · folds · n_classes · nnz), and a committee a fold; no test set is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from cartograph.clean.cleaning import Cleaning
from cartograph.data.arrays import Bools, Floats, Ids, Integers
from cartograph.data.folds import assign_folds
from cartograph.data.progress import Progress
from cartograph.features.linear_models import held_out_logistic
from cartograph.features.options import held_out_options
from cartograph.features.tables import TreeColumns
from cartograph.features.trees import held_out_boosting, held_out_forest
from cartograph.wording import cut

Arm = Literal["original", "drop", "relabel", "down-weight"]
Again = Callable[[Integers], Mapping[Arm, Cleaning]]

FOLDS = 5
PENALTY = 0.1
"""Of the linear models. Weak, so that a wrong label is learnt, as larger models learn it."""

ERRORS = 2.0
"""Standard errors by which an arm must exceed the original where it is not well determined how many labels are wrong. With one, 10 to 29
right labels of clean tables and texts were changed."""

LOST, RECOGNISED = 0.1, 5.0
"""A class is lost of whose rows, each counted by its probability of a right label, less than such a share is still recognised, where so
many were. Of texts with a class of 4 to 15 %, a fifth of all labels wrong where texts are hard, weights gained up to 3 points of accuracy
by never naming the class, and lost 1 to 8 of macro-F1."""

WEIGHED, RECALLED = 0.03, 0.01
"""Least share of the rows that weigh less than half for weights to be taken though models are not measurably better, and by how much less
often classes may be recognised then, on average."""

MOST_BOOSTED = 200_000
"""Rows times classes up to which boosted trees are asked of a table, too: as many trees are grown for every class."""

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
    classes: Sequence[str],
    right: Floats,
    arms: Mapping[Arm, Cleaning],
    rng: np.random.Generator,
    groups: Integers | None = None,
    *,
    again: Again | None = None,
    changed: Mapping[Arm, int] | None = None,
    known: bool = False,
    estimated: bool = False,
    of_options: bool = False,
    columns: TreeColumns | None = None,
    preferred: Collection[Arm] = (),
    progress: Progress | None = None,
) -> ArmChoice:
    """Return the arms compared on rows of the train set, and the recommended one.

    Args:
        features: float32, ``(n_examples, n_features)``, finite.
        labels: given label ids, ``(n_examples,)``.
        classes: their names, two or more.
        right: probability that each given label is right, in [0, 1], ``(n_examples,)``; where people decided, 1 or 0.
        arms: the outcome of each for every row, ``original`` among them.
        rng: draws folds.
        groups: of each row, ``(n_examples,)``: rows of one are left out together (``linked_rows``); None: each row is on its own.
        again: returns the outcome of each arm for some of the rows, doubted as if there were no others; None: that for all is used.
        changed: how many rows of the whole set each arm changes; None: of these.
        known: whether it is well determined how many labels are wrong.
        estimated: whether it is estimated at all, or lies above 0 for sure.
        of_options: whether features are of every option of multiple choice (``features.options.option_features``).
        columns: of a table of features, what trees read of it: they are asked, too, and the model counts that is best on the original.
        preferred: arms of which the best is recommended if it may be, unless weights gain more, by over a standard error of theirs.
        progress: called with (folds done, folds), over all arms.
    """
    given, number, n_classes = labels.astype(np.int64), len(labels), len(classes)
    if number < LEAST_ROWS or right.sum() <= 0:
        return kept_as_it_is(f"{number:,} rows are too few to compare ways of cleaning")
    counts = {arm: rows_changed(cleaning, labels) for arm, cleaning in arms.items()} if changed is None else changed
    if not any(counts[arm] for arm in arms if arm != "original"):
        return kept_as_it_is("No way of cleaning changes anything")
    fold = assign_folds(given, FOLDS, rng, None if groups is None else np.unique(groups, return_inverse=True)[1])
    trees = () if columns is None else (held_out_forest, held_out_boosting)[: 1 if number * n_classes > MOST_BOOSTED else 2]
    by_model: list[dict[Arm, Bools]] = [{arm: np.zeros(number, bool) for arm in arms} for _ in (None, *trees)]
    fitted = held_out_options if of_options else held_out_logistic
    parts = int(fold.max()) + 1
    for part in range(parts):
        inside, held = np.flatnonzero(fold != part), fold == part
        for place, (arm, own) in enumerate(_of_rows(arms, inside, again).items()):
            after, weights = given.copy(), np.zeros(number, np.float32)
            after[inside] = own.labels
            weights[inside] = own.kept * (np.float32(1) if own.weights is None else own.weights)
            scores = [fitted(features, after, n_classes, weights, PENALTY, even=True)]
            scores += [grown(columns, after, n_classes, weights) for grown in trees if columns is not None]
            for hits, found in zip(by_model, scores, strict=True):
                hits[arm][held] = (found.argmax(axis=1) == given)[held]
            if progress is not None:
                progress(part * len(arms) + place + 1, parts * len(arms))
    best_model, *others = sorted(by_model, key=lambda hits: -float((right * hits["original"]).sum()))
    scored, *elsewhere = [
        {arm: _score(own, hits["original"], right, counts[arm]) for arm, own in hits.items()} for hits in (best_model, *others)
    ]
    changing = [arm for arm in scored if arm != "original" and counts[arm]]
    lost: dict[Arm, int | None] = {arm: _lost(given, right, best_model["original"], best_model[arm], n_classes) for arm in changing}
    reason = _lost_reason(lost, classes) or f"{_JUDGED}, every way of cleaning makes one of the models worse."
    rows = float(right.sum())
    changing = [arm for arm in changing if lost[arm] is None and not any(_measurably(other[arm], rows, worse=True) for other in elsewhere)]
    for group in ([arm for arm in changing if arm in preferred], changing):
        if group:
            best = max(group, key=lambda arm: sum(of[arm].difference for of in (scored, *elsewhere)))
            if group is not changing and "down-weight" in changing and _leads(scored["down-weight"], scored[best]):
                continue
            taken, reason = _verdict(best, scored[best], rows, known=known)
            if taken:
                return ArmChoice(best, scored, number, reason)
    for other in elsewhere:
        gaining = [arm for arm in changing if _measurably(other[arm], rows) and not _measurably(scored[arm], rows, worse=True)]
        if gaining:
            best = max(gaining, key=lambda arm: other[arm].difference)
            return ArmChoice(best, other, number, f"{_verdict(best, other[best], rows, known=False)[1]} {_OF_ANOTHER}")
    if estimated and "down-weight" in changing and rows_changed(arms["down-weight"], labels) >= WEIGHED * number:
        weighted = scored["down-weight"]
        was, then = (_mean_recall(given, right, best_model[arm], n_classes) for arm in ("original", "down-weight"))
        if weighted.difference * rows > 1.0 and then >= was - RECALLED:
            return ArmChoice("down-weight", scored, number, f"{_JUDGED}, weights {_ENOUGH}")
    return ArmChoice("original", scored, number, reason)


def _mean_recall(given: Integers, right: Floats, hits: Bools, n_classes: int) -> float:
    """Return how much of a class is recognised, averaged over the classes."""
    some = np.bincount(given, weights=right, minlength=n_classes)
    return float((np.bincount(given, weights=right * hits, minlength=n_classes)[some > 0] / some[some > 0]).mean())


def _lost(given: Integers, right: Floats, before: Bools, after: Bools, n_classes: int) -> int | None:
    """Return the first class that models recognise in the original and hardly at all under an arm; None if there is no such class."""
    was, still = (np.bincount(given, weights=right * hits, minlength=n_classes) for hits in (before, after))
    classes = np.flatnonzero((was >= RECOGNISED) & (still < LOST * was))
    return int(classes[0]) if len(classes) else None


def _lost_reason(lost: Mapping[Arm, int | None], classes: Sequence[str]) -> str:
    """Return why none of the arms is recommended if all of them lose a class, naming that of the first; empty if no class is lost."""
    return "".join(
        f"{_JUDGED}, models no longer recognise `{cut(classes[label], 40)}` after every way of cleaning."
        for label in [label for label in lost.values() if label is not None][:1]
    )


def _of_rows(arms: Mapping[Arm, Cleaning], rows: Integers, again: Again | None) -> Mapping[Arm, Cleaning]:
    """Return the outcome of each arm for some rows."""
    if again is None:
        return {arm: cleaning.take(rows) for arm, cleaning in arms.items()}
    found = again(rows)
    return {arm: found[arm] for arm in arms}


_JUDGED = "By cross-validation on the train set"
_ENOUGH = "are better than the original, though not measurably: that is enough for what drops no row and changes no label."
_OF_ANOTHER = "That is of a model that is less good on the original; no other is measurably worse."


def kept_as_it_is(reason: str) -> ArmChoice:
    """Return the recommendation of the original where nothing was compared."""
    return ArmChoice("original", {}, 0, f"{reason}.")


def _score(hits: Bools, original: Bools, trust: Floats, changed: int) -> ArmScore:
    total = trust.sum()
    between = hits.astype(np.float64) - original
    difference = float((trust * between).sum() / total)
    error = float(np.sqrt((trust**2 * (between - difference) ** 2).sum()) / total)
    return ArmScore(float((trust * hits).sum() / total), difference, error, changed)


def _measurably(score: ArmScore, rows: float, *, worse: bool = False) -> bool:
    """Return whether an arm is better (worse) than the original by more than ``ERRORS`` and one row; ``rows``: their weights' sum."""
    return (-score.difference if worse else score.difference) - 1.0 / rows > ERRORS * score.error


def _leads(weighted: ArmScore, other: ArmScore) -> bool:
    return weighted.difference - other.difference > weighted.error


def _worse(score: ArmScore, rows: float) -> bool:
    return -score.difference - 1.0 / rows > score.error


def rows_changed(cleaning: Cleaning, labels: Ids) -> int:
    """Return how many rows are dropped, relabelled, or weigh less than half."""
    light = np.zeros(len(labels), np.bool_) if cleaning.weights is None else cleaning.weights < 0.5
    return int(np.count_nonzero(~cleaning.kept | (cleaning.labels != labels) | light))


def _verdict(best: Arm, score: ArmScore, rows: float, *, known: bool) -> tuple[bool, str]:
    """Return whether the best way of cleaning is recommended, and why, in a sentence."""
    if known and not _worse(score, rows):
        beside = "by more than two standard errors and a row better" if _measurably(score, rows) else "not measurably worse"
        taken = f"{best} is the best way to clean, and {beside} than none"
        return True, f"It is certain that labels are wrong. {_JUDGED}, {taken}."
    if known:
        return False, f"{_JUDGED}, every way of cleaning is worse than the original, {best} by more than one standard error and a row."
    if _measurably(score, rows):
        return True, f"{_JUDGED}, {best} is best, more than two standard errors and a row above the original."
    if score.difference <= 0:
        return False, f"{_JUDGED}, no way of cleaning is better than the original."
    return False, f"{_JUDGED}, {best}, the best, is within two standard errors and a row of the original."

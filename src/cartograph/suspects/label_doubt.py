"""The probability that a given label is wrong, and how many are: from out-of-fold class probabilities and how labels go wrong.

A classifier fitted on the *given* labels predicts those, errors included: P(given z | x) = Σ_y q(y | x) T[y, z], with q the
probabilities of the true classes and T[y, z] the rate at which class y is labelled z (class-conditional noise; Natarajan et al.,
NeurIPS 2013). T is read off the rows that the classifier is surest about, since rows that are almost certainly of class y show the labels
that class y gets (anchor points: Liu & Tao, TPAMI 2016; Patrini et al., CVPR 2017); q is fitted through it (``through_noise``); and a row's
doubt is the posterior probability that its label is not its true class. To take p for q would count the noise twice, and find a fifth of
the errors.

The assumption is that errors do not gather on rows that are hard anyway: of those that do, the number is estimated too low. The opposite
also happens: rows that a weak classifier is confidently wrong about look like errors. Where that may be most of what contradicts the
anchors, T may as well be what is left without it: the doubt is then the mean of both (``hard_classes``; of place names and quotations in 17
to 105 classes, all labelled rightly, 88 in place of 598 labels are at .8 or more, of definitions in 39 and descriptions of programs in 18
classes 3 in place of 140; of the latter, 169 called by one other class, average precision rises from .65 to .94). Errors by which each of
many classes is called one other look like hard rows, too, and are known by how they agree (``one_other_class``).

So a number is estimated where, seen through the noise, nearly every row is clear (``CLEAR``); or where at least the classifier explains
``EXPLAINED`` of the labels' entropy and few of the rows that it is surest about contradict it (``CONTRADICTED``). Of pairs of texts whose
relation the labels name only the first counts: words and vectors of either text have exceptions even where they are surest, and of the
fifty rows of SNLI and of QNLI that were doubted most, read blind, one to eight were wrong, where by the second condition 32 should have
been. And part of what contradicts the surest pairs may be exceptions (``exceptions``): their doubt is the mean of both. Where
the classifier is several times clearer seen through the noise than the labels let it look (``CLEARER``), many labels contradict it evenly:
then more is listed than elsewhere (``detector``), but no number is given; nor where the labels are less likely as true classes gone wrong
than by the classifier itself (``MISFIT``), as where classes overlap. Nor is a number estimated from fewer than ``FEWEST_ROWS`` rows, or
fewer than ``ROWS_A_CLASS`` to a class: of 300 clean rows in two to six classes it would take 2 % for surely wrong, of 300 rows in 77
classes 15 %. In all these cases it can still be said between which numbers the true one lies (``how_many.between``), from
``FEWEST_BETWEEN`` rows on; where little is explained, more is listed then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from cartograph.data.arrays import Bools, Floats, Ids, Integers, Integers32, Reals
from cartograph.errors import InputError
from cartograph.suspects.anchors import contradicting
from cartograph.suspects.careless import Stretch, careless_stretches, rows_in
from cartograph.suspects.copies import Copies, relabelled
from cartograph.suspects.exceptions import still_doubted, with_exceptions
from cartograph.suspects.explained import clear_share, entropy_of, explained_share, fits_the_labels
from cartograph.suspects.given_labels import GivenLabels, posterior
from cartograph.suspects.hard_classes import calm_transition
from cartograph.suspects.how_many import Between, WrongLabels, between, wrong_labels
from cartograph.suspects.labellers import by_labellers, labeller_factors
from cartograph.suspects.missed_rows import doubts_by, in_order_of, reordered
from cartograph.suspects.one_class_to_models import as_one, in_smaller, not_told_apart, spread, summed
from cartograph.suspects.probabilities import check_probabilities, suggested_labels
from cartograph.suspects.seen_through import every_class_known, seen_through
from cartograph.suspects.shifted import shifted
from cartograph.suspects.transitions import LEAST, counted_transition, even_transition
from cartograph.suspects.wrong_pairs import WrongPair, wrong_pairs

EXPLAINED, CONTRADICTED = 0.2, 0.08
"""Least share of the labels' entropy that the probabilities must explain for an estimate, and most of the surest rows that may have another
label. Clean pairs of sentences that words explain to .13 look just like reviews of which a fifth is wrong, explained to .10: 585 and 593
of 3,000 labels would be called wrong."""

NEXT = 0.45
"""Doubt at the least of a label that is next to be looked at, and not listed."""

CLEAR, CLEAR_APART = 0.55, 0.62
"""Share of the true classes' entropy from which on, explained through the noise, neither is asked: a fifth of wrong labels hides a good
classifier from the labels' entropy, of which it then explains .28 at most. Of pairs more: of 1,000 rows of QNLI, 200 of them wrong, of
which .55 were explained so, 250 to 310 would be said to be."""

SEEN, CLEARER = 0.1, 2.5
"""For ``much noise``: least share of the labels' entropy that is explained, and how many times as much of the true classes' must be. Hard
rows make the classifier unclear with or without the noise, wrong labels only seem to. Chosen on TREC, Subj, SST-2, SNLI, QNLI, WikiQA and
customer reviews with 5 and 20 % of wrong labels; tried on tweets, reviews and news afterwards, and with 10 %."""

NOTHING = 0.05
"""Share below which what the surest rows show is not even used to rank by: they are no surer than the others. But see
``seen_through``."""

FEWEST_ROWS, ROWS_A_CLASS, FEWEST_BETWEEN = 500, 7, 100
"""Fewest rows for an estimate, in all and to a class; classes count by the perplexity of the labels, so that rare ones hardly do. Of 700
and 1,000 questions in 77 classes the interval held in 48 of 48 planted sets, and of the labels at .8 or more 92 % were wrong; of 300 two
in three. And fewest rows to say between which numbers it lies."""

Unknown = Literal["few rows", "little explained", "roughly known", "much noise", "hard rows"]
"""Why the number of wrong labels cannot be estimated. Of enough rows, what is ``little explained`` is ``roughly known`` where it can be
said between which numbers it lies."""

PSEUDO_ROWS = 20.0
_FEWEST = 20


@dataclass(frozen=True)
class Doubt:
    """How doubtful each label is.

    Attributes:
        score: probability that the given label is wrong, ``(n_examples,)``, in [0, 1]; higher = more suspect. Where ``wrong`` is None it
            only ranks.
        suggested: the most probable other class, ``(n_examples,)``.
        transition: estimated T[y, z], share of the rows of true class y that are labelled z, ``(n_classes, n_classes)``; rows sum to 1;
            None where classes are too many for it.
        explained: share of the labels' entropy that the probabilities explain, at most 1; 0 = no better than the classes' shares; classes
            that are ``indistinct`` count as one.
        wrong: how many labels are wrong; None where that cannot be estimated.
        unknown: why it cannot; None where it can.
        between: where it cannot, between which numbers it lies; None where that says nothing.
        pairs: how many labels of each class should be which other, the most frequent first; none where the number cannot be estimated, or
            classes are too many.
        labellers_differ: whether labels are doubted by who gave them (``labellers``); None where that was not looked at.
        stretches: of the file, whose labels are doubted more than those of the others (``careless``).
        indistinct: pairs of classes that are distinguished hardly better than chance, so that they are doubted as one.
    """

    score: Floats
    suggested: Integers32
    transition: Floats | None
    explained: float
    wrong: WrongLabels | None
    unknown: Unknown | None = None
    pairs: tuple[WrongPair, ...] = ()
    labellers_differ: bool | None = None
    between: Between | None = None
    stretches: tuple[Stretch, ...] = ()
    indistinct: tuple[tuple[int, int], ...] = ()


def label_doubt(
    probabilities: Reals,
    labels: Ids,
    *,
    pseudo_rows: float = PSEUDO_ROWS,
    alike: bool = False,
    apart: bool = False,
    missed: bool = False,
    rare_first: bool = False,
    copies: Copies | None = None,
    met: Copies | None = None,
    labellers: Integers | None = None,
    order: Integers | None = None,
) -> Doubt:
    """Return the doubt about every given label, and an estimate of how many are wrong.

    The only row of a class has a doubt of ½ at least: no model can know a class from it, and it may be a slip of the pen.

    Cost: O(n_examples · n_classes · (n_classes + log n_examples)).

    Args:
        probabilities: for each row by a model that did not see that row, ``(n_examples, n_classes)``; each in [0, 1], rows sum to 1.
        labels: given label ids, ``(n_examples,)``.
        pseudo_rows: > 0; rows of even noise at the overall rate that are added to each class's anchors, so that a few hard rows do not
            look like a habit of the annotators; more where the labels are likelier so (``transitions``).
        alike: whether most rows are equal to many others in what the models read. They may differ in what nobody recorded, so that no
            number is given: of 2,000 passengers of a ship, known by class, age group and sex, 138 would be called wrongly saved or lost.
        apart: whether a label says how two texts relate, of which words and vectors of either text know little: what they are surest
            about has exceptions, which look like wrong labels, so that nothing but ``CLEAR_APART`` is enough.
        missed: whether a label is one of several that a row may have, of which any is easily missed (``transitions``).
        rare_first: whether rows that a rare class may have missed come as early as if it were any class (``missed_rows``).
        copies: of the rows, which the models scored without having met one another; their labels are heard, too.
        met: copies whose labels differ, which the models scored having met one another: at most one label of theirs is right.
        labellers: who gave each label, a number, ``(n_examples,)``; None where nobody knows.
        order: where each row stands in the file, numbers that rise, ``(n_examples,)``: where labellers are not known, or do not differ,
            careless stretches are sought; labels that surely stand a row off are in the number. None: nothing is sought.

    Raises:
        InputError: shapes that do not fit, probabilities that are negative or do not sum to 1, or a label outside the classes.

    >>> p = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.9, 0.1]])
    >>> label_doubt(p, np.array([0, 0, 1, 1])).score.argmax()
    np.int64(3)
    """
    given = check_probabilities(probabilities, labels)
    if not pseudo_rows > 0:
        raise InputError(f"`pseudo_rows` must be above 0, but is {pseudo_rows}.")
    known = probabilities.astype(np.float64)
    indistinct = () if missed else not_told_apart(known, given)
    of_labels = partial(_doubt, alike=alike, apart=apart, rare_first=rare_first, labellers=labellers, order=order)
    if indistinct:
        number = as_one(known.shape[1], indistinct)
        copies, met = relabelled(copies, number[given]), relabelled(met, number[given], contradicting=True)
        found = of_labels(GivenLabels(number[given], summed(known, number), pseudo_rows, missed, copies, met))
        found = _of_each_class(found, known, given, number, indistinct)
    else:
        found = of_labels(GivenLabels(given, known, pseudo_rows, missed, copies, met))
    alone = lone_rows(given)
    found.score[alone] = np.maximum(found.score[alone], 0.5)
    return found


def _of_each_class(found: Doubt, known: Floats, given: Integers, number: Integers, indistinct: tuple[tuple[int, int], ...]) -> Doubt:
    """Return the doubt of labels of which some were counted as one, for each class; between those hardly anything is known.

    So that rows of which models rather hold the other one for right do not rank behind all others, they are doubted as much as labels are
    on average, times its share: little enough not to be listed.
    """
    single = np.flatnonzero(np.bincount(number)[number] == 1)
    class_of = {int(number[label]): int(label) for label in single}
    pairs = [pair for pair in found.pairs if pair.given in class_of and pair.true in class_of]
    others = np.where(number[given][:, None] == number, -1.0, known)
    # What is next: a class that is full of the other's rows looks just like it.
    next_to = in_smaller(given, indistinct)
    apart = np.where(next_to[:, None], np.where(np.arange(known.shape[1]) == given[:, None], -1.0, known), others)
    together = np.where(number[given][:, None] == number, known, 0.0).sum(axis=1)
    of_another = 1.0 - known[np.arange(len(given)), given] / np.maximum(together, LEAST)
    score = np.maximum(found.score, min(float(found.score.mean()), NEXT) * of_another)
    return replace(
        found,
        score=np.where(next_to, np.maximum(score, NEXT), score),
        suggested=apart.argmax(axis=1).astype(np.int32),
        transition=None if found.transition is None else spread(found.transition, number, given),
        pairs=tuple(replace(pair, given=class_of[pair.given], true=class_of[pair.true]) for pair in pairs),
        indistinct=indistinct,
    )


def _doubt(
    weighed: GivenLabels, *, alike: bool, apart: bool, rare_first: bool, labellers: Integers | None, order: Integers | None
) -> Doubt:
    """Return what ``label_doubt`` does, of classes that are distinguished."""
    given, known = weighed.labels, weighed.probabilities
    entropy = entropy_of(given)
    explained = explained_share(known[np.arange(len(given)), given], entropy)
    unknown: Unknown | None = None
    number: WrongLabels | None = None
    wrong: WrongLabels | None = None
    apart_from_hard: Between | None = None
    pairs: tuple[WrongPair, ...] = ()
    differ: bool | None = None
    stretches: tuple[Stretch, ...] = ()
    without_exceptions: Floats | None = None
    seen = seen_through(weighed, known) if explained >= NOTHING or len(given) >= FEWEST_ROWS else None
    if seen is None or (explained < NOTHING and not every_class_known(seen, known, given)):
        transition, estimated, noisy, hard = even_transition(known.shape[1], LEAST), False, False, False
        score = posterior(weighed.heard_copies(known, transition), transition, given)
    else:
        share, anchors, transition, true_classes, updated, score = seen
        factors = None if labellers is None else labeller_factors(score, given, labellers)
        differ = None if labellers is None else factors is not None
        if factors is None and order is not None:
            stretches = careless_stretches(score, given, order)
            factors = labeller_factors(score, given, rows_in(stretches, order)) if stretches else None
        updated = by_labellers(updated, given, factors)
        score = posterior(updated, transition, given)
        calm, all_wrong, as_found = calm_transition(weighed, share), float(score.sum()), score
        if calm is not None:
            # Even odds that the other anchors are hard, not wrong.
            score = (as_found + doubts_by(weighed, calm[0], factors)) / 2.0
        if apart and (excepted_from := with_exceptions(weighed, anchors, calm)) is not None:
            calm, without_exceptions = excepted_from, score
            both = (as_found + doubts_by(weighed, calm[0], factors)) / 2.0
            # Which pairs come first, and which are worth a look, does not depend on how many are exceptions.
            score = np.maximum(in_order_of(both, score), still_doubted(score))
        scale = 1.0 if calm is None else float(score.sum()) / max(all_wrong, LEAST)
        contradicted, surest = contradicting(anchors)
        clear = clear_share(true_classes)
        fits = fits_the_labels(known, true_classes, transition, counted_transition(anchors, 1.0), given, entropy)
        contradicts = contradicted > CONTRADICTED * surest or apart
        estimated = fits and not alike and (clear >= (CLEAR_APART if apart else CLEAR) or (explained >= EXPLAINED and not contradicts))
        hard = explained >= EXPLAINED and (alike or apart or not fits)
        noisy = fits and not alike and explained >= SEEN and clear >= CLEARER * explained
        if len(given) >= FEWEST_BETWEEN:
            number = wrong_labels(weighed, score, anchors, factors, None if calm is None else calm[1])
            if order is not None:
                number = number.at_least(surely_shifted(given, score, suggested_labels(known, given), order))
            apart_from_hard = between(number, score, fits=fits and not apart)
        if rare_first:
            score = reordered(score, weighed, anchors, share, factors)
    if len(given) < _FEWEST:
        unknown = "few rows"
    elif not estimated:
        unknown = "hard rows" if hard else weakly_known(len(given), noisy, apart_from_hard)
    elif len(given) < max(FEWEST_ROWS, ROWS_A_CLASS * np.exp(entropy)):
        unknown = "few rows"
    elif number is not None:
        wrong, apart_from_hard = number, None
        ends = (wrong.low / max(wrong.expected, LEAST), wrong.scattered / max(wrong.expected, LEAST))
        pairs = wrong_pairs(known, updated, given, transition, anchors, ends, scale, (wrong.high, wrong.most))
    if apart and unknown is not None and without_exceptions is not None:
        # Where doubts only rank, nothing is changed by them.
        score = without_exceptions
    suggested = suggested_labels(known, given)
    return Doubt(score, suggested, transition, explained, wrong, unknown, pairs, differ, apart_from_hard, stretches)


def surely_shifted(given: Integers, score: Floats, suggested: Integers32, order: Integers) -> float:
    """Return how many labels are surely wrong since they stand on the row before or after their own (``shifted``); 0 where none do so."""
    places = np.argsort(order, kind="stable")
    found = shifted(given[places], score[places] >= 0.5, suggested[places].astype(np.intp))
    return 0.0 if found is None else found.beyond_chance


def weakly_known(rows: int, noisy: bool, apart_from_hard: Between | None) -> Unknown:
    """Return why no number is estimated where the probabilities explain too little; ``noisy``: many labels contradict them evenly."""
    if rows < FEWEST_ROWS:
        return "little explained"
    return "much noise" if noisy else "little explained" if apart_from_hard is None else "roughly known"


def lone_rows(given: Integers) -> Bools:
    """Return which rows are the only one of their class, ``(n_examples,)``; none in a handful of rows."""
    alone: Bools = (np.bincount(given)[given] == 1) & (len(given) >= _FEWEST)
    return alone

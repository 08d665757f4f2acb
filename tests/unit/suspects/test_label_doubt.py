"""Doubt about labels: by hand, under one-sided noise, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from cartograph.data.arrays import Floats, Integers
from cartograph.errors import InputError
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.anchors import anchor_counts
from cartograph.suspects.label_doubt import EXPLAINED, NOTHING, Doubt, label_doubt
from cartograph.suspects.probabilities import suggested_labels
from cartograph.suspects.through_noise import sharpen
from cartograph.suspects.transitions import even_transition, likely_transition
from tests.made_noise import EVEN, ONE_WAY, noisy_with_truth


def noisy(transition: np.ndarray, n_examples: int, sharpness: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities of the given labels, those labels, and which are wrong."""
    probabilities, given, truth = noisy_with_truth(transition, n_examples, sharpness, seed)
    return probabilities, given, given != truth


@pytest.mark.parametrize("transition", [ONE_WAY, EVEN, np.eye(3)], ids=["one way", "even", "none"])
def test_how_labels_go_wrong_and_how_many_is_read_off_the_surest_rows(transition: np.ndarray) -> None:
    probabilities, given, wrong = noisy(transition, 6000, 4.0, seed=11)
    found = label_doubt(probabilities, given)
    np.testing.assert_allclose(found.transition, transition, atol=0.06)
    assert found.wrong is not None
    assert found.wrong.low <= wrong.sum() <= found.wrong.scattered
    assert found.wrong.expected == pytest.approx(wrong.sum(), rel=0.15, abs=40)


def test_the_interval_of_how_many_holds_though_the_surest_rows_show_fewer() -> None:
    """Where labels go wrong one way and rows are few, the estimate is low; the interval's upper end is the larger of two."""
    for seed in range(11, 17):
        probabilities, given, wrong = noisy(ONE_WAY, 1500, 4.0, seed=seed)
        found = label_doubt(probabilities, given).wrong
        assert found is not None
        assert found.low <= wrong.sum() <= found.scattered, seed


def test_doubt_is_calibrated() -> None:
    probabilities, given, wrong = noisy(EVEN, 20_000, 4.0, seed=12)
    score = label_doubt(probabilities, given).score
    # The surest are called less sure than they are, and never the other way round.
    for low, high in ((0.0, 0.05), (0.05, 0.2), (0.2, 0.5), (0.5, 0.7), (0.7, 1.0)):
        rows = (score >= low) & (score <= high)
        assert rows.sum() >= 1_000
        assert -0.2 < score[rows].mean() - wrong[rows].mean() < 0.07, (low, high)


def test_one_sided_noise_is_noticed_and_helps() -> None:
    # Four in ten of class 1 are labelled 0, nobody of class 0 is labelled 1: a surprising 1 is right, a surprising 0 is wrong.
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 4000)
    wrong = (truth == 1) & (rng.random(4000) < 0.4)
    labels = np.where(wrong, 0, truth)
    sure = 1 / (1 + np.exp(-np.where(truth == 1, 1, -1) * 1.5 - rng.normal(0, 1.5, 4000)))
    seen = sure * 0.6
    probabilities = np.stack([1 - seen, seen], axis=1)
    found = label_doubt(probabilities, labels)
    assert found.transition[1, 0] > 3 * found.transition[0, 1]
    assert average_precision(wrong, found.score) > average_precision(wrong, -probabilities[np.arange(4000), labels]) + 0.1


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 5), st.integers(0, 2**31), st.booleans())
def test_doubt_is_a_probability_and_two_classes_rank_by_the_given_labels_probability(n_classes: int, seed: int, learnt: bool) -> None:
    rng = np.random.default_rng(seed)
    probabilities, labels = rng.dirichlet(np.ones(n_classes), 60), rng.integers(0, n_classes, 60)
    if learnt:
        labels = np.array([rng.choice(n_classes, p=row) for row in probabilities])
    found = label_doubt(probabilities, labels, pseudo_rows=1e9)
    assert ((found.score >= 0) & (found.score <= 1)).all()
    np.testing.assert_allclose(found.transition.sum(axis=1), 1.0)
    assert (found.suggested != labels).all()
    if n_classes == 2:
        own = probabilities[np.arange(60), labels]
        # Where models explain the labels, a class that is commoner than they say is doubted less, as a whole.
        same_curve = [labels == 0, labels == 1] if found.explained >= NOTHING else [labels >= 0]
        for rows in same_curve:
            assert (np.diff(found.score[rows][np.argsort(own[rows])]) <= 1e-6).all()


def test_where_the_model_explains_nothing_no_number_is_estimated() -> None:
    rng = np.random.default_rng(13)
    probabilities, labels = rng.dirichlet(np.full(3, 20.0), 3000), rng.integers(0, 3, 3000)
    found = label_doubt(probabilities, labels)
    assert found.wrong is None and found.explained < 0.1 and found.score.max() < 0.1


@pytest.mark.parametrize("sure", [1.0, 1 - 1e-16])
def test_doubt_about_a_certain_models_opinion_is_finite(sure: float) -> None:
    probabilities = np.array([[sure, 1 - sure], [1 - sure, sure], [sure, 1 - sure]])
    found = label_doubt(probabilities, np.array([0, 1, 1]))
    assert found.score[2] > 0.99 and found.score[:2].max() < 0.01


def test_the_most_probable_other_class_is_suggested() -> None:
    probabilities = np.array([[0.6, 0.3, 0.1], [0.6, 0.3, 0.1], [0.2, 0.4, 0.4]])
    assert suggested_labels(probabilities, np.array([0, 2, 0])).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("probabilities", "labels", "message"),
    [
        (
            [[0.5, 0.5]],
            [0, 1],
            r"shape \(examples, classes ≥ 2\) and one label per example are needed, but they have shapes \(1, 2\) and \(2,\)",
        ),
        ([[0.5, 0.5], [0.9, 0.3]], [0, 1], r"row 2 has the class probabilities \[0.9, 0.3\], which are not ≥ 0 with a sum of 1"),
        ([[np.nan, 1.0]], [0], "row 1 has the class probabilities"),
        ([[0.5, 0.5]], [2], "row 1 has label id 2, but there are probabilities of classes 0 to 1 only"),
    ],
)
def test_numbers_that_are_not_probabilities_are_refused(probabilities: list[list[float]], labels: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        label_doubt(np.array(probabilities), np.array(labels))


@pytest.mark.slow
def test_few_rows_or_many_classes_give_ranks_but_no_number() -> None:
    def doubt_of(n_examples: int, n_classes: int) -> Doubt:
        rng = np.random.default_rng(5)
        truth = np.arange(n_examples) % n_classes
        labels = np.where(rng.random(n_examples) < 0.05, (truth + 1) % n_classes, truth)
        sure = np.full((n_examples, n_classes), 0.1 / (n_classes - 1))
        sure[np.arange(n_examples), truth] = 0.9
        return label_doubt(sure, labels)

    assert doubt_of(499, 2).unknown == "few rows" and doubt_of(499, 2).wrong is None
    assert doubt_of(500, 2).unknown is None and doubt_of(500, 2).wrong is not None and doubt_of(500, 2).between is None
    for n_examples in (100, 499):
        planted, ends = int((np.random.default_rng(5).random(n_examples) < 0.05).sum()), doubt_of(n_examples, 2).between
        assert ends is not None and ends.low <= planted <= ends.scattered <= 3 * planted + 10
    assert doubt_of(99, 2).between is None
    assert doubt_of(500, 80).unknown == "few rows"
    assert doubt_of(600, 80).unknown is None
    few = doubt_of(300, 2)
    wrong = np.flatnonzero(np.random.default_rng(5).random(300) < 0.05)
    assert set(np.argsort(-few.score)[: len(wrong)]) == set(wrong)


def test_rows_that_are_clear_but_for_errors_are_all_found_though_the_model_learnt_from_the_errors() -> None:
    """Scores that were fitted to labels with errors are flat: the clear rows lie anywhere between .6 and .95, and none is surely wrong."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, 700)
    wrong = rng.random(700) < 0.05
    margin = np.abs(rng.normal(1.8, 0.6, 700)).clip(0.4, 3.0)
    own = 1 / (1 + np.exp(-margin))
    right = np.where(truth == 1, own, 1 - own)
    labels = np.where(wrong, 1 - truth, truth)
    found = label_doubt(np.column_stack([1 - right, right]), labels)
    assert found.wrong is not None and found.wrong.low <= wrong.sum() <= found.wrong.scattered
    assert (found.score[wrong] >= 0.5).mean() > 0.85 and (found.score[~wrong] >= 0.5).mean() < 0.01


def flattened(clear: float, wrong: float, n_examples: int = 2000) -> tuple[Floats, Integers]:
    """Return probabilities as a classifier of rows with these margins gives them that learnt from labels of which a share is wrong."""
    rng = np.random.default_rng(11)
    margin = rng.normal(0, clear, n_examples)
    true = 1 / (1 + np.exp(-margin))
    truth = (rng.random(n_examples) < true).astype(np.intp)
    labels = np.where(rng.random(n_examples) < wrong, 1 - truth, truth)
    given = true * (1 - wrong) + (1 - true) * wrong
    return np.column_stack([1 - given, given]), labels


def test_a_good_classifier_that_many_wrong_labels_hide_still_tells_how_many() -> None:
    probabilities, labels = flattened(clear=8.0, wrong=0.25)
    found = label_doubt(probabilities, labels)
    assert found.explained < EXPLAINED, "else the test shows nothing"
    assert found.wrong is not None and found.wrong.low <= 500 <= found.wrong.scattered


def test_a_weak_classifier_whose_surest_rows_contradict_it_tells_no_number() -> None:
    probabilities, labels = flattened(clear=2.0, wrong=0.0)
    known = label_doubt(probabilities, labels)
    assert known.wrong is not None, "without errors of its own it does"
    rng = np.random.default_rng(2)
    surest = np.argsort(-np.abs(probabilities[:, 1] - 0.5))[:600]
    misled = rng.choice(surest, 60, replace=False)
    probabilities[misled] = probabilities[misled][:, ::-1]
    found = label_doubt(probabilities, labels)
    assert found.explained >= EXPLAINED and found.wrong is None and found.unknown == "roughly known"
    few = label_doubt(probabilities[:499], labels[:499])
    assert few.wrong is None and few.unknown == "little explained", "as elsewhere, a number needs 500 rows"


def test_labels_of_which_many_are_wrong_are_listed_as_the_surest_rows_show_though_no_number_is_told() -> None:
    """Rows of middling clearness: with a quarter of wrong labels the classifier explains little, and seen through the noise far more."""
    probabilities, labels = flattened(clear=3.0, wrong=0.2)
    found = label_doubt(probabilities, labels)
    assert found.unknown == "much noise" and found.wrong is None
    rng = np.random.default_rng(11)
    margin = rng.normal(0, 3.0, 2000)
    truth = rng.random(2000) < 1 / (1 + np.exp(-margin))
    wrong = labels != truth
    listed = found.score >= 0.5
    assert wrong[listed].mean() > 0.5 and wrong[listed].sum() > 0.4 * wrong.sum()
    assert found.between is not None and found.between.low <= wrong.sum() <= found.between.scattered < found.between.most
    assert label_doubt(probabilities[:400], labels[:400]).unknown == "little explained", "too few rows for it"
    hard, clean = flattened(clear=1.5, wrong=0.0)
    assert label_doubt(hard, clean).unknown != "much noise"


def test_classes_that_overlap_tell_no_number_though_their_surest_rows_contradict_the_classifier_as_wrong_labels_would() -> None:
    """Low, middle and high: no row is surely in the middle, so that its surest rows have other labels without a wrong one."""
    rng = np.random.default_rng(4)
    place = rng.normal(0, 1.3, 3000)
    below, above = norm.cdf((-0.8 - place) / 0.5), norm.cdf((place - 0.8) / 0.5)
    probabilities = np.column_stack([below, norm.cdf((0.8 - place) / 0.5) - below, above])
    labels = (rng.random((3000, 1)) > probabilities.cumsum(axis=1)).sum(axis=1)
    found = label_doubt(probabilities, labels)
    assert (found.unknown, found.wrong) == ("hard rows", None) and found.explained >= EXPLAINED
    assert found.between is not None and found.between.low == 0, "none of them is wrong"
    assert (found.score >= 0.5).mean() < 0.05
    wrong = rng.random(3000) < 0.05
    clear = np.eye(3)[labels] * 0.85 + 0.05
    said = label_doubt(clear, np.where(wrong, (labels + 1) % 3, labels))
    assert said.wrong is not None and said.wrong.low <= wrong.sum() <= said.wrong.scattered, "flat probabilities alone are no misfit"


def test_equal_rows_with_different_labels_are_hard_rather_than_clear_but_for_errors() -> None:
    rng = np.random.default_rng(6)
    rate = np.where(np.arange(2000) % 3 == 0, 0.8, 0.1)
    labels = (rng.random(2000) < rate).astype(np.intp)
    probabilities = np.column_stack([1 - rate, rate])
    assert label_doubt(probabilities, labels).wrong is not None, "rows that look so might be of three hundred kinds"
    found = label_doubt(probabilities, labels, alike=True)
    assert (found.unknown, found.wrong) == ("hard rows", None)
    # Neither is a number given by the other rule: the rows that most are equal to differ in what nobody recorded.
    rate = np.where(np.arange(2000) % 2 == 0, 0.96, 0.04)
    labels = (rng.random(2000) < rate).astype(np.intp)
    probabilities = np.column_stack([1 - rate, rate])
    taken = label_doubt(probabilities, labels)
    assert taken.wrong is not None and taken.explained >= EXPLAINED
    assert label_doubt(probabilities, labels, alike=True).unknown == "hard rows"


def test_how_two_texts_relate_is_told_from_them_apart_only_where_that_is_clear() -> None:
    """What words are surest about has exceptions in pairs: no label is wrong here, but some 7 of a hundred of the surest look so."""
    rng = np.random.default_rng(8)
    rate = 1 / (1 + np.exp(-rng.normal(0, 1.4, 4000)))
    labels = (rng.random(4000) < rate).astype(np.intp)
    probabilities = np.column_stack([1 - rate, rate])
    taken = label_doubt(probabilities, labels)
    assert taken.wrong is not None and taken.explained >= EXPLAINED
    found = label_doubt(probabilities, labels, apart=True)
    assert (found.unknown, found.wrong) == ("hard rows", None)
    np.testing.assert_array_equal(found.score, taken.score)
    clear = np.column_stack([np.where(labels == 0, 0.95, 0.05), np.where(labels == 1, 0.95, 0.05)])
    wrong = rng.random(4000) < 0.05
    said = label_doubt(clear, np.where(wrong, 1 - labels, labels), apart=True)
    assert said.wrong is not None and said.wrong.low <= wrong.sum() <= said.wrong.scattered


@pytest.mark.parametrize(("share", "surely"), [(0.05, False), (0.2, True)])
def test_a_few_exceptions_among_pairs_are_not_surely_wrong_and_many_wrong_labels_are(share: float, surely: bool) -> None:
    """Some pairs match though they have no word in common: one in twenty of the surest may be no error; one in five is."""
    rng = np.random.default_rng(2)
    true = rng.integers(0, 2, 2000)
    wrong = rng.random(2000) < share
    labels = np.where(wrong, 1 - true, true)
    sure = np.where(rng.random(2000) < 0.85, 1 - share, 0.6)
    probabilities = np.column_stack([np.where(true == 0, sure, 1 - sure), np.where(true == 1, sure, 1 - sure)])
    found, alone = label_doubt(probabilities, labels, apart=True), label_doubt(probabilities, labels)
    assert found.wrong is not None and alone.wrong is not None and (alone.score >= 0.8).any()
    assert (found.wrong.low > 0) == surely == bool((found.score >= 0.8).any())
    assert found.wrong.low <= wrong.sum() <= found.wrong.scattered
    in_turn = np.argsort(alone.score, kind="stable")
    assert (np.diff(found.score[in_turn]) >= 0).all() and found.score.sum() < alone.score.sum(), "the order stays, of lower doubts"
    assert ((found.score >= 0.5) == (alone.score >= 0.5)).all(), "and so does what is worth a look"


def test_the_doubt_is_that_of_the_definition() -> None:
    probabilities, given, _ = noisy(EVEN, 2000, 4.0, seed=3)
    found = label_doubt(probabilities, given)
    transition = likely_transition(probabilities, given, anchor_counts(probabilities, given, 0.1), 20.0)
    np.testing.assert_array_equal(found.transition, transition)
    true = sharpen(probabilities, given, transition).probabilities(probabilities)
    right = [true[row, label] * transition[label, label] / (true[row] @ transition[:, label]) for row, label in enumerate(given)]
    np.testing.assert_allclose(found.score, 1 - np.array(right), atol=1e-9)


def test_of_a_model_that_explains_nothing_the_number_lies_anywhere() -> None:
    even = np.full((1000, 2), 0.5)
    found = label_doubt(even, np.arange(1000) % 2)
    assert (found.unknown, found.wrong, found.between) == ("little explained", None, None)


def test_a_rare_class_that_models_know_is_seen_though_most_labels_of_it_are_wrong() -> None:
    rng = np.random.default_rng(0)
    truth = (rng.random(4_000) < 0.03).astype(np.intp)
    wrong = rng.permutation(np.arange(4_000) < 800)
    given = np.where(wrong, 1 - truth, truth)
    # What a good model of these labels says: a fifth of either class has the other label.
    own = np.clip(np.where(truth == 1, 0.8, 0.2) + rng.normal(0, 0.04, 4_000), 0.02, 0.98)
    found = label_doubt(np.stack([1 - own, own], axis=1), given)
    assert found.explained < 0.05 and found.unknown != "little explained"
    number = found.wrong or found.between
    assert number is not None and 0 < number.low <= 800 <= number.scattered
    doubted = found.score > 0.5
    assert wrong[doubted].mean() > 0.95 and doubted[wrong].mean() > 0.9
    # A signal as weak of labels that are right: every row of the rarer class is less likely of it than not.
    weak = np.clip(0.22 + rng.normal(0, 0.08, 4_000), 0.02, 0.98)
    right = (rng.random(4_000) < weak).astype(np.intp)
    assert label_doubt(np.stack([1 - weak, weak], axis=1), right).unknown == "little explained"


def test_a_model_that_explains_nothing_leaves_even_rare_noise() -> None:
    flat, labels = np.full((30, 3), 1 / 3), np.arange(30) % 3
    found = label_doubt(flat, labels)
    np.testing.assert_allclose(found.transition, even_transition(3, 0.002))
    np.testing.assert_allclose(found.score, 0.002)


def test_without_a_wrong_anchor_a_few_labels_are_still_taken_for_wrong() -> None:
    sure = np.eye(2)[np.arange(600) % 2] * 0.9 + 0.05
    found = label_doubt(sure, np.arange(600) % 2)
    hardly_held = (50 * np.eye(2) + 20 * even_transition(2, 0.002)) / 70
    assert 0 < hardly_held[0, 1] < found.transition[0, 1] < 0.002 > found.transition[1, 0] > hardly_held[1, 0]
    assert found.wrong is not None and 0 <= found.wrong.low <= found.wrong.expected <= found.wrong.scattered


@pytest.mark.parametrize(("rows", "doubted"), [(19, False), (20, True)])
def test_the_only_row_of_its_class_is_doubted_unless_rows_are_a_handful(rows: int, doubted: bool) -> None:
    labels = np.where(np.arange(rows) == 4, 2, np.arange(rows) % 2)
    sure = np.eye(3)[labels] * 0.97 + 0.01
    score = label_doubt(sure, labels).score
    assert (score[4] >= 0.5) == doubted
    assert np.delete(score, 4).max() < 0.1


@pytest.mark.parametrize(
    ("probabilities", "labels"), [([0.5, 0.5], [0, 1]), ([[1.0], [1.0]], [0, 0]), ([[[0.5, 0.5]]], [0])], ids=["flat", "one class", "deep"]
)
def test_what_is_no_table_of_two_classes_is_refused(probabilities: object, labels: list[int]) -> None:
    with pytest.raises(InputError, match=r"class probabilities of shape \(examples, classes ≥ 2\) and one label per example are needed"):
        label_doubt(np.array(probabilities), np.array(labels))


def test_negative_numbers_are_no_probabilities_and_no_labels_and_pseudo_rows_are_more_than_none() -> None:
    with pytest.raises(InputError, match=r"row 2 has the class probabilities \[-0\.1, 1\.1\], which are not ≥ 0"):
        label_doubt(np.array([[0.0, 1.0], [-0.1, 1.1]]), np.array([1, 1]))
    with pytest.raises(InputError, match="row 1 has label id -1, but there are probabilities of classes 0 to 1 only"):
        label_doubt(np.array([[0.5, 0.5]]), np.array([-1]))
    with pytest.raises(InputError, match=r"`pseudo_rows` must be above 0, but is 0\.0"):
        label_doubt(np.array([[0.5, 0.5]]), np.array([1]), pseudo_rows=0.0)


def test_rows_of_hard_classes_pass_for_hard_and_not_for_wrong_ones() -> None:
    """Labels are all right; models are as sure as they are right, but for half of the classes less than they think."""
    rng = np.random.default_rng(3)
    classes, rows = 40, 4000
    labels = rng.integers(0, classes, rows)
    right = np.where(labels < 20, 0.7, 0.995)
    said = np.clip(np.where(labels < 20, 0.86, 0.996) + rng.normal(0, 0.0008, rows), 0.5, 0.9999)
    taken = np.where(rng.random(rows) < right, labels, (labels + rng.integers(1, classes, rows)) % classes)
    known = np.repeat(((1.0 - said) / (classes - 1))[:, None], classes, axis=1)
    known[np.arange(rows), taken] = said
    found = label_doubt(known, labels)
    assert found.wrong is not None and found.wrong.low < 40 and (found.score >= 0.8).sum() < 20
    assert found.pairs == () or sum(pair.expected for pair in found.pairs) <= found.wrong.expected + 1.0
    order = rng.permutation(rows)
    again = label_doubt(known[order], labels[order])
    assert again.wrong is not None and again.wrong.expected == pytest.approx(found.wrong.expected, rel=1e-6)

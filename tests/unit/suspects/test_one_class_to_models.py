"""Classes that models cannot tell apart: their labels are not doubted for each other, and other errors come first."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph import average_precision
from cartograph.data.arrays import Integers
from cartograph.suspects import label_doubt as doubting
from cartograph.suspects.committee import committee_scores
from cartograph.suspects.one_class_to_models import not_told_apart


def copied_texts(rng: np.random.Generator) -> tuple[list[str], Integers]:
    """Return 600 texts of five classes, each in two versions; of the last two classes, which are one, the versions have either label."""
    texts, labels = [], []
    for number in range(300):
        kind = number % 5
        words = [f"topic{min(kind, 3)}word{rng.integers(12)}" for _ in range(4)] + [f"own{number}a", f"own{number}b"]
        texts += [" ".join([f"v{version}", *words]) for version in range(2)]
        labels += rng.permutation([3, 4]).tolist() if kind >= 3 else [kind, kind]
    return texts, np.array(labels)


@pytest.mark.parametrize("given_apart", [True, False])
def test_near_copies_with_labels_of_either_class_do_not_hide_other_errors(given_apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, true = copied_texts(np.random.default_rng(0))
    given, rng = true.copy(), np.random.default_rng(1)
    wrong = rng.choice(np.flatnonzero(true < 3), 30, replace=False)
    given[wrong] = (given[wrong] + 1 + rng.integers(0, 2, 30)) % 3
    if not given_apart:
        monkeypatch.setattr(doubting, "not_told_apart", lambda probabilities, labels: ())
    doubt = committee_scores(texts, given, list("abcde"), np.random.default_rng(2)).doubt
    listed = int(np.count_nonzero(doubt.score[true >= 3] >= 0.5))
    assert doubt.wrong is not None
    if given_apart:
        assert doubt.indistinct == ((3, 4),) and not listed and set(np.argsort(-doubt.score)[:30]) == set(wrong)
        assert doubt.wrong.low <= 30 <= doubt.wrong.high < 100
    else:
        assert doubt.indistinct == () and listed > 200 and doubt.wrong.expected > 100, "so it was"


def test_a_class_that_is_full_of_a_larger_ones_rows_comes_next() -> None:
    rng = np.random.default_rng(7)
    true = rng.integers(0, 5, 1500)
    words = [[f"w{kind}{number}" for number in range(12)] for kind in range(5)]
    texts = [" ".join([*rng.choice(words[kind], 4), *rng.choice(words[rng.integers(5)], 2)]) for kind in true]
    wrong = (true == 2) & (rng.random(1500) < 0.2)
    given = np.where(wrong, 5, true)
    doubt = committee_scores(texts, given, list("abcdef"), np.random.default_rng(2)).doubt
    assert doubt.indistinct == ((2, 5),)
    assert doubt.score[wrong].min() >= doubting.NEXT and (doubt.suggested[wrong] == 2).mean() > 0.8
    assert np.count_nonzero(doubt.score[~wrong] >= doubting.NEXT) < 30 and not (doubt.score[wrong] >= 0.5).any()


def test_classes_are_told_apart_where_many_of_one_are_labelled_as_the_other() -> None:
    rng = np.random.default_rng(3)
    true = np.repeat([0, 1, 2], [250, 100, 100])
    given = np.where((true == 1) & (rng.random(450) < 0.4), 2, true)
    sure = 0.05 + 0.85 * np.eye(3)[true] + rng.random((450, 3)) / 10
    probabilities = sure / sure.sum(axis=1, keepdims=True)
    assert not_told_apart(probabilities, given) == ()
    even = probabilities.copy()
    even[true > 0] = [0.1, 0.45, 0.45] + np.array([0, 0.3, -0.3]) * (rng.random((200, 1)) - 0.5)
    assert not_told_apart(even, given) == ((1, 2),)
    few = np.arange(450) >= 150
    assert not_told_apart(even[few], given[few]) == (), "they are most of the rows"


def test_two_classes_in_all_and_rare_ones_are_left_as_they_are() -> None:
    rng = np.random.default_rng(4)
    given = rng.integers(0, 2, 400)
    chance = rng.random(400)
    assert not_told_apart(np.stack([chance, 1 - chance], axis=1), given) == ()
    few = np.r_[np.zeros(300, int), [1] * 4, [2] * 4]
    shares = np.full((308, 3), 0.05)
    shares[np.arange(308), np.where(few == 0, 0, 3 - few)] = 0.9
    assert not_told_apart(shares, few) == ()


def test_what_is_said_of_classes_that_count_as_one_is_said_of_each() -> None:
    texts, true = copied_texts(np.random.default_rng(0))
    doubt = committee_scores(texts, true, list("abcde"), np.random.default_rng(2)).doubt
    assert doubt.indistinct == ((3, 4),) and doubt.transition is not None and doubt.transition.shape == (5, 5)
    np.testing.assert_allclose(doubt.transition.sum(axis=1), 1.0)
    assert doubt.transition[3, 4] == doubt.transition[4, 3] == 0.0 and doubt.transition[0, 3] > 0
    assert not np.isin(doubt.suggested[true >= 3], [3, 4]).any() and (doubt.suggested != true).all()
    assert all({pair.given, pair.true} <= {0, 1, 2} for pair in doubt.pairs)


def test_labels_swapped_between_classes_that_are_hardly_told_apart_do_not_rank_last() -> None:
    rng = np.random.default_rng(5)
    true = np.repeat([0, 1, 2], [600, 300, 300])
    wrong = (true > 0) & (rng.random(1200) < 0.25)
    odd = (true == 0) & (rng.random(1200) < 0.1)
    given = np.where(odd, 1, np.where(wrong, 3 - true, true))
    tilt = np.where(true == 2, 0.02, -0.02) + rng.normal(0.0, 0.1, 1200)
    shares = np.stack([np.full(1200, 0.1), 0.45 - tilt, 0.45 + tilt], axis=1)
    shares[true == 0] = [0.9, 0.05, 0.05]
    doubt = doubting.label_doubt(shares, given)
    assert doubt.indistinct == ((1, 2),) and not (doubt.score[~odd] >= 0.5).any()
    assert average_precision(wrong[~odd], doubt.score[~odd]) > 0.2 > 1.4 * wrong.mean()

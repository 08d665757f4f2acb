"""Folds in which every class is spread evenly."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.data.folds import assign_folds, drawn_groups


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=8, max_size=60), st.integers(2, 4), st.integers(0, 2**31))
def test_folds_spread_every_class_evenly(given_labels: list[int], folds: int, seed: int) -> None:
    labels = np.array(given_labels + [0, 1, 2, 3] * folds)
    fold = assign_folds(labels, folds, np.random.default_rng(seed))
    for rows in (np.ones(len(labels), dtype=bool), *(labels == label for label in range(4))):
        sizes = np.bincount(fold[rows], minlength=folds)
        assert sizes.max() - sizes.min() <= 1


@settings(deadline=None)
@given(st.integers(2, 5), st.integers(0, 2**31), st.integers(6, 60))
def test_a_group_is_in_one_fold_and_folds_are_as_even_as_groups_allow(folds: int, seed: int, number: int) -> None:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(number), rng.integers(1, 5, number))
    labels = rng.integers(0, 3, len(groups))
    fold = assign_folds(labels, folds, np.random.default_rng(seed), groups)
    assert all(len(np.unique(fold[groups == group])) == 1 for group in range(number))
    sizes = np.bincount(fold, minlength=folds)
    assert sizes.min() > 0
    # A group's size for each class that is dealt on its own, and one where two of them meet.
    assert sizes.max() - sizes.min() <= (3 + 1) * 4


def test_a_rare_class_is_spread_over_the_folds_of_groups() -> None:
    # A hundred questions of six candidates, of which every fifth question has one answer.
    groups = np.repeat(np.arange(100), 6)
    labels = ((np.arange(600) % 6 == 2) & (groups % 5 == 0)).astype(int)
    fold = assign_folds(labels, 5, np.random.default_rng(3), groups)
    assert np.bincount(fold[labels == 1], minlength=5).tolist() == [4, 4, 4, 4, 4]
    assert np.bincount(fold).tolist() == [120] * 5


def test_of_fewer_groups_than_folds_each_is_a_fold_and_a_single_group_is_divided() -> None:
    labels, groups = np.arange(20) % 2, np.arange(20) // 10
    fold = assign_folds(labels, 5, np.random.default_rng(1), groups)
    assert np.bincount(fold).tolist() == [10, 10]
    assert (groups[fold == fold[0]] == groups[0]).all()
    alone = assign_folds(labels, 5, np.random.default_rng(1), groups * 0)
    assert np.bincount(alone).tolist() == [4] * 5


@settings(deadline=None)
@given(st.integers(2, 8), st.integers(0, 2**31))
def test_a_large_group_leaves_its_fold_to_few_others(folds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Two groups with .3 of the rows each, of which one has all of the rare class, and a hundred of four rows.
    groups = rng.permutation(np.concatenate([np.zeros(300, int), np.ones(300, int), 2 + np.arange(400) // 4]))
    labels = np.where((groups == 1) & (rng.random(1000) < 0.2), 2, rng.integers(0, 2, 1000))
    fold = assign_folds(labels, folds, np.random.default_rng(seed), groups)
    assert all(len(np.unique(fold[groups == group])) == 1 for group in range(102))
    sizes = np.bincount(fold, minlength=folds)
    assert sizes.max() <= max(300, 1000 / folds + 4)
    assert sizes.min() >= 400 // folds


@settings(deadline=None)
@given(st.floats(0.01, 0.99), st.integers(2, 60), st.integers(0, 2**31))
def test_a_share_of_the_rows_is_drawn_group_by_group(share: float, number: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(number), 6))
    drawn = drawn_groups(rng.integers(0, 2, len(groups)), share, rng, groups)
    assert all(len(np.unique(drawn[groups == group])) == 1 for group in range(number))
    assert 0 < drawn.sum() < len(groups)
    if number >= 40:
        # To twentieths, some of which have a group more than others.
        assert abs(drawn.mean() - share) <= 0.15


def test_what_is_drawn_leaves_out_the_largest_group() -> None:
    groups = np.concatenate([np.zeros(40, int), 1 + np.arange(60)])
    drawn = drawn_groups(np.arange(100) % 2, 0.2, np.random.default_rng(1), groups)
    assert not drawn[:40].any()
    assert 8 <= drawn.sum() <= 20

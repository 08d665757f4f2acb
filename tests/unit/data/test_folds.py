"""Folds in which every class is spread evenly."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.data.folds import assign_folds


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
    assert sizes.max() - sizes.min() <= 3 * 4


def test_a_rare_class_is_spread_over_the_folds_of_groups() -> None:
    # A hundred questions of six candidates, of which every fifth question has one answer.
    groups = np.repeat(np.arange(100), 6)
    labels = ((np.arange(600) % 6 == 2) & (groups % 5 == 0)).astype(int)
    fold = assign_folds(labels, 5, np.random.default_rng(3), groups)
    assert np.bincount(fold[labels == 1], minlength=5).tolist() == [4, 4, 4, 4, 4]
    assert np.bincount(fold).tolist() == [120] * 5


def test_fewer_groups_than_folds_are_divided() -> None:
    fold = assign_folds(np.arange(20) % 2, 5, np.random.default_rng(1), np.arange(20) // 10)
    assert np.bincount(fold).tolist() == [4] * 5

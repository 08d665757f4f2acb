"""Spaces of pairs, closures, splits and tasks, against brute force."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.pairs.pair_space import PairSpace, is_among
from cartograph.pairs.task import Task


def symmetric(rows: list[int], width: int = 20) -> PairSpace:
    found = np.array(sorted(rows), np.int64)
    return PairSpace(found, found, width, True)


def every_pair(space: PairSpace) -> set[tuple[int, int]]:
    if space.symmetric:
        return set(combinations(space.left.tolist(), 2))
    return set(product(space.left.tolist(), space.right.tolist()))


def test_mirror_pairs_are_one_pair_and_a_row_with_itself_is_not_a_pair() -> None:
    space = symmetric([2, 5, 7])
    assert space.keys(np.array([2, 5, 7, 7]), np.array([5, 2, 7, 2])).tolist() == [2 * 20 + 5, 2 * 20 + 5, 2 * 20 + 7]
    assert space.size == 3
    bipartite = PairSpace(np.array([1]), np.array([1, 3]), 4, False)
    assert bipartite.keys(np.array([1, 1]), np.array([1, 3])).tolist() == [5, 7]
    assert bipartite.size == 2


@settings(max_examples=60, deadline=None)
@given(st.booleans(), st.sets(st.integers(0, 11), min_size=2, max_size=8), st.sets(st.integers(0, 11), min_size=1, max_size=8), st.data())
def test_draws_are_different_pairs_of_the_space_without_excluded_ones(
    same: bool, left: set[int], right: set[int], data: st.DataObject
) -> None:
    space = symmetric(sorted(left), 12) if same else PairSpace(np.array(sorted(left)), np.array(sorted(right)), 12, False)
    pairs = sorted(every_pair(space))
    excluded = data.draw(st.lists(st.sampled_from(pairs), unique=True))
    keys = np.array([one * 12 + other for one, other in excluded], np.int64)
    wanted = data.draw(st.integers(0, len(pairs)))
    drawn = space.draw(wanted, keys, np.random.default_rng(data.draw(st.integers(0, 99))))
    found = set(zip(*(rows.tolist() for rows in space.pairs(drawn)), strict=True))
    assert len(found) == len(drawn) == min(wanted, len(pairs) - len(excluded))
    assert found <= set(pairs) - set(excluded)
    assert space.contains(drawn).all()


@pytest.mark.parametrize("same", [True, False])
def test_every_pair_is_drawn_as_often_as_any_other(same: bool) -> None:
    space = symmetric(list(range(40)), 40) if same else PairSpace(np.arange(20), np.arange(40), 40, False)
    counts = np.zeros(1600)
    for seed in range(400):
        counts[space.draw(50, np.array([1], np.int64), np.random.default_rng(seed))] += 1
    drawn = counts[counts > 0]
    assert counts[1] == 0
    assert len(drawn) == space.size - 1
    expected = 400 * 50 / (space.size - 1)
    # A chi-squared number has mean n - 1 and variance 2 (n - 1).
    assert abs(((drawn - expected) ** 2 / expected).sum() - len(drawn)) < 5 * (2 * len(drawn)) ** 0.5


def test_known_keys_are_found_by_search() -> None:
    assert is_among(np.array([3, 9, 1]), np.array([1, 3])).tolist() == [True, False, True]
    assert is_among(np.array([3]), np.empty(0, np.int64)).tolist() == [False]


def make_task(*, transitive: bool) -> Task:
    texts = [f"t{number}" for number in range(8)]
    stated = [(0, 1, 1), (1, 2, 1), (3, 4, 1), (2, 3, 0), (5, 6, 1), (6, 7, 0)]
    left, right, label = (np.array(part, np.int64) for part in zip(*stated, strict=True))
    return Task(texts, texts, np.array([0] * 5 + [2] * 3, np.int8), True, transitive, left, right, label.astype(np.int8))


def test_labels_are_imputed_by_closure() -> None:
    task = make_task(transitive=True)
    assert task.positives("train").tolist() == [1, 2, 10, 28]
    assert task.positives("test").tolist() == [5 * 8 + 6]
    assert task.positives("dev").tolist() == []
    space = task.space("train")
    keys = np.array(sorted(one * 8 + other for one, other in every_pair(space)), np.int64)
    assert keys[task.labels(keys) == 1].tolist() == task.positives("train").tolist()
    stated, label = task.stated("train")
    assert dict(zip(stated.tolist(), label.tolist(), strict=True)) == {1: 1, 10: 1, 28: 1, 19: 0}


def test_without_closure_a_pair_is_positive_only_if_stated_so() -> None:
    task = make_task(transitive=False)
    assert task.positives("train").tolist() == [1, 10, 28]
    assert task.labels(np.array([1, 2], np.int64)).tolist() == [1, 0]

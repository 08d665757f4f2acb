from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.statistics.metrics import accuracy, average_precision, cross_entropy, macro_f1, precision_recall_at

ranked = st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=30).filter(lambda rows: any(found for found, _ in rows))


def test_accuracy_of_four_rows() -> None:
    logits = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [0.0, 0.0, 1.0], [5.0, 0.0, 0.0]], np.float32)
    assert accuracy(logits, np.array([0, 1, 2, 2])) == 0.75


def test_cross_entropy_by_hand_and_without_overflow() -> None:
    assert cross_entropy(np.array([[math.log(3), 0.0], [0.0, 0.0]]), np.array([0, 1])) == pytest.approx((-math.log(0.75) + math.log(2)) / 2)
    assert cross_entropy(np.array([[1000.0, 0.0], [0.0, -1000.0]], np.float32), np.array([1, 0])) == pytest.approx(500.0)


def test_macro_f1_counts_classes_alike() -> None:
    always_zero = np.tile([1.0, 0.0], (10, 1))
    gold = np.array([0] * 9 + [1])
    assert accuracy(always_zero, gold) == 0.9
    assert macro_f1(always_zero, gold) == pytest.approx((2 * 9 / (2 * 9 + 1) + 0) / 2)


def test_macro_f1_leaves_out_a_class_that_never_occurs() -> None:
    assert macro_f1(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([0, 1])) == 1.0


@given(ranked)
def test_average_precision_is_the_mean_precision_at_relevant_ranks(rows: list[tuple[bool, int]]) -> None:
    relevant = np.array([found for found, _ in rows])
    score = np.array([value for _, value in rows], float)
    precisions = [np.mean(relevant[score >= value]) for value in score[relevant]]
    assert average_precision(relevant, score) == pytest.approx(np.mean(precisions))


@given(ranked, st.data())
def test_precision_and_recall_count_the_first_k_rows(rows: list[tuple[bool, int]], data: st.DataObject) -> None:
    relevant = np.array([found for found, _ in rows])
    rank = np.array(data.draw(st.permutations(range(1, len(rows) + 1))))
    total = int(relevant.sum())
    for k in range(1, len(rows) + 1):
        found = sum(bool(relevant[place]) for place in range(len(rows)) if rank[place] <= k)
        assert precision_recall_at(relevant, rank, k) == (found / k, found / total)
    precision, recall = precision_recall_at(relevant, rank, total)
    assert precision == recall


def test_what_cannot_be_scored_is_refused() -> None:
    none = np.array([], np.int64)
    with pytest.raises(ValueError, match="no rows to score"):
        accuracy(np.zeros((0, 2)), none)
    with pytest.raises(ValueError, match="have 1 and 2"):
        accuracy(np.zeros((1, 2)), np.array([0, 1]))
    with pytest.raises(InputError, match="no row is relevant"):
        average_precision(np.array([False]), np.array([1.0]))
    with pytest.raises(ValueError, match="k must be from 1 to 2, not 3"):
        precision_recall_at(np.array([True, False]), np.array([1, 2]), 3)

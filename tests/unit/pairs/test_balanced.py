from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from cartograph.pairs.balanced import accuracy_and_f1, balanced_draws, clean_map
from cartograph.pairs.pair_space import PairSpace


def test_balanced_scores() -> None:
    label = np.array([1, 0, 1, 0, 1, 1])
    probability = np.array([0.9, 0.8, 0.4, 0.1, 0.7, 0.6])
    accuracy, f1 = accuracy_and_f1(label, probability)
    assert accuracy == pytest.approx(4 / 6)
    assert f1 == pytest.approx(f1_score(label, probability >= 0.5))
    # Query 2 has positives alone and is not clean.
    assert clean_map(np.array([0, 0, 1, 1, 2, 2]), label, probability) == pytest.approx(1.0)
    assert clean_map(np.array([0, 0, 0, 0, 2, 2]), label, probability) == pytest.approx((1 + 2 / 3) / 2)
    assert clean_map(np.array([0, 1]), np.array([1, 0]), np.array([0.1, 0.2])) is None


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_draw_of_the_balanced_test_is_the_scores_of_the_pairs_as_often_as_they_were_drawn(symmetric: bool) -> None:
    n, rng = 30, np.random.default_rng(5)
    space = PairSpace(np.arange(n), np.arange(n), n, symmetric)
    keys = space.draw(80, np.empty(0, np.int64), rng)
    label, probability = rng.integers(0, 2, 80), rng.uniform(size=80).round(2)
    draws = balanced_draws(space, keys, label, probability, 6, np.random.default_rng(3))
    assert np.isnan(draws[:, 2]).all() == symmetric
    again = np.random.default_rng(3)
    left, right = space.pairs(keys)
    for found in draws:
        times = np.bincount(again.integers(0, n, n), minlength=n)
        rows = np.repeat(np.arange(80), times[left] * (times[right] if symmetric else 1))
        assert found[:2].tolist() == pytest.approx(accuracy_and_f1(label[rows], probability[rows]))
        if not symmetric:
            # Each drawn query as a query of its own.
            queries = np.repeat(np.arange(n), times)
            parts = [np.flatnonzero(left == query) for query in queries]
            names = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
            whole = np.concatenate(parts)
            assert found[2] == pytest.approx(clean_map(names, label[whole], probability[whole]))

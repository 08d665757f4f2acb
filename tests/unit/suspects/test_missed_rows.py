"""Rows that a rare class may have missed come earlier; how many labels are doubted how much stays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example
from hypothesis import given as over
from hypothesis import strategies as st
from scipy.stats import norm

from cartograph.statistics.metrics import average_precision
from cartograph.suspects.label_doubt import label_doubt
from cartograph.suspects.missed_rows import in_order_of


def missed(rows: int, rare: float, share: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities of the given labels where this share of a rare class has the other label, those labels, and which are wrong."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(rows) < rare).astype(np.intp)
    seen = rng.normal(truth * 2.0)
    odds = rare / (1 - rare) * norm.pdf(seen, 2.0) / norm.pdf(seen, 0.0)
    true = odds / (1 + odds)
    given = np.where((truth == 1) & (rng.random(rows) < share), 0, truth)
    labelled = true * (1 - share)
    return np.stack([1 - labelled, labelled], axis=1), given, given != truth


def test_a_missed_class_is_ranked_better_and_as_many_labels_are_doubted() -> None:
    gains = []
    for seed in range(6):
        probabilities, given, wrong = missed(1500, 0.08, 0.4, seed)
        before, after = (label_doubt(probabilities, given, rare_first=first) for first in (False, True))
        np.testing.assert_allclose(np.sort(after.score), np.sort(before.score), atol=1e-12)
        assert (after.wrong, after.between, after.unknown, after.pairs) == (before.wrong, before.between, before.unknown, before.pairs)
        gains.append(average_precision(wrong, after.score) - average_precision(wrong, before.score))
    assert np.mean(gains) > 0.02
    assert min(gains) > -0.01


def test_where_classes_are_even_the_order_stays() -> None:
    probabilities, given, _ = missed(1000, 0.5, 0.0, 3)
    before, after = (label_doubt(probabilities, given, rare_first=first) for first in (False, True))
    np.testing.assert_array_equal(before.score, after.score)


@over(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 5)), min_size=1, max_size=30))
@example([(0.0, 1), (0.0, 2), (0.4305919333713576, 0), (0.4305919333713576, 0), (0.4305919333713576, 2), (0.4305919333713576, 2)])
def test_values_are_given_out_in_an_order(pairs: list[tuple[float, int]]) -> None:
    values, order = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    found = in_order_of(values, order)
    assert found.sum() == pytest.approx(values.sum())
    assert found.min() >= values.min() - 1e-12 and found.max() <= values.max() + 1e-12
    for one in range(len(values)):
        same = order == order[one]
        assert (found[same] == found[one]).all()
        assert (found[order > order[one]] >= found[one]).all()
        below = np.count_nonzero(order < order[one])
        assert found[one] == pytest.approx(np.sort(values)[below : below + same.sum()].mean())

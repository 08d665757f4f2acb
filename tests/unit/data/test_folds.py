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

"""Means in the cells of a map."""

from __future__ import annotations

import numpy as np

from cartograph.experiments.agreement import binned


def test_cells_hold_means_of_enough_rows() -> None:
    x, y = np.array([0.01, 0.02, 0.49]), np.array([0.05, 0.05, 0.95])
    means, counts, x_edges, y_edges = binned(x, y, np.array([1.0, 0.0, 0.7]), bins=2, least=2)
    assert means[0, 0] == 0.5
    assert np.isnan(means[1, 1])
    assert counts.tolist() == [[2, 0], [0, 1]]
    assert (x_edges[-1], y_edges[-1]) == (0.5, 1.0)

from __future__ import annotations

import numpy as np

from cartograph.pairs.matcher.context import Context
from cartograph.pairs.pair_space import PairSpace


def test_rivals_of_either_record_count() -> None:
    space = PairSpace(np.arange(2), np.arange(3), 3, False)
    # Left 0 has right 0 (.9) and 1 (.6); left 1 has right 1 (.8).
    keys, value = np.array([0, 1, 4]), np.array([0.9, 0.6, 0.8])
    columns = Context.of(space, 2, keys, value).columns(keys, value)
    assert np.allclose(columns, [[1, 1, 0.3, 0.9], [0.6 / 0.9, 0.75, -0.3, -0.2], [1, 1, 0.8, 0.2]])
    other = Context.of(space, 2, keys, value).columns(np.array([5]), np.array([0.4]))
    assert np.allclose(other, [[0.5, 1.0, -0.4, 0.4]])


def test_in_one_set_a_record_has_rivals_on_both_sides() -> None:
    space = PairSpace(np.arange(3), np.arange(3), 3, True)
    keys, value = np.array([1, 5]), np.array([0.9, 0.6])  # (0, 1) and (1, 2) share record 1
    assert np.allclose(Context.of(space, 3, keys, value).columns(keys, value), [[1, 1, 0.9, 0.3], [0.6 / 0.9, 1, -0.3, 0.6]])

from __future__ import annotations

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.maps.distance import map_distance


def test_the_distance_of_two_maps_is_the_energy_distance() -> None:
    rng = np.random.default_rng(2)
    one, other = rng.random((30, 2)), rng.random((20, 2)) + 0.6

    def mean(left: np.ndarray, right: np.ndarray) -> float:
        return float(np.mean([np.hypot(*(a - b)) for a in left for b in right]))

    expected = np.sqrt(2 * mean(one, other) - mean(one, one) - mean(other, other))
    found = map_distance(one, other, np.random.default_rng(3))
    assert found.distance == pytest.approx(expected)
    assert found.p == pytest.approx(1 / 200)
    same = map_distance(one, one, np.random.default_rng(3))
    assert same.distance == pytest.approx(0, abs=1e-6) and same.p == 1


def test_the_test_of_two_maps_keeps_its_level() -> None:
    rng = np.random.default_rng(4)
    found = [map_distance(rng.random((25, 2)), rng.random((25, 2)), rng, permutations=99).p for _ in range(100)]
    assert np.mean(np.array(found) <= 0.1) <= 0.2
    with pytest.raises(InputError, match="a map without rows"):
        map_distance(np.empty((0, 2)), rng.random((3, 2)), rng)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.selection.k_centre import k_centre

# Directions whose cosines are exact in floating point, so that ties are ties.
DIRECTIONS = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [1, 1, 1, 1], [1, 1, -1, -1], [-1, 1, -1, 1], [0, 0, 0, 0]], float)


def cosine_distance(one: np.ndarray, other: np.ndarray) -> float:
    """1 - cos; points of zeros are one and the same, at a right angle to every other."""
    lengths = np.sqrt((one**2).sum()), np.sqrt((other**2).sum())
    if min(lengths) == 0:
        return float(max(lengths) > 0)
    return float(1 - (one / lengths[0]) @ (other / lengths[1]))


def plainly(points: np.ndarray, k: int, start: list[int], lots: np.ndarray) -> tuple[list[int], list[float]]:
    """Greedy k-centre by cosine as it is defined."""
    chosen, picks, distances = list(start), [], []
    for _ in range(k):
        away = [min((cosine_distance(point, points[other]) for other in chosen), default=np.inf) for point in points]
        away = [-1.0 if place in chosen else distance for place, distance in enumerate(away)]
        best = max(away)
        pick = min((place for place, distance in enumerate(away) if distance == best), key=lambda place: lots[place])
        chosen.append(pick)
        picks.append(pick)
        distances.append(best)
    return picks, distances


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_k_centre_is_the_plain_greedy_search(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    number = data.draw(st.integers(1, 25))
    points = DIRECTIONS[rng.integers(0, data.draw(st.integers(1, len(DIRECTIONS))), number)]
    points = points * 2.0 ** rng.integers(-3, 4, (number, 1))
    start = rng.permutation(number)[: data.draw(st.integers(0, min(3, number)))]
    k = data.draw(st.integers(0, number - len(start)))
    lots = rng.permutation(number)
    picks, distances = k_centre(points, k, start=start, lots=lots, pool=data.draw(st.integers(1, 8)))
    expected, expected_distances = plainly(points, k, start.tolist(), lots)
    assert picks.tolist() == expected
    np.testing.assert_allclose(distances, expected_distances)


def test_k_centre_on_many_points_in_blocks() -> None:
    points = np.random.default_rng(3).normal(size=(1500, 12)).astype(np.float32)
    directions = points / np.linalg.norm(points, axis=1, keepdims=True)
    picks, distances = k_centre(points, 400, pool=37)
    away = np.full(len(points), np.inf)
    for pick, distance in zip(picks.tolist(), distances.tolist(), strict=True):
        assert away[pick] == pytest.approx(away.max(), rel=1e-4) and away[pick] == pytest.approx(distance, rel=1e-4)
        away = np.minimum(away, 1 - directions @ directions[pick])
        away[pick] = -1.0
    assert (np.diff(distances[1:]) <= 1e-5).all()


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_how_long_a_point_is_does_not_matter(size: float) -> None:
    points = np.random.default_rng(4).normal(size=(60, 5))
    lengths = np.where(np.arange(60) % 2, size, 1.0)[:, None]
    one, other = (k_centre(given, 20, start=np.array([0]))[0].tolist() for given in (points, points * lengths))
    assert one == other


def test_k_centre_refuses_more_points_than_there_are() -> None:
    with pytest.raises(ValueError, match="k must be from 0 to 2, not 3"):
        k_centre(np.zeros((3, 1)), 3, start=np.array([0]))


def test_picks_are_counted_to_the_end() -> None:
    points, heard = np.random.default_rng(3).normal(size=(1500, 12)).astype(np.float32), []
    counted = k_centre(points, 600, pool=37, progress=lambda done, total: heard.append((done, total)))
    assert heard == [(256, 600), (512, 600), (600, 600)]
    np.testing.assert_array_equal(counted[0], k_centre(points, 600, pool=37)[0])

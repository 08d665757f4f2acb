from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.selection.k_centre import k_centre


def plainly(points: np.ndarray, k: int, start: list[int], lots: np.ndarray) -> tuple[list[int], list[float]]:
    """Greedy k-centre as it is defined."""
    chosen, picks, distances = list(start), [], []
    for _ in range(k):
        away = [min((((point - points[other]) ** 2).sum() for other in chosen), default=np.inf) for point in points]
        away = [-1.0 if place in chosen else square for place, square in enumerate(away)]
        best = max(away)
        pick = min((place for place, square in enumerate(away) if square == best), key=lambda place: lots[place])
        chosen.append(pick)
        picks.append(pick)
        distances.append(float(np.sqrt(best)))
    return picks, distances


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_k_centre_is_the_plain_greedy_search(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    number = data.draw(st.integers(1, 25))
    points = rng.integers(0, data.draw(st.integers(1, 6)), (number, data.draw(st.integers(1, 3)))).astype(float)
    start = rng.permutation(number)[: data.draw(st.integers(0, min(3, number)))]
    k = data.draw(st.integers(0, number - len(start)))
    lots = rng.permutation(number)
    picks, distances = k_centre(points, k, start=start, lots=lots, pool=data.draw(st.integers(1, 8)))
    expected, expected_distances = plainly(points, k, start.tolist(), lots)
    assert picks.tolist() == expected
    np.testing.assert_allclose(distances, expected_distances)


def test_k_centre_on_many_points_in_blocks() -> None:
    points = np.random.default_rng(3).normal(size=(1500, 12)).astype(np.float32)
    picks, distances = k_centre(points, 400, pool=37)
    away = np.full(len(points), np.inf)
    for pick, distance in zip(picks.tolist(), distances.tolist(), strict=True):
        assert away[pick] == pytest.approx(away.max(), rel=1e-4) and away[pick] == pytest.approx(distance**2, rel=1e-4)
        away = np.minimum(away, ((points - points[pick]) ** 2).sum(axis=1))
        away[pick] = -1.0
    assert (np.diff(distances[1:]) <= 1e-5).all()


def test_k_centre_refuses_more_points_than_there_are() -> None:
    with pytest.raises(ValueError, match="k must be from 0 to 2, not 3"):
        k_centre(np.zeros((3, 1)), 3, start=np.array([0]))

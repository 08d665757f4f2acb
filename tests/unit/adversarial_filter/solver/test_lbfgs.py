from __future__ import annotations

import numpy as np
import pytest
import torch

from cartograph.adversarial_filter.solver.lbfgs import minimise


def test_each_quadratic_reaches_its_own_minimum() -> None:
    scales, centres = torch.tensor([[1.0, 10.0], [3.0, 0.2], [50.0, 1.0]]), torch.tensor([[1.0, -1.0], [0.0, 4.0], [2.0, 2.0]])

    def objective(points: torch.Tensor, numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        away = points - centres[numbers]
        return (0.5 * scales[numbers] * away**2).sum(dim=1).double(), scales[numbers] * away

    found = minimise(objective, torch.zeros(3, 2), lambda gradient: gradient.clone(), tolerance=1e-5, most_passes=100)
    assert found.unconverged.tolist() == []
    assert torch.allclose(found.points, centres, atol=1e-4)
    cut = minimise(objective, torch.zeros(3, 2), lambda gradient: gradient.clone(), tolerance=1e-9, most_passes=2)
    assert cut.unconverged.tolist() == [0, 1, 2]


def by_the_book(value, gradient, start, eases, tolerance, most_passes, noise=0.0):  # type: ignore[no-untyped-def]
    """One problem by L-BFGS as Nocedal and Wright write it, with eight pairs and a last step that is not looked at: where it ends, when."""
    point, pairs, scale, passes = np.array(start, float), [], 1.0, 1
    while passes < most_passes:
        slope = gradient(point)
        rest, factors = slope.copy(), []
        for step, change in reversed(pairs):
            factors.append((step @ rest) / (step @ change))
            rest = rest - factors[-1] * change
        way = scale * eases * rest
        for (step, change), factor in zip(pairs, reversed(factors), strict=True):
            way = way + (factor - (change @ way) / (step @ change)) * step
        way, length = -way, 1.0
        if slope @ (eases * slope) <= (1.7 * tolerance) ** 2:
            return point + way, passes, True
        for _ in range(13):
            passes += 1
            if value(point + length * way) <= value(point) + 1e-4 * length * (slope @ way) + noise * abs(value(point)):
                break
            length *= 0.3
        else:
            return point, passes, False
        step = length * way
        change = gradient(point + step) - slope
        pairs = [*pairs[-7:], (step, change)]
        scale = float(np.clip((step @ change) / (change @ (eases * change)), 0.05, 20.0))
        point = point + step
    return point, passes, False


CENTRES = np.array([[1.0, -1.0, 0.5], [0.0, 3.0, 0.0], [2.0, 2.0, -4.0]])
WIDTHS = np.array([[1.0, 10.0, 3.0], [3.0, 0.2, 0.5], [20.0, 1.0, 0.1]])


def curved(points: torch.Tensor, numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Three convex problems that are no quadratics: sums of log cosh."""
    centres, widths = torch.from_numpy(CENTRES)[numbers], torch.from_numpy(WIDTHS)[numbers]
    away = points.double() - centres
    return (widths * torch.log(torch.cosh(away))).sum(dim=1), (widths * torch.tanh(away)).to(points.dtype)


@pytest.mark.parametrize("ease", [1.0, 0.1])
@pytest.mark.parametrize("most_passes", [1, 2, 3, 5, 8, 13, 40])
def test_each_problem_goes_the_way_that_the_book_has_it_go_alone(ease: float, most_passes: int) -> None:
    eases = np.array([1.0, 0.5, 2.0]) * ease
    for number in range(3):
        place = torch.tensor([number])
        found = minimise(
            lambda points, _, place=place: curved(points, place.repeat(len(points))),
            torch.zeros(1, 3, dtype=torch.float64),
            lambda gradient: gradient * torch.from_numpy(eases),
            tolerance=1e-6,
            most_passes=most_passes,
            noise=0.0,
        )
        point, passes, done = by_the_book(
            lambda at, number=number: float((WIDTHS[number] * np.log(np.cosh(at - CENTRES[number]))).sum()),
            lambda at, number=number: WIDTHS[number] * np.tanh(at - CENTRES[number]),
            np.zeros(3), eases, 1e-6, most_passes,
        )  # fmt: skip
        np.testing.assert_allclose(found.points[0].numpy(), point, rtol=1e-6, atol=1e-8)
        assert (found.passes, len(found.unconverged)) == (passes, 0 if done else 1)


def test_problems_side_by_side_end_where_each_ends_alone() -> None:
    def ended(numbers: list[int]) -> torch.Tensor:
        every = torch.tensor(numbers)
        start = torch.tensor([[0.0, 0.5, 0.0]]).repeat(len(numbers), 1).double()
        found = minimise(lambda points, own: curved(points, every[own]), start, torch.clone, tolerance=1e-7, most_passes=100)
        assert found.unconverged.tolist() == []
        return found.points

    together = ended([0, 1, 2])
    for number in range(3):
        torch.testing.assert_close(together[[number]], ended([number]))


def test_a_problem_at_its_minimum_stays_there_after_one_pass() -> None:
    start = torch.from_numpy(CENTRES)
    found = minimise(curved, start, torch.clone, tolerance=1e-9, most_passes=50)
    assert torch.equal(found.points, start)
    assert (found.passes, found.unconverged.tolist()) == (1, [])


def test_where_no_step_lowers_the_value_the_problem_stays_where_it_was_and_is_named() -> None:
    def misled(points: torch.Tensor, numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The gradient of the second problem points the wrong way."""
        away = points - 1.0
        return 0.5 * (away**2).sum(dim=1).double(), torch.where(numbers[:, None] == 1, -away, away)

    found = minimise(misled, torch.zeros(3, 2), torch.clone, tolerance=1e-5, most_passes=100)
    assert found.unconverged.tolist() == [1]
    torch.testing.assert_close(found.points, torch.tensor([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]))


def test_a_step_may_rise_by_the_rounding_of_the_value_and_no_more() -> None:
    def risen(share: float) -> int:
        """Values rise by a thousandth wherever one goes; only what is said of their rounding lets a step be taken."""

        def objective(points: torch.Tensor, _: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return 1000.0 + (points[:, 0] != 0).double(), torch.where(points == 0, 1e-3, 0.0)

        return len(minimise(objective, torch.zeros(1, 1), torch.clone, tolerance=1e-9, most_passes=30, noise=share).unconverged)

    assert (risen(2e-3), risen(5e-4)) == (0, 1)


@pytest.mark.parametrize(("tolerance", "passes"), [(0.3, 1), (0.29, 2)])
def test_a_problem_that_is_near_takes_a_last_step_that_is_not_evaluated(tolerance: float, passes: int) -> None:
    def parabola(points: torch.Tensor, _: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return 0.5 * (points**2).sum(dim=1).double(), points.clone()

    found = minimise(parabola, torch.tensor([[0.5]]), torch.clone, tolerance=tolerance, most_passes=9)
    assert (found.passes, found.points.tolist(), len(found.unconverged)) == (passes, [[0.0]], 0)


def test_points_are_evaluated_where_the_objective_knows_them_and_end_anywhere() -> None:
    seen: list[float] = []

    def parabola(points: torch.Tensor, _: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        seen.extend(points[:, 0].tolist())
        return 0.5 * ((points - 0.3) ** 2).sum(dim=1).double(), points - 0.3

    found = minimise(
        parabola,
        torch.tensor([[7.1]]),
        lambda gradient: 0.9 * gradient,
        tolerance=0.2,
        most_passes=9,
        nearest=lambda points: points.round(),
    )
    assert seen == [7.0, 1.0, 0.0]
    assert abs(found.points.item() - 0.3) < 0.05

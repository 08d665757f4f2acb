"""Many smooth convex problems minimised together: L-BFGS with curvature pairs of its own for each, and one shared preconditioner.

What is shared is the work (one evaluation serves all problems that still move), never the mathematics: each problem has its own
step length, history and stopping test, and leaves when it has converged.

Reference: Nocedal and Wright, Numerical Optimization, algorithms 7.4 and 7.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Objective = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""(points (k, size), numbers of their problems (k,)) -> values (k,) in float64, gradients (k, size)."""

Precondition = Callable[[Tensor], Tensor]
"""(k, size) -> (k, size): a symmetric positive definite matrix, roughly the inverse Hessian, times each row."""

_MEMORY = 8
_ARMIJO = 1e-4
_SHRINK = 0.3
_MOST_HALVINGS = 12
_LAST_STEP = 1.7
FLOAT_NOISE = 2e-7
"""Rounding of a mean of float32 losses, as a share of it."""


@dataclass(frozen=True)
class Minimum:
    """Where the problems ended.

    Attributes:
        points: (n_problems, size).
        passes: evaluations of the objective, each of all problems that still moved.
        unconverged: numbers of the problems that stopped at ``most_passes``, or whose values show no further descent above the tolerance.
    """

    points: Tensor
    passes: int
    unconverged: Tensor


def minimise(
    objective: Objective,
    start: Tensor,
    precondition: Precondition,
    *,
    tolerance: float,
    most_passes: int,
    noise: float = FLOAT_NOISE,
    nearest: Callable[[Tensor], Tensor] = torch.clone,
) -> Minimum:
    """Minimise each problem from its own start.

    Args:
        objective: evaluates some of the problems.
        start: (n_problems, size) float32.
        precondition: shared by all problems.
        tolerance: a problem is done when its preconditioned gradient norm, sqrt(g' H g), which bounds how far its value can still
            fall (half the square of it, where H is the inverse Hessian), is at most this. So near that the next step
            will bring it there (``_LAST_STEP``), it takes that step and is not evaluated any more.
        most_passes: bound on evaluations.
        noise: rounding of a value, as a share of it: a step may rise by so much.
        nearest: (k, size) -> (k, size): the points nearest to these that the objective evaluates without rounding them; the last step
            ends anywhere.
    """
    points, active = nearest(start), torch.arange(len(start), device=start.device)
    value, gradient = objective(points, active)
    history = _History()
    passes = 1
    stuck = []
    while len(active) and passes < most_passes:
        eased = precondition(gradient)
        norm = _dot(gradient, eased).clamp_min(0.0).sqrt()
        direction = -history.apply(gradient, precondition)
        slope = _dot(gradient, direction)
        uphill = slope >= 0
        if uphill.any():
            direction[uphill], slope[uphill] = -eased[uphill], -_dot(gradient, eased)[uphill]
        moving = norm > _LAST_STEP * tolerance
        if not moving.all():
            points[active[~moving]] += direction[~moving]
            active, value, gradient = active[moving], value[moving], gradient[moving]
            direction, slope = direction[moving], slope[moving]
            history.keep(moving)
            if not len(active):
                break
        found = _line_search(objective, points[active], value, gradient, direction, slope, active, noise, nearest)
        passes += found.passes
        history.add(found.points - points[active], found.gradient - gradient, precondition)
        points[active], value, gradient = found.points, found.value, found.gradient
        if not found.moved.all():
            stuck.append(active[~found.moved])
            active, value, gradient = active[found.moved], value[found.moved], gradient[found.moved]
            history.keep(found.moved)
    return Minimum(points, passes, torch.cat([*stuck, active]).sort().values)


@dataclass
class _Found:
    points: Tensor
    value: Tensor
    gradient: Tensor
    moved: Tensor
    passes: int


def _line_search(
    objective: Objective,
    points: Tensor,
    value: Tensor,
    gradient: Tensor,
    direction: Tensor,
    slope: Tensor,
    active: Tensor,
    share: float,
    nearest: Callable[[Tensor], Tensor],
) -> _Found:
    """Go along each direction as far as its value falls enough: the whole step first, then less where it must be."""
    length = torch.ones_like(value)
    trial = nearest(points + direction)
    reached, slope_there = objective(trial, active)
    passes = 1
    noise = share * value.abs()
    short = reached > value + _ARMIJO * length * slope.double() + noise
    for _ in range(_MOST_HALVINGS):
        if not short.any():
            break
        length[short] *= _SHRINK
        trial[short] = nearest(points[short] + length[short, None].to(points.dtype) * direction[short])
        reached[short], slope_there[short] = objective(trial[short], active[short])
        passes += 1
        short = reached > value + _ARMIJO * length * slope.double() + noise
    trial[short], reached[short], slope_there[short] = points[short], value[short], gradient[short]
    return _Found(trial, reached, slope_there, ~short, passes)


class _History:
    """The last steps and changes of the gradient of each problem, newest last."""

    def __init__(self) -> None:
        self._pairs: list[tuple[Tensor, Tensor, Tensor]] = []
        self._scale: Tensor | None = None

    def add(self, step: Tensor, change: Tensor, precondition: Precondition) -> None:
        product = _dot(step, change)
        useful = product > 1e-8 * torch.sqrt(_dot(step, step) * _dot(change, change))
        weight = torch.where(useful, 1.0 / product.clamp_min(1e-30), torch.zeros_like(product))
        self._pairs = [*self._pairs[-(_MEMORY - 1) :], (step, change, weight)]
        # How much longer the step was than the preconditioner says for such a change of the gradient.
        said = _dot(change, precondition(change)).clamp_min(1e-30)
        self._scale = torch.where(useful, product / said, torch.ones_like(product)).clamp(0.05, 20.0)

    def keep(self, kept: Tensor) -> None:
        self._pairs = [(step[kept], change[kept], weight[kept]) for step, change, weight in self._pairs]
        self._scale = None if self._scale is None else self._scale[kept]

    def apply(self, gradient: Tensor, precondition: Precondition) -> Tensor:
        """Return the inverse Hessian's estimate times the gradient: the two loops."""
        rest, factors = gradient.clone(), []
        for step, change, weight in reversed(self._pairs):
            factor = weight * _dot(step, rest)
            rest -= factor[:, None] * change
            factors.append(factor)
        result = precondition(rest) if self._scale is None else self._scale[:, None] * precondition(rest)
        for (step, change, weight), factor in zip(self._pairs, reversed(factors), strict=True):
            result += (factor - weight * _dot(change, result))[:, None] * step
        return result


def _dot(one: Tensor, other: Tensor) -> Tensor:
    return (one * other).sum(dim=1)

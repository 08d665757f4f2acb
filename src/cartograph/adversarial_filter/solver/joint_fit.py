"""All logistic regressions of an AFLite round fitted together, on one feature matrix.

**Why the result is scikit-learn's.** Each of the m problems is the one that ``LogisticRegression(C=…)`` solves: the sum of the log
losses of the partition's own training rows, plus half the squared weights divided by C, the intercept free of penalty; two
classes share one weight vector, three or more have one each under a softmax. This is strictly convex in everything that a
prediction depends on, so it has one optimum, and whatever reaches it, from wherever it starts, gives the same predictions up to the
tolerance. Sharing a matrix product, starting from last round's weights, preconditioning, float32 and leaving out rows by
a 0/1 mask change how the optimum is reached, never where it is.

**Why it is fast.** One product of the feature matrix with the weight columns of all partitions (and one back) costs little more than
reading the matrix once; losses and their derivatives, which cost more than that, are computed of each partition's own rows only. A fit on
the pooled rows comes first: its Hessian, class by class, is the preconditioner for all partitions and its weights are their start, so that
four to ten passes suffice. Products are of bfloat16 where the processor has them (``halves``), the last ones of float32 where weights are
many beside the training rows. Where the training rows are very few beside the pool (``t ≪ |S|``) most of a product is of rows that count
for nothing: then each partition's rows are gathered.

Results do not depend on the number of threads: what is summed in parts is summed in the same parts, in their order.

Cost of a pass: O(|S| · d · m · classes) multiplications with masks, O(t · d · m · classes) gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cartograph.adversarial_filter.forecast import Report, unheard
from cartograph.adversarial_filter.solver.curvature import preconditioner, sampled
from cartograph.adversarial_filter.solver.halves import HALF_NOISE, nearest_halves
from cartograph.adversarial_filter.solver.lbfgs import Minimum, Precondition, minimise
from cartograph.adversarial_filter.solver.objective import Objective, absent_classes, gathered, masked, side_by_side
from cartograph.adversarial_filter.solver.problem import Problem, one_thread
from cartograph.data.arrays import Bools, Integers32

_GATHER_BEYOND, _GATHER_HALVES_BEYOND = 8, 24
_PILOT_ROWS = 20_000
_CURVATURE_SHARE = 4.0
_PILOT_TOLERANCE = 0.07
_MOST_GATHERED = 2**28
_HALF_TOLERANCE, _COARSE_TOLERANCE = 2.5e-3, 4e-3
_MANY_WEIGHTS = 1 / 6
"""Weights per training row beyond which rounding of bfloat16 moves predictions: the error's norm grows as their square root."""
_HALF_PASSES = 12
_USUAL_PASSES = 5.5


@dataclass(frozen=True)
class Weights:
    """Fitted linear classifiers.

    Attributes:
        coefficients: (n_partitions, d + 1, columns); the last row is the intercept. ``columns`` is 1 for two classes.
        classes: number of classes.
        passes: evaluations of the joint objective.
        unconverged: partitions that ran out of passes.
        absent: (classes, n_partitions), a huge negative score for each class that a partition never saw; None where all saw all.
    """

    coefficients: Tensor
    classes: int
    passes: int
    unconverged: int
    absent: Tensor | None


def fit(
    given: Problem,
    train: Bools,
    *,
    penalty: float = 1.0,
    start: Tensor | None = None,
    tolerance: float = 3e-3,
    most_passes: int = 200,
    seed: int = 0,
    gather_bytes: int = _MOST_GATHERED,
    report: Report = unheard,
) -> Weights:
    """Fit one classifier per partition.

    Args:
        given: the round's data.
        train: (n_examples, n_partitions), which rows each partition trains on; each has a row of two classes at least.
        penalty: scikit-learn's ``C``: the smaller, the smoother.
        start: (d + 1, columns) weights to start from, such as the mean of last round's; None: a pilot fit on pooled rows.
        tolerance: how near to the optimum: the norm of the preconditioned gradient of the mean loss.
        most_passes: bound on the evaluations of the joint objective.
        seed: of the pooled rows that the pilot and the preconditioner look at.
        gather_bytes: what gathered rows may take, 256 MiB at most; those of one partition are gathered in any case.
        report: called after each pass.
    """
    with one_thread():
        sizes = torch.from_numpy(train.sum(axis=0).astype(np.float32)).to(given.device)
        smooth = 1.0 / (penalty * sizes)
        rng = np.random.default_rng([seed, len(given.rows)])
        shared = float(smooth.mean())
        about = given.centre()
        room = about is not None and 2 * len(given.rows) * given.features.shape[1] <= given.keep_bytes
        few = len(given.rows) > (_GATHER_HALVES_BEYOND if room else _GATHER_BEYOND) * float(sizes.mean())
        kept = given.take_halved(np.arange(len(given.rows)), about) if about is not None and room and not few else None
        begin = _pilot(given, shared, about, _PILOT_TOLERANCE, rng, kept) if start is None else start.to(given.device)
        precondition = preconditioner(given, begin, shared, about, _CURVATURE_SHARE * float(sizes.mean()) * room, rng, kept)
        found, passes, unconverged = [], 0, 0
        for part in _parts(given, train, min(gather_bytes, _MOST_GATHERED) if few else None):
            first = begin.reshape(1, -1).repeat(len(smooth[part]), 1)
            own = _Partitions(given, train[:, part], smooth[part], few, kept, _share_of(part, train.shape[1], report))
            ended = own.minimised(first, precondition, about, tolerance, most_passes)
            found.append(ended.points)
            passes, unconverged = max(passes, ended.passes), unconverged + len(ended.unconverged)
        coefficients = torch.cat(found).reshape(train.shape[1], -1, given.columns)
    return Weights(coefficients, given.classes, passes, unconverged, absent_classes(given, train))


@dataclass(frozen=True)
class _Partitions:
    """Partitions that are fitted together, with masks or gathered."""

    given: Problem
    train: Bools
    smooth: Tensor
    few: bool
    kept: Tensor | None
    evaluated: Callable[[int], None]

    def minimised(self, start: Tensor, precondition: Precondition, about: Tensor | None, tolerance: float, most_passes: int) -> Minimum:
        """Return the optima: with ``about`` by products of bfloat16 as near as those lead, the rest of the way by float32.

        Where weights are many beside the training rows, the gradient's rounding is as large as the gradient that a classifier ends at: the
        last step, at least, is then of float32.
        """
        every = torch.arange(len(start), device=start.device)
        if about is None:
            return self._from(start, every, precondition, tolerance, most_passes)
        many = start.shape[1] > _MANY_WEIGHTS * float(self.train.sum(axis=0).mean())
        near = max(tolerance, _COARSE_TOLERANCE if many else _HALF_TOLERANCE)
        coarse = minimise(
            self._objective(every, about),
            start,
            precondition,
            tolerance=near,
            most_passes=min(_HALF_PASSES, most_passes),
            **_rounding(about),
        )
        left = every if many or tolerance < near else coarse.unconverged
        if not len(left):
            return coarse
        fine = self._from(coarse.points[left], left, precondition, tolerance, most_passes)
        points = coarse.points.clone()
        points[left] = fine.points
        return Minimum(points, coarse.passes + fine.passes, left[fine.unconverged])

    def _from(self, start: Tensor, numbers: Tensor, precondition: Precondition, tolerance: float, most_passes: int) -> Minimum:
        return minimise(self._objective(numbers, None), start, precondition, tolerance=tolerance, most_passes=most_passes)

    def _objective(self, numbers: Tensor, about: Tensor | None) -> Objective:
        train = self.train if len(numbers) == self.train.shape[1] else self.train[:, numbers.cpu().numpy()]
        smooth, kept = self.smooth[numbers], None if about is None else self.kept
        objective = gathered(self.given, train, smooth, about) if self.few else masked(self.given, train, smooth, about, kept)

        def counted(points: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
            found = objective(points, numbers)
            self.evaluated(len(numbers))
            return found

        return counted


def _share_of(part: slice, number: int, report: Report) -> Callable[[int], None]:
    """Return what is called with how many of a part's partitions a pass evaluated, and reports the share of all partitions' passes."""
    made = 0

    def evaluated(partitions: int) -> None:
        nonlocal made
        made += partitions
        report((part.start + min(made / _USUAL_PASSES, part.stop - part.start)) / number)

    return evaluated


def mean_weights(found: Sequence[Weights]) -> Tensor:
    """Return the mean of all partitions' weights, (d + 1, columns), on the CPU where they come from several fits."""
    several = [weights.coefficients.cpu() if len(found) > 1 else weights.coefficients for weights in found]
    return torch.cat(several).mean(dim=0)


def correct_predictions(given: Problem, train: Bools, weights: Weights) -> Integers32:
    """Return how many of the classifiers that did not train on a row predict its label, ``(n_examples,)``."""
    columns = side_by_side(weights.coefficients)

    def work(blocks: Iterator[tuple[slice, Tensor]]) -> Integers32:
        tally = [np.empty(0, np.int32)]
        for part, block in blocks:
            scores = torch.addmm(columns[-1], block, columns[:-1]).reshape(len(block), given.columns, -1)
            labels = torch.from_numpy(given.labels[part]).to(given.device)
            held_out = ~torch.from_numpy(train[part]).to(given.device)
            right = _right(scores, labels, weights.absent) & held_out
            tally.append(right.sum(dim=1, dtype=torch.int32).cpu().numpy())
        return np.concatenate(tally)

    with one_thread():
        return np.concatenate(list(given.each_part(columns.shape[1], work)))


def _right(scores: Tensor, labels: Tensor, absent: Tensor | None) -> Tensor:
    """Return (rows, k): whether the label is the class of the highest score, the first such class where several have it; -1 never is."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).long() == labels[:, None]
    scores = scores if absent is None else scores + absent
    best = scores[:, 0]
    winner = torch.zeros(best.shape, dtype=torch.int16, device=scores.device)
    # Class by class: an argmax over a middle axis takes several times as long.
    for other in range(1, scores.shape[1]):
        winner.masked_fill_(scores[:, other] > best, other)
        best = torch.maximum(best, scores[:, other])
    return winner == labels[:, None].to(torch.int16)


def _pilot(
    given: Problem, smooth: float, about: Tensor | None, tolerance: float, rng: np.random.Generator, kept: Tensor | None = None
) -> Tensor:
    """Return about the optimum on a sample of the pooled rows: where every partition's own optimum is near."""
    rows = sampled(len(given.rows), _PILOT_ROWS, rng)
    start = torch.zeros(given.features.shape[1] + 1, given.columns, device=given.device)
    precondition = preconditioner(given, start, smooth, about, 0.0, rng, kept)
    sample = Problem(given.features, given.rows[rows], given.labels[rows], given.classes, given.device, None)
    if about is None:
        own = given.take(rows)
    else:
        own = given.take_halved(rows, about) if kept is None else kept[torch.from_numpy(rows).to(given.device)]
    objective = masked(sample, np.ones((len(rows), 1), bool), torch.tensor([smooth], device=given.device), about, own)
    ended = minimise(objective, start.reshape(1, -1), precondition, tolerance=tolerance, most_passes=60, **_rounding(about))
    return ended.points.reshape(start.shape)


def _rounding(about: Tensor | None) -> dict[str, Any]:
    """Return what ``minimise`` has to know of products of bfloat16, if there are any."""
    return {} if about is None else {"noise": HALF_NOISE, "nearest": partial(nearest_halves, about=about)}


def _parts(given: Problem, train: Bools, room: int | None) -> Iterator[slice]:
    """Yield partitions to be fitted together: all with masks (no ``room``), as many as their rows have room for when gathered."""
    number = train.shape[1]
    size = number
    if room is not None:
        widest = int(train.sum(axis=0).max()) * given.features.shape[1] * 4
        size = max(1, min(number, room // widest))
    for start in range(0, number, size):
        yield slice(start, min(start + size, number))

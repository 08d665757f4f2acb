"""All logistic regressions of an AFLite round fitted together, on one feature matrix.

**Why the result is scikit-learn's.** Each of the m problems is the one that ``LogisticRegression(C=…)`` solves: the sum of the log
losses of the partition's own training rows, plus half the squared weights divided by C, the intercept free of penalty; two
classes share one weight vector, three or more have one each under a softmax. This is strictly convex in everything that a
prediction depends on, so it has one optimum, and whatever reaches it, from wherever it starts, gives the same predictions up to the
tolerance. Sharing a matrix product, starting from last round's weights, preconditioning, float32 and leaving out rows by
a 0/1 mask change how the optimum is reached, never where it is.

**Why it is fast.** One product of the feature matrix with the weight columns of all partitions (and one back) costs little more than
reading the matrix once. A fit on the pooled rows comes first: its Hessian, class by class, is the preconditioner for all partitions
and its weights are their start, so that five to ten passes suffice. Products are of bfloat16 where the processor has them (``halves``).
Where the training rows are few beside the pool
(``t ≪ |S|``) a mask would waste work on rows that count for nothing: then each partition's rows are gathered.

Cost of a pass: O(|S| · d · m · classes) multiplications with masks, O(t · d · m · classes) gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from cartograph.adversarial_filter.forecast import Report, unheard
from cartograph.adversarial_filter.solver.halves import HALF_NOISE
from cartograph.adversarial_filter.solver.lbfgs import Minimum, Precondition, minimise
from cartograph.adversarial_filter.solver.objective import Objective, absent_classes, gathered, masked, side_by_side
from cartograph.adversarial_filter.solver.problem import Problem, at_once, one_thread
from cartograph.data.arrays import Bools, Integers, Integers32

_GATHER_BEYOND = 8
_PILOT_ROWS = 20_000
_CURVATURE_ROWS = 8_000
_MOST_GATHERED = 2**28
_SHARES = (1e-6, 1e-4, 1e-2, 1.0)
_HALF_TOLERANCE = 2.5e-3
_HALF_PASSES = 12
_USUAL_PASSES = 6.5


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
        begin = _pilot(given, shared, tolerance, rng) if start is None else start.to(given.device)
        precondition = _preconditioner(given, begin, shared, rng)
        few = len(given.rows) > _GATHER_BEYOND * float(sizes.mean())
        about = given.centre()
        found, passes, unconverged = [], 0, 0
        for part in _parts(given, train, min(gather_bytes, _MOST_GATHERED) if few else None):
            first = begin.reshape(1, -1).repeat(len(smooth[part]), 1)
            own = _Partitions(given, train[:, part], smooth[part], few, _share_of(part, train.shape[1], report))
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
    evaluated: Callable[[int], None]

    def minimised(self, start: Tensor, precondition: Precondition, about: Tensor | None, tolerance: float, most_passes: int) -> Minimum:
        """Return the optima: with ``about`` by products of bfloat16 as near as those lead, the rest of the way by float32."""
        every = torch.arange(len(start), device=start.device)
        if about is None:
            return self._from(start, every, precondition, tolerance, most_passes)
        near = max(tolerance, _HALF_TOLERANCE)
        coarse = minimise(
            self._objective(every, about),
            start,
            precondition,
            tolerance=near,
            most_passes=min(_HALF_PASSES, most_passes),
            noise=HALF_NOISE,
        )
        left = every if tolerance < near else coarse.unconverged
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
        objective = (gathered if self.few else masked)(self.given, train, self.smooth[numbers], about)

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
        return np.concatenate(given.each_part(columns.shape[1], work))


def _right(scores: Tensor, labels: Tensor, absent: Tensor | None) -> Tensor:
    """Return (rows, k): whether the label is the class of the highest score, the first such class where several have it; -1 never is."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).long() == labels[:, None]
    scores = scores if absent is None else scores + absent
    own = scores[torch.arange(len(labels), device=scores.device), labels]
    right = (labels >= 0)[:, None].repeat(1, own.shape[1])
    # Class by class: an argmax over a middle axis takes several times as long.
    for other in range(scores.shape[1]):
        later = (labels > other)[:, None]
        right &= (own > scores[:, other]) | ((own == scores[:, other]) & ~later)
    return right


def _pilot(given: Problem, smooth: float, tolerance: float, rng: np.random.Generator) -> Tensor:
    """Return the optimum on a sample of the pooled rows: where every partition's own optimum is near."""
    rows = _sample(len(given.rows), _PILOT_ROWS, rng)
    sample = Problem(given.features, given.rows[rows], given.labels[rows], given.classes, given.device, given.take(rows))
    start = torch.zeros(given.features.shape[1] + 1, given.columns, device=given.device)
    every = np.ones((len(rows), 1), bool)
    objective = masked(sample, every, torch.tensor([smooth], device=given.device))
    precondition = _preconditioner(given, start, smooth, rng)
    ended = minimise(objective, start.reshape(1, -1), precondition, tolerance=3 * tolerance, most_passes=60)
    return ended.points.reshape(start.shape)


def _preconditioner(given: Problem, weights: Tensor, smooth: float, rng: np.random.Generator) -> Callable[[Tensor], Tensor]:
    """Return the inverse of the pooled Hessian at these weights, its blocks between classes left out."""
    rows = _sample(len(given.rows), max(_CURVATURE_ROWS, 4 * given.features.shape[1]), rng)
    block = given.take(rows)
    scores = torch.addmm(weights[-1], block, weights[:-1])
    probability = torch.sigmoid(scores) if given.columns == 1 else torch.softmax(scores, dim=1)
    curvature = (probability * (1 - probability)).clamp_min(1e-4) / len(rows)
    if given.columns > 1:
        # Residuals sum to 0 over the classes; along such directions a softmax is so much more curved than its diagonal blocks say.
        curvature *= given.classes / (given.classes - 1)
    size = block.shape[1] + 1
    alike = not weights.any()

    def inverse(column: int) -> Tensor:
        weighted = block * curvature[:, column, None]
        hessian = torch.empty(size, size, device=given.device)
        hessian[:-1, :-1] = block.T @ weighted
        hessian[:-1, -1] = hessian[-1, :-1] = weighted.sum(dim=0)
        hessian[-1, -1] = curvature[:, column].sum()
        hessian.diagonal()[:-1] += smooth
        return _inverse(hessian)

    def work(columns: range) -> list[Tensor]:
        return [inverse(column) for column in columns]

    found = [one for part in at_once(work, given.spans(1 if alike else given.columns)) for one in part]
    inverses = torch.stack(found * given.columns if alike else found)

    def precondition(gradient: Tensor) -> Tensor:
        by_class = gradient.reshape(len(gradient), size, -1).permute(2, 0, 1)
        return torch.bmm(by_class, inverses).permute(1, 2, 0).reshape(len(gradient), -1)

    return precondition


def _inverse(hessian: Tensor) -> Tensor:
    """Return the inverse of a matrix that is positive semi-definite but for rounding."""
    # Columns of features may be of very different size: what is added to the diagonal is a share of each one's own.
    size = hessian.diagonal().double().rsqrt()
    even = hessian.double() * size[:, None] * size
    for share in _SHARES:
        even.diagonal().fill_(1.0 + share)
        factor, failed = torch.linalg.cholesky_ex(even)
        if not failed:
            break
    return (torch.cholesky_inverse(factor) * size[:, None] * size).to(hessian.dtype)


def _parts(given: Problem, train: Bools, room: int | None) -> Iterator[slice]:
    """Yield partitions to be fitted together: all with masks (no ``room``), as many as their rows have room for when gathered."""
    number = train.shape[1]
    size = number
    if room is not None:
        widest = int(train.sum(axis=0).max()) * given.features.shape[1] * 4
        size = max(1, min(number, room // widest))
    for start in range(0, number, size):
        yield slice(start, min(start + size, number))


def _sample(number: int, size: int, rng: np.random.Generator) -> Integers:
    rows = np.arange(number) if number <= size else np.sort(rng.choice(number, size, replace=False))
    return rows.astype(np.int64)

"""The curvature that all problems of a round share: the inverse of the pooled Hessian, class by class, in bfloat16 where quicker."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from cartograph.adversarial_filter.solver.halves import Product, halved
from cartograph.adversarial_filter.solver.problem import Problem, at_once, evenly
from cartograph.data.arrays import Integers

_ROWS = 8_000
_BLOCK, _PARTS = 2**12, 16
_SHARES = (1e-6, 1e-4, 1e-2, 1.0)


def preconditioner(
    given: Problem,
    weights: Tensor,
    smooth: float,
    about: Tensor | None,
    least: float,
    rng: np.random.Generator,
    kept: Tensor | None = None,
) -> Callable[[Tensor], Tensor]:
    """Return the inverse of the pooled Hessian at these weights, its blocks between classes left out.

    Args:
        given: the round's data.
        weights: (d + 1, columns).
        smooth: what the penalty adds to the diagonal.
        about: where products are of bfloat16, the centre about which rows are taken.
        least: rows that the Hessian is of at least where products are of bfloat16, which make more rows worth their time.
        rng: draws the rows.
        kept: all rows as ``about`` has them.
    """
    width, alike = given.features.shape[1], not weights.any()
    number = max(_ROWS, 4 * width, 0 if about is None else int(least))
    rows, columns = sampled(len(given.rows), number, rng), 1 if alike else given.columns
    blocks = [slice(block.start, block.stop) for block in evenly(len(rows), -(-len(rows) // _BLOCK))]
    product = Product(weights, about)

    def rows_in(block: slice) -> Tensor:
        if kept is None:
            return given.take(rows[block]) if about is None else halved(given.take(rows[block]), about)
        return kept[block] if len(rows) == len(kept) else kept[torch.from_numpy(rows[block]).to(given.device)]

    def curved(block: slice) -> Tensor:
        scores = product.scores(rows_in(block))
        probability = torch.sigmoid(scores) if given.columns == 1 else torch.softmax(scores, dim=1)
        return (probability * (1 - probability)).clamp_min(1e-4)

    def hessian(part: tuple[int, range]) -> Tensor:
        total = torch.zeros(width + 1, width + 1, device=given.device)
        for place in part[1]:
            own, curvature = rows_in(blocks[place]), curvatures[place][:, part[0]]
            weight = curvature.to(own.dtype)
            total[:-1, :-1] += own.T @ (own * weight[:, None])
            total[:-1, -1] += weight @ own
            total[-1, -1] += curvature.sum()
        return total

    curvatures = list(at_once(curved, blocks))
    parts = [(column, part) for column in range(columns) for part in evenly(len(blocks), max(1, _PARTS // columns))]
    hessians = torch.zeros(columns, width + 1, width + 1, device=given.device)
    for (column, _), found in zip(parts, at_once(hessian, parts), strict=True):
        hessians[column] += found
    # Residuals sum to 0 over the classes; along such directions a softmax is so much more curved than its diagonal blocks say.
    hessians *= (given.classes / (given.classes - 1) if given.columns > 1 else 1.0) / len(rows)
    inverses = torch.stack([_inverse(_moved(one, about), smooth) for one in hessians])
    if alike:
        inverses = inverses.expand(given.columns, -1, -1)

    def precondition(gradient: Tensor) -> Tensor:
        by_class = gradient.reshape(len(gradient), width + 1, -1).permute(2, 0, 1)
        return torch.bmm(by_class, inverses).permute(1, 2, 0).reshape(len(gradient), -1)

    return precondition


def _moved(hessian: Tensor, about: Tensor | None) -> Tensor:
    """Return the Hessian of rows as they are from that of rows less ``about``, or of rows as they are."""
    sums = hessian[:-1, -1].clone()
    if about is not None:
        cross = torch.outer(sums, about)
        hessian[:-1, :-1] += cross + cross.T + hessian[-1, -1] * torch.outer(about, about)
        sums += hessian[-1, -1] * about
    hessian[:-1, -1] = hessian[-1, :-1] = sums
    return hessian


def _inverse(hessian: Tensor, smooth: float) -> Tensor:
    """Return the inverse of a matrix that is symmetric and positive semi-definite but for rounding, and of the penalty."""
    hessian = (hessian + hessian.T) / 2
    hessian.diagonal()[:-1] += smooth
    # Columns of features may be of very different size: what is added to the diagonal is a share of each one's own.
    size = hessian.diagonal().double().rsqrt()
    even = hessian.double() * size[:, None] * size
    for share in _SHARES:
        even.diagonal().fill_(1.0 + share)
        factor, failed = torch.linalg.cholesky_ex(even)
        if not failed:
            break
    return (torch.cholesky_inverse(factor) * size[:, None] * size).to(hessian.dtype)


def sampled(number: int, size: int, rng: np.random.Generator) -> Integers:
    """Return the places, rising, of all of so many rows, or of so many of them drawn at random, ``(at most size,)``."""
    rows = np.arange(number) if number <= size else np.sort(rng.choice(number, size, replace=False))
    return rows.astype(np.int64)

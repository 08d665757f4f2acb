"""The objective of many logistic regressions on one matrix: masked, all rows for all partitions, or gathered, each one's own rows.

Both take ``about``: a centre, about which rows are taken in bfloat16 (``halves``), or None for float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from cartograph.adversarial_filter.solver.halves import Product, halved
from cartograph.adversarial_filter.solver.problem import Problem, at_once
from cartograph.data.arrays import Bools

Objective = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]

_EXCLUDED = -1e30
_TINY = 1e-30


def masked(given: Problem, train: Bools, smooth: Tensor, about: Tensor | None = None) -> Objective:
    """Return the objective that multiplies the whole matrix with all partitions' weights, and counts each one's own rows."""
    mask = torch.from_numpy(train).to(given.device)
    labels = torch.from_numpy(given.labels).to(given.device)
    absent = absent_classes(given, train)
    sizes = mask.sum(dim=0)
    room = 2 * len(given.rows) * given.features.shape[1] <= given.keep_bytes
    kept = given.take_halved(np.arange(len(given.rows)), about) if about is not None and room else None

    def objective(points: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        weights = points.reshape(len(points), -1, given.columns)
        product = Product(side_by_side(weights), about)
        every = len(numbers) == mask.shape[1]
        own = None if absent is None else absent if every else absent[:, numbers]

        def work(blocks: Iterator[tuple[slice, Tensor]]) -> tuple[Tensor, Tensor]:
            value = torch.zeros(len(points), dtype=torch.float64, device=given.device)
            gradient = product.nothing()
            for part, block in blocks:
                used = (mask[part] if every else mask[part][:, numbers]).float()
                rows = block if about is None or kept is not None else halved(block, about)
                loss, residual = _loss(product.scores(rows).reshape(len(rows), given.columns, -1), labels[part], own)
                value += (loss * used).sum(dim=0).double()
                gradient += product.back(rows, (residual * used[:, None]).reshape(len(rows), -1))
            return value, gradient

        found = given.each_part(given.columns * len(points), work, kept)
        value, gradient = sum_of([part[0] for part in found]), sum_of([part[1] for part in found])
        back = gradient.T.reshape(-1, given.columns, len(points)).permute(2, 0, 1) / sizes[numbers, None, None]
        return _with_penalty(value / sizes[numbers], back, weights, smooth[numbers])

    return objective


def gathered(given: Problem, train: Bools, smooth: Tensor, about: Tensor | None = None) -> Objective:
    """Return the objective that multiplies each partition's own rows with its own weights."""
    own = [np.flatnonzero(column) for column in train.T]
    blocks = [given.take(rows) if about is None else given.take_halved(rows, about) for rows in own]
    labels = [torch.from_numpy(given.labels[rows]).to(given.device) for rows in own]
    absent = absent_classes(given, train)

    def objective(points: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        weights = points.reshape(len(points), -1, given.columns)
        value = torch.empty(len(points), dtype=torch.float64, device=given.device)
        gradient = torch.empty_like(weights)
        asked = numbers.tolist()

        def work(places: range) -> None:
            for place in places:
                block = blocks[asked[place]]
                product = Product(weights[place], about)
                own = None if absent is None else absent[:, asked[place], None]
                loss, residual = _loss(product.scores(block)[:, :, None], labels[asked[place]], own)
                value[place] = loss.sum() / len(block)
                gradient[place] = product.back(block, residual[:, :, 0]).T / len(block)

        at_once(work, given.spans(len(asked)))
        return _with_penalty(value, gradient, weights, smooth[numbers])

    return objective


def _loss(scores: Tensor, labels: Tensor, absent: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return log losses (rows, k) and their derivatives by the scores (rows, columns, k)."""
    if scores.shape[1] == 1:
        positive = labels[:, None].to(scores.dtype)
        score = scores[:, 0]
        return torch.nn.functional.softplus(score) - positive * score, (torch.sigmoid(score) - positive)[:, None]
    if absent is not None:
        scores = scores + absent
    each = torch.arange(len(labels), device=scores.device)
    probability = torch.softmax(scores, dim=1)
    gold = probability[each, labels]
    loss = gold.log().neg_()
    if (gold < _TINY).any():
        # So improbable a label that float32 has no number for it: its scores still say how much so.
        loss = torch.where(gold < _TINY, torch.logsumexp(scores, dim=1) - scores[each, labels], loss)
    probability[each, labels] -= 1.0
    return loss, probability


def _with_penalty(value: Tensor, gradient: Tensor, weights: Tensor, smooth: Tensor) -> tuple[Tensor, Tensor]:
    slopes = weights[:, :-1]
    value = value + 0.5 * smooth.double() * (slopes * slopes).sum(dim=(1, 2)).double()
    gradient = gradient.clone()
    gradient[:, :-1] += smooth[:, None, None] * slopes
    return value, gradient.reshape(len(weights), -1)


def absent_classes(given: Problem, train: Bools) -> Tensor | None:
    """Return (classes, k): a huge negative score for each class that a partition's training rows lack; None without such a class."""
    if given.classes == 2:
        return None
    seen = np.stack([train[given.labels == label].any(axis=0) for label in range(given.classes)])
    if seen.all():
        return None
    return torch.from_numpy(np.where(seen, 0.0, _EXCLUDED).astype(np.float32)).to(given.device)


def side_by_side(weights: Tensor) -> Tensor:
    """Return (k, d + 1, columns) as (d + 1, columns · k): all classifiers' columns of a class beside each other."""
    return weights.permute(1, 2, 0).reshape(weights.shape[1], -1)


def sum_of(parts: list[Tensor]) -> Tensor:
    """Return the sum of tensors of one shape, always in their order."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total

"""The objective of many logistic regressions on one matrix: masked, all rows for all partitions, or gathered, each one's own rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from cartograph.adversarial_filter.solver.problem import Problem, at_once
from cartograph.data.arrays import Bools

Objective = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]

_EXCLUDED = -1e30


def masked(given: Problem, train: Bools, smooth: Tensor) -> Objective:
    """Return the objective that multiplies the whole matrix with all partitions' weights, and counts each one's own rows."""
    mask = torch.from_numpy(train).to(given.device)
    labels = torch.from_numpy(given.labels).to(given.device)
    absent = absent_classes(given, train)
    sizes = mask.sum(dim=0)

    def objective(points: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        weights = points.reshape(len(points), -1, given.columns)
        columns = side_by_side(weights)
        every = len(numbers) == mask.shape[1]
        own = None if absent is None else absent if every else absent[:, numbers]

        def work(blocks: Iterator[tuple[slice, Tensor]]) -> tuple[Tensor, Tensor]:
            value = torch.zeros(len(points), dtype=torch.float64, device=given.device)
            gradient = torch.zeros_like(columns)
            for part, block in blocks:
                used = (mask[part] if every else mask[part][:, numbers]).to(block.dtype)
                scores = torch.addmm(columns[-1], block, columns[:-1]).reshape(len(block), given.columns, -1)
                loss, residual = _loss(scores, labels[part], own)
                value += (loss * used).sum(dim=0).double()
                residual = (residual * used[:, None]).reshape(len(block), -1)
                gradient[:-1].addmm_(block.T, residual)
                gradient[-1] += residual.sum(dim=0)
            return value, gradient

        found = given.each_part(columns.shape[1], work)
        value, gradient = sum_of([part[0] for part in found]), sum_of([part[1] for part in found])
        back = gradient.reshape(-1, given.columns, len(points)).permute(2, 0, 1) / sizes[numbers, None, None]
        return _with_penalty(value / sizes[numbers], back, weights, smooth[numbers])

    return objective


def gathered(given: Problem, train: Bools, smooth: Tensor) -> Objective:
    """Return the objective that multiplies each partition's own rows with its own weights."""
    own = [np.flatnonzero(column) for column in train.T]
    blocks = [given.take(rows) for rows in own]
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
                scores = torch.addmm(weights[place, -1], block, weights[place, :-1])[:, :, None]
                own = None if absent is None else absent[:, asked[place], None]
                loss, residual = _loss(scores, labels[asked[place]], own)
                value[place] = loss.sum() / len(block)
                gradient[place, :-1] = block.T @ residual[:, :, 0] / len(block)
                gradient[place, -1] = residual[:, :, 0].sum(dim=0) / len(block)

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
    top = scores.amax(dim=1, keepdim=True)
    scores = scores - top
    gold = scores[each, labels]
    scores.exp_()
    total = scores.sum(dim=1, keepdim=True)
    scores /= total
    scores[each, labels] -= 1.0
    return total[:, 0].log_() - gold, scores


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

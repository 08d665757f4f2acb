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


def masked(given: Problem, train: Bools, smooth: Tensor, about: Tensor | None = None, kept: Tensor | None = None) -> Objective:
    """Return the objective that multiplies the whole matrix with all partitions' weights, and counts each one's own rows.

    ``kept`` are all rows as ``about`` has them; None: they are made of each block in turn.
    """
    mask = torch.from_numpy(train).to(given.device)
    labels = torch.from_numpy(given.labels).to(given.device)
    absent = absent_classes(given, train)
    sizes = torch.from_numpy(train.sum(axis=0)).to(given.device)

    def objective(points: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        weights = points.reshape(len(points), -1, given.columns)
        product = Product(side_by_side(weights), about)
        every = len(numbers) == mask.shape[1]
        own = None if absent is None else absent if every else absent[:, numbers]
        # Where all start at one point, one classifier's scores are everyone's.
        one = Product(weights[0], about) if own is None and bool((points == points[0]).all()) else None

        def work(blocks: Iterator[tuple[slice, Tensor]]) -> tuple[Tensor, Tensor]:
            value = torch.zeros(len(points), dtype=torch.float64, device=given.device)
            gradient = product.nothing()
            for part, block in blocks:
                used = mask[part] if every else mask[part][:, numbers]
                rows = block if about is None or kept is not None else halved(block, about)
                if one is None:
                    losses, residual = _of_own_rows(product, rows, used, labels[part], own)
                else:
                    losses, residual = _of_all_rows(one, rows, used, labels[part])
                value += losses
                gradient += product.back(rows, residual)
            return value, gradient

        found = given.each_part(given.columns * len(points), work, kept)
        value, gradient = next(found)
        for more, further in found:
            value, gradient = value + more, gradient + further
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
                loss, residual = _loss(product.scores(block).T.contiguous(), labels[asked[place]], own)
                value[place] = loss.sum() / len(block)
                gradient[place] = product.back(block, residual.T).T / len(block)

        for _ in at_once(work, given.spans(len(asked))):
            pass
        return _with_penalty(value, gradient, weights, smooth[numbers])

    return objective


def _of_own_rows(product: Product, rows: Tensor, used: Tensor, labels: Tensor, absent: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return each partition's sum of the losses of the rows that it uses, ``(k,)``, and their derivatives by all scores, 0 elsewhere.

    Args:
        product: with ``columns · k`` columns of weights.
        rows: (n, d).
        used: (n, k), which rows each partition uses; nothing else is computed of the others than their scores.
        labels: (n,) label ids.
        absent: (columns, k), see ``absent_classes``.
    """
    number = used.shape[1]
    place = _places(used)
    row = torch.div(place, number, rounding_mode="trunc")
    column = place - row * number
    scores = product.some_scores(rows, row, column, number)
    loss, slopes = _loss(scores, labels.index_select(0, row), None if absent is None else absent[:, column])
    losses = loss.new_zeros(used.numel()).index_copy_(0, place, loss).reshape(used.shape).sum(dim=0)
    residual = torch.zeros(len(slopes) * used.numel(), dtype=rows.dtype, device=rows.device)
    place = column + row * (number * len(slopes))
    for first, slope in enumerate(slopes.to(rows.dtype)):
        residual[first * number :].index_copy_(0, place, slope)
    return losses.double(), residual.reshape(len(rows), -1)


def _of_all_rows(product: Product, rows: Tensor, used: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return what ``_of_own_rows`` returns where all partitions have the same weights: the product's."""
    loss, slopes = _loss(product.scores(rows).T.contiguous(), labels, None)
    residual = slopes.T[:, :, None].to(rows.dtype) * used[:, None].to(rows.dtype)
    return (loss @ used.to(loss.dtype)).double(), residual.reshape(len(rows), -1)


def _loss(scores: Tensor, labels: Tensor, absent: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return log losses (n,) and their derivatives by the scores (columns, n)."""
    if len(scores) == 1:
        positive, score = labels.to(scores.dtype), scores[0]
        return torch.nn.functional.softplus(score) - positive * score, (torch.sigmoid(score) - positive)[None]
    if absent is not None:
        scores = scores + absent
    probability = torch.softmax(scores, dim=0)
    gold = probability.gather(0, labels[None])
    loss = gold[0].log().neg_()
    if gold.min() < _TINY:
        # So improbable a label that float32 has no number for it: its scores still say how much so.
        loss = torch.where(gold[0] < _TINY, torch.logsumexp(scores, dim=0) - scores.gather(0, labels[None])[0], loss)
    probability.scatter_(0, labels[None], gold - 1.0)
    return loss, probability


def _places(used: Tensor) -> Tensor:
    """Return where a matrix is true, row after row."""
    if used.device.type == "cpu":
        return torch.from_numpy(np.flatnonzero(used.numpy()))
    return used.flatten().nonzero()[:, 0]


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

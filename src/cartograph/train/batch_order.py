"""The order in which rows are trained on: a pure function of (seed, epoch), so that a resumed training sees the same batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from cartograph.data.arrays import Array, Bools, Integers
from cartograph.models.base import IGNORED, Classifier
from cartograph.models.device import made_ahead
from cartograph.models.encoded import Examples

STEP_LABELS = "step_labels"
"""The name of how many labels an optimiser step has, of all its pieces and processes, in each piece."""

_MEGABATCH = 50
_STRETCH = 10

BatchOrder = Callable[[int], list[Integers]]
"""The rows of each batch of an epoch (from 0), one batch per optimiser step."""


def epoch_batches(n_examples: int, batch_size: int, seed: int, epoch: int, lengths: Integers | None = None) -> list[Integers]:
    """Return an epoch's batches, every row in exactly one of them.

    Rows are shuffled. Where ``lengths`` (n_examples,) are given, each stretch of 50 batches is sorted by length and cut
    into batches, so that rows of like length come together and little is padded; the batches are then shuffled.
    """
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(n_examples)
    if lengths is not None:
        stretch = batch_size * _MEGABATCH
        order = np.concatenate([_by_length(order[start : start + stretch], lengths) for start in range(0, n_examples, stretch)])
    batches = [order[start : start + batch_size] for start in range(0, n_examples, batch_size)]
    if lengths is not None:
        batches = [batches[place] for place in rng.permutation(len(batches))]
    return batches


def _by_length(rows: Integers, lengths: Integers) -> Integers:
    ordered: Integers = rows[np.argsort(-lengths[rows], kind="stable")]
    return ordered


def ranked_batches(rank: Array, batch_size: int, seed: int, epoch: int) -> list[Integers]:
    """Return an epoch's batches with the lowest rank first, (n_examples,).

    Rows are shuffled within stretches of ten batches, so that an epoch is no exact repeat of another.
    """
    rng = np.random.default_rng([seed, epoch])
    order = np.argsort(rank, kind="stable")
    stretch = _STRETCH * batch_size
    parts = [rng.permutation(order[start : start + stretch]) for start in range(0, len(order), stretch)]
    return [part[start : start + batch_size] for part in parts for start in range(0, len(part), batch_size)]


def oversampled_batches(twice: Bools, batch_size: int, seed: int, epoch: int) -> list[Integers]:
    """Return an epoch's batches in which some rows come twice, with as many rows in all as there are.

    Of the other rows as many are left out, drawn again in each epoch; where there are not that many, all are. Rows are shuffled.

    Args:
        twice: which rows come twice, ``(n_examples,)``.
        batch_size: rows per batch.
        seed: of the draws.
        epoch: from 0.
    """
    rng = np.random.default_rng([seed, epoch])
    chosen, others = np.flatnonzero(twice), rng.permutation(np.flatnonzero(~twice))
    order = rng.permutation(np.concatenate([chosen, chosen, others[: max(len(others) - len(chosen), 0)]]))
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


class EpochLoader:
    """One process's batches of an epoch, collated.

    Each batch of the order (one optimiser step) is cut into ``pieces`` forward passes and those among the processes.
    Where a batch has fewer rows than that, a process gets one row that is ignored (label ``IGNORED``, no
    ``rows``), because all processes must make the same number of passes. With ``ahead`` the next ones are made in another thread.
    """

    def __init__(
        self, model: Classifier, examples: Examples, order: BatchOrder, *, pieces: int, rank: int, processes: int, ahead: bool = False
    ) -> None:
        self.dataset = examples
        self._model = model
        self._order = order
        self._pieces = pieces
        self._rank = rank
        self._processes = processes
        self._ahead = ahead
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose batches come next."""
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._order(self._epoch)) * self._pieces

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return made_ahead(self._batches(), self._ahead)

    def _batches(self) -> Iterator[dict[str, Any]]:
        for batch in self._order(self._epoch):
            shares = [batch] if self._pieces * self._processes == 1 else np.array_split(batch, self._pieces * self._processes)
            for piece in range(self._pieces):
                yield self._collate(shares[piece * self._processes + self._rank], batch)

    def _collate(self, rows: Integers, batch: Integers) -> dict[str, Any]:
        number = self.dataset.labels[batch].size
        if len(rows):
            return {**self._model.batch(self.dataset, rows), "rows": rows, STEP_LABELS: number}
        filler = self._model.batch(self.dataset, batch[:1])
        return {**filler, "labels": torch.full_like(filler["labels"], IGNORED), "rows": None, STEP_LABELS: number}

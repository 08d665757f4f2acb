"""A table of embeddings of which a batch reads a few rows: plain, or through an optimiser that keeps only those up to date."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import nn
from torch.nn import functional

from cartograph.data.arrays import Floats32, Integers, Integers32

Reader = Callable[[Integers], torch.Tensor]
"""From the places of some rows, sorted and each once, to those rows as a leaf that takes their gradient."""


class RowTable(nn.Module):
    """Sums of embeddings.

    Attributes:
        weight: (n_rows, width).
        reader: in training gives the rows that a batch reads in place of ``weight``; None: ``weight`` itself is read.
    """

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.reader: Reader | None = None

    def summed(self, ids: torch.Tensor, offsets: torch.Tensor, kept: torch.Tensor | None) -> torch.Tensor:
        """Return the sum of each bag's embeddings, (n_bags, width).

        Args:
            ids: (n_ids,) places in the table.
            offsets: (n_bags + 1,) where each bag begins among the ids, and the end.
            kept: (n_ids,) what each embedding is multiplied by; None: 1.
        """
        if self.training and self.reader is not None:
            return self._sum_of_read(self.reader, ids.numpy(), offsets.numpy(), None if kept is None else kept.numpy())
        return functional.embedding_bag(ids, self.weight, offsets, mode="sum", include_last_offset=True, per_sample_weights=kept)

    def _sum_of_read(self, reader: Reader, ids: Integers32, offsets: Integers, kept: Floats32 | None) -> torch.Tensor:
        factors = np.ones(len(ids), np.float32) if kept is None else kept
        if kept is not None:
            # What is dropped has no gradient, so that its row need not be read.
            chosen = np.flatnonzero(kept)
            offsets = np.searchsorted(chosen, offsets)
            ids, factors = ids[chosen], kept[chosen]
        position = np.zeros(len(self.weight), ids.dtype)
        position[ids] = 1
        places = np.flatnonzero(position)
        position[places] = np.arange(len(places), dtype=ids.dtype)
        bags = sparse.csr_array((factors, position[ids], offsets), shape=(len(offsets) - 1, len(places)))
        summed: torch.Tensor = _Product.apply(reader(places), bags)  # type: ignore[no-untyped-call]
        return summed


class _Product(torch.autograd.Function):
    """A sparse matrix times rows."""

    @staticmethod
    def forward(context: Any, rows: torch.Tensor, bags: sparse.csr_array) -> torch.Tensor:
        context.bags = bags
        return torch.from_numpy(bags @ rows.numpy())

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> Any:
        return torch.from_numpy(context.bags.T @ gradient.numpy()), None

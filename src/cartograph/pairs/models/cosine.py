"""Models of pairs by the cosine of two embeddings: CosineBERT's head and training, over any embedder.

p(positive | a, b) = σ(w · cos(e(a), e(b)) + b) with w > 0 (Mussmann, Jia & Liang 2020, eq. 7): p rises with the cosine, so the pairs
with the highest probability are nearest neighbours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from cartograph.data.arrays import Floats32, Ids, Integers
from cartograph.data.json_files import write_json
from cartograph.models.backward import Backward
from cartograph.models.device import GatheredRows, device_of, moved_tensor
from cartograph.models.encoded import Field
from cartograph.models.isolation import isolated
from cartograph.pairs.models.calibration import Calibration, calibrate

Encoding = dict[str, Field]

CALIBRATION, CONFIG = "calibration.json", "config.json"
_EPSILON = 1e-6
_BLOCK = 65_536


class Embedder(nn.Module, ABC):
    """A map from texts to vectors, shared by both sides of a pair.

    Attributes:
        name: its name in ``COSINE_MODELS``.
        learning_rate: of AdamW, to start from.
        head_factor: the head's learning rate over the embedder's.
        batch_size: pairs per step, to start from.
        read_size: texts embedded together.
    """

    name: ClassVar[str]
    learning_rate: ClassVar[float]
    head_factor: ClassVar[float]
    batch_size: ClassVar[int]
    read_size: ClassVar[int]

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Encoding:
        """Return how the embedder reads some texts; done once for all rounds."""

    @abstractmethod
    def forward(self, batch: dict[str, Field]) -> torch.Tensor:
        """Return (n_texts, width) vectors, of any length."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write everything that ``load`` needs into an existing folder."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path) -> Self:
        """Return what ``save`` wrote."""

    def vectors(self, encoded: Encoding, progress: Callable[[int, int], None] | None = None) -> Floats32:
        """Return (n_texts, width) unit vectors; texts of like length are read together."""
        first = next(iter(encoded.values()))
        order = np.argsort(-first.lengths, kind="stable")
        gathered = GatheredRows(len(order), device_of(self))
        self.eval()
        for start in range(0, len(order), self.read_size):
            rows = order[start : start + self.read_size]
            with torch.no_grad():
                gathered.put(rows, functional.normalize(self({name: field.take(rows) for name, field in encoded.items()}), dim=1))
            if progress is not None:
                progress(start + len(rows), len(order))
        return gathered.array()


class Head(nn.Module):
    """Batch normalisation of the cosine, then a slope, never negative, and an intercept.

    Cosines of a pretrained encoder are all close to 1; normalised they are not. The normalisation has no parameters, and its running
    statistics are the mean over all batches so far.
    """

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(1, affine=False)
        self._batches = 0
        self.w = nn.Parameter(torch.tensor(1.0))
        self.b = nn.Parameter(torch.tensor(0.0))

    def forward(self, cosine: torch.Tensor) -> torch.Tensor:
        """Return the logit of each cosine."""
        if self.training:
            # Counted here: BatchNorm's own count lies on the device, and to read it is to wait for a GPU at every step.
            self._batches += 1
            self.norm.momentum = 1 / self._batches
        logit: torch.Tensor = self.w * self.norm(cosine[:, None])[:, 0] + self.b
        return logit

    def hold_positive(self) -> None:
        """Put the slope back where a step made it negative."""
        with torch.no_grad():
            self.w.clamp_(min=0.0)


@dataclass(frozen=True)
class CosineRecipe:
    """How a cosine model is trained: AdamW without weight decay, eps 1e-6; no dropout, which would lower cosines in training only.

    Attributes:
        epochs: passes over the labelled pairs.
        batch_size: pairs per step.
        learning_rate: of the embedder.
        head_factor: the head's rate is this many times the embedder's.
        seed: of the order of pairs.
        threads: CPU threads.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    head_factor: float
    seed: int
    threads: int = 1


@dataclass(frozen=True)
class CosineModel:
    """A trained embedder and what its cosines mean."""

    embedder: Embedder
    calibration: Calibration

    def save(self, folder: Path) -> None:
        """Write embedder and calibration into an existing folder."""
        self.embedder.save(folder)
        self.calibration.save(folder / CALIBRATION)
        write_json(folder / CONFIG, {"model": self.embedder.name})


def train_cosine(
    embedder: Embedder,
    left: Encoding,
    right: Encoding,
    pairs: tuple[Integers, Integers],
    label: Ids,
    recipe: CosineRecipe,
    progress: Callable[[int, int], None] | None = None,
) -> CosineModel:
    """Train an embedder in place on labelled pairs, then fit the calibration to convergence with the embedder frozen.

    Args:
        embedder: as it was before any training.
        left: the left texts, as ``embedder.encode`` gave them.
        right: the right texts; ``left`` itself where both sides are one set.
        pairs: (n,) rows of either side.
        label: (n,) 1 = positive.
        recipe: how.
        progress: called with (pairs trained on, pairs to train on).
    """
    with isolated(recipe.seed, recipe.threads):
        device = device_of(embedder)
        head = Head().to(device)
        # As a factor of the embedder's small rate, since the two parameters of the head have far to go.
        groups: list[dict[str, Any]] = [
            {"params": list(embedder.parameters())},
            {"params": list(head.parameters()), "lr": recipe.learning_rate * recipe.head_factor},
        ]
        optimiser = torch.optim.AdamW(groups, lr=recipe.learning_rate, eps=_EPSILON, weight_decay=0.0, fused=device.type == "cuda")
        backward = Backward([*embedder.parameters(), *head.parameters()])
        order = np.random.default_rng(recipe.seed)
        for epoch in range(recipe.epochs):
            shuffled = order.permutation(len(label))
            for start in range(0, len(label), recipe.batch_size):
                rows = shuffled[start : start + recipe.batch_size]
                if len(rows) > 1:
                    _step(embedder, head, optimiser, backward, left, right, (pairs[0][rows], pairs[1][rows]), label[rows])
                if progress is not None:
                    progress(epoch * len(label) + start + len(rows), recipe.epochs * len(label))
        cosine = cosines(embedder, left, right, pairs)
    return CosineModel(embedder, calibrate(cosine, label))


def cosines(embedder: Embedder, left: Encoding, right: Encoding, pairs: tuple[Integers, Integers]) -> Floats32:
    """Return the cosine of each pair; every text that occurs is embedded once."""
    if left is right:
        rows, where = np.unique(np.concatenate(pairs), return_inverse=True)
        vectors = embedder.vectors({name: field.take(rows) for name, field in left.items()})
        return pair_cosines(vectors, vectors, where[: len(pairs[0])], where[len(pairs[0]) :])
    sides = [np.unique(rows, return_inverse=True) for rows in pairs]
    first, second = (
        embedder.vectors({name: field.take(rows) for name, field in side.items()})
        for side, (rows, _) in zip((left, right), sides, strict=True)
    )
    return pair_cosines(first, second, sides[0][1], sides[1][1])


def pair_cosines(left: Floats32, right: Floats32, left_rows: Integers, right_rows: Integers) -> Floats32:
    """Return the products of unit vectors, block by block."""
    cosine = np.empty(len(left_rows), np.float32)
    for start in range(0, len(left_rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        cosine[part] = np.einsum("nd,nd->n", left[left_rows[part]], right[right_rows[part]])
    return cosine


def _step(
    embedder: Embedder,
    head: Head,
    optimiser: torch.optim.Optimizer,
    backward: Backward,
    left: Encoding,
    right: Encoding,
    pairs: tuple[Integers, Integers],
    label: Ids,
) -> None:
    # No dropout: the embedder stays in evaluation mode, only its weights move.
    embedder.eval()
    head.train()
    first = functional.normalize(embedder({name: field.take(pairs[0]) for name, field in left.items()}), dim=1)
    second = functional.normalize(embedder({name: field.take(pairs[1]) for name, field in right.items()}), dim=1)
    target = moved_tensor(torch.from_numpy((label == 1).astype(np.float32)), first.device)
    loss = functional.binary_cross_entropy_with_logits(head((first * second).sum(dim=1)), target)
    optimiser.zero_grad(set_to_none=True)
    backward(loss)
    optimiser.step()
    head.hold_positive()

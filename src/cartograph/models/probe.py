"""Probe: a small head on the vectors of a frozen encoder, which are made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self, cast

import numpy as np
import pyarrow as pa
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from cartograph.data.arrays import Floats32
from cartograph.data.json_files import read_json, write_json
from cartograph.errors import InputError
from cartograph.models.base import Side, TextModel, sides_of
from cartograph.models.encoded import Dense, Field
from cartograph.models.frozen.embeddings import Embeddings
from cartograph.schema import DatasetInfo, Task

_HEAD = "head.safetensors"
_READING = "cartograph.json"
_HIDDEN = 256
_DROPOUT = 0.5
_BLOCK = 10_000


class Probe(TextModel):
    """One hidden layer with dropout over standardised vectors; the encoder is never trained.

    Of a pair it reads both vectors, the absolute value of their difference, and their product (Conneau et al. 2017). Vectors are
    standardised by mean and deviation over the train set, because encoders have directions that all texts share.

    Args:
        task: ``single``, ``pair`` or ``choice``.
        labels: label names in the order of the logits.
        width: of what is read of a row.
        max_length: most tokens of a text, where the encoder's folder does not say it.
        embeddings: the frozen part.
    """

    name: ClassVar[str] = "probe"
    learning_rate: ClassVar[float] = 0.005
    most_threads: ClassVar[int] = 1

    def __init__(self, task: str, labels: Sequence[str], width: int, max_length: int, embeddings: Embeddings) -> None:
        super().__init__()
        self.task = task
        self.labels = tuple(labels)
        self.max_length = max_length
        self._embeddings = embeddings
        self.register_buffer("centre", torch.zeros(width))
        self.register_buffer("scale", torch.ones(width))
        self.hidden = nn.Linear(width, _HIDDEN)
        self.last = nn.Linear(_HIDDEN, 1 if task == "choice" else len(self.labels))

    @classmethod
    def create(cls, info: DatasetInfo, train: pa.Table, *, max_length: int = 128, pretrained: str | None = None) -> Self:
        """Take or make the train set's vectors, and draw the head.

        Raises:
            InputError: no ``pretrained`` is given, it cannot be used as an encoder, or it holds embeddings of other data.
        """
        if pretrained is None:
            raise InputError("model `probe` needs `pretrained`: a folder that the step `embed` made, an encoder's folder, or a hub id.")
        embeddings = Embeddings(pretrained, max_length)
        kept = embeddings.saved(train, info)
        vectors = embeddings.embed(sides_of(train, info), info.task) if kept is None else kept
        centre, scale = _moments(vectors, info.task)
        model = cls(info.task, info.labels, len(centre), max_length, embeddings)
        model.get_buffer("centre").copy_(centre)
        model.get_buffer("scale").copy_(scale)
        return model

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the model that ``save`` wrote."""
        return cls.resume(folder, str(folder))

    @classmethod
    def resume(cls, folder: Path, pretrained: str | None) -> Self:
        """Return the head that ``save_state`` wrote, over the vectors of ``pretrained``."""
        reading = read_json(folder / _READING)
        embeddings = Embeddings(pretrained or str(folder), reading["max_length"])
        model = cls(reading["task"], reading["labels"], reading["width"], reading["max_length"], embeddings)
        model.load_state_dict(load_file(folder / _HEAD))
        return model

    def save(self, folder: Path) -> None:
        """Write the head and the encoder: the model reads any text, and its folder is an encoder's folder."""
        self._embeddings.encoder.save(folder)
        self.save_state(folder)

    def save_state(self, folder: Path) -> None:
        """Write the head."""
        save_file(self.weights(), folder / _HEAD)
        reading = {"model": self.name, "task": self.task, "labels": self.labels, "max_length": self.max_length}
        reading["width"] = self.hidden.in_features
        write_json(folder / _READING, reading)

    def fields_of(self, table: pa.Table, info: DatasetInfo) -> Mapping[str, Field]:
        """Return the set's saved vectors, or compute them."""
        kept = self._embeddings.saved(table, info)
        return super().fields_of(table, info) if kept is None else {"vectors": Dense(kept)}

    def read(self, sides: Sequence[Side]) -> dict[str, Dense]:
        """Return each row's vector, of a pair both."""
        return {"vectors": Dense(self._embeddings.embed(sides, cast(Task, self.task)))}

    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Standardise and classify."""
        standard = (_joined(inputs["vectors"], self.task) - self.get_buffer("centre")) / self.get_buffer("scale")
        features = functional.dropout(functional.relu(self.hidden(standard)), _DROPOUT, self.training)
        return self.last(features), features


def _joined(vectors: torch.Tensor, task: str) -> torch.Tensor:
    if task != "pair":
        return vectors
    first, second = vectors.chunk(2, dim=1)
    return torch.cat([first, second, (first - second).abs(), first * second], dim=1)


def _moments(vectors: Floats32, task: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mean and deviation of what is read, over the rows; a constant's deviation is 1."""
    total, squares = np.float64(0.0), np.float64(0.0)
    for start in range(0, len(vectors), _BLOCK):
        joined = _joined(torch.from_numpy(vectors[start : start + _BLOCK]), task).numpy().astype(np.float64)
        total, squares = total + joined.sum(axis=0), squares + (joined * joined).sum(axis=0)
    mean = total / len(vectors)
    deviation = np.sqrt(np.maximum(squares / len(vectors) - mean * mean, 0.0))
    deviation = np.where(deviation > 1e-6 * np.maximum(np.abs(mean), 1e-6), deviation, 1.0)
    return torch.from_numpy(mean).float(), torch.from_numpy(deviation).float()

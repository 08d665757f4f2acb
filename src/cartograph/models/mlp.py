"""A perceptron over a table of features: numbers as they are scaled, and an embedding of each category."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from cartograph.data.json_files import read_json, write_json
from cartograph.features.tables import TableEncoder
from cartograph.models.base import Classifier
from cartograph.models.encoded import Dense
from cartograph.schema import DatasetInfo

_HIDDEN, _LAST = 128, 64
_WIDEST = 16
_DROPOUT = 0.2


class Mlp(Classifier):
    """Two hidden layers over the numbers, what is missing of them, and an embedding of each category.

    How values are read is fitted on the train set alone (``TableEncoder``): a category that it does not have, or has once, shares an
    embedding with the others of its kind, and a missing one has its own.

    Args:
        labels: label names in the order of the logits.
        encoder: how the rows are read.
    """

    name: ClassVar[str] = "mlp"
    reads: ClassVar[Literal["texts", "images", "tables"]] = "tables"
    learning_rate: ClassVar[float] = 0.003
    most_threads: ClassVar[int] = 1

    def __init__(self, labels: Sequence[str], encoder: TableEncoder) -> None:
        super().__init__()
        self.task = "table"
        self.labels = tuple(labels)
        self.encoder = encoder
        widths = [min(_WIDEST, 2 + round(size**0.5)) for size in encoder.sizes]
        self.embeddings = nn.ModuleList(nn.Embedding(size, width) for size, width in zip(encoder.sizes, widths, strict=True))
        numbers = len(encoder.numbers) + sum(number.missing for number in encoder.numbers)
        self.first = nn.Linear(numbers + sum(widths), _HIDDEN)
        self.hidden = nn.Linear(_HIDDEN, _LAST)
        self.last = nn.Linear(_LAST, len(self.labels))

    @classmethod
    def create(cls, info: DatasetInfo, train: pa.Table, *, max_length: int = 128, pretrained: str | None = None) -> Self:
        """Fit the encoder on the train set and draw the weights; ``max_length`` and ``pretrained`` are not used."""
        return cls(info.labels, TableEncoder.fit(train))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the model that ``save`` wrote."""
        config = read_json(folder / "config.json")
        model = cls(config["labels"], TableEncoder.from_json(config["encoder"]))
        model.load_state_dict(load_file(folder / "model.safetensors"))
        return model

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors`` and ``config.json``."""
        save_file(self.weights(), folder / "model.safetensors")
        config: dict[str, Any] = {"model": self.name, "labels": self.labels, "encoder": self.encoder.to_json()}
        write_json(folder / "config.json", config)

    def fields_of(self, table: pa.Table, info: DatasetInfo) -> dict[str, Dense]:
        """Return the numbers and the ids of the categories."""
        return {"numbers": Dense(self.encoder.scaled(table)), "ids": Dense(self.encoder.ids(table).astype(np.int64))}

    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Embed, join and classify."""
        parts = [embedding(inputs["ids"][:, place]) for place, embedding in enumerate(self.embeddings)]
        joined = torch.cat([inputs["numbers"], *parts], dim=1)
        hidden = functional.dropout(functional.relu(self.first(joined)), _DROPOUT, self.training)
        features = functional.dropout(functional.relu(self.hidden(hidden)), _DROPOUT, self.training)
        return self.last(features), features

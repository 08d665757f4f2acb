"""A small convolutional network, from scratch: for small images, and for machines without a hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from cartograph.data.images import pixels_of, sizes_of
from cartograph.data.json_files import read_json, write_json
from cartograph.models.base import Classifier
from cartograph.models.encoded import Dense
from cartograph.schema import DatasetInfo

_SIDES = (8, 32)
_WIDTHS = (32, 64, 128, 128)
_SMALLEST = 4
_HIDDEN = 64
_DROPOUT = 0.3


class Cnn(Classifier):
    """Blocks of two 3 x 3 convolutions and a pooling that halves the sides, until they are under eight pixels; then one hidden layer.

    All images are read at one size: that of the train set's median, grown or shrunk to a longer side of 8 to 32 pixels. Pixels are
    standardised by mean and deviation of each channel over the train set. Images are not augmented in training,
    so that dynamics are those of the image itself.

    Args:
        labels: label names in the order of the logits.
        shape: width, height and channels (1 or 3) at which images are read.
    """

    name: ClassVar[str] = "cnn"
    reads: ClassVar[Literal["texts", "images", "tables"]] = "images"
    learning_rate: ClassVar[float] = 0.002
    most_threads: ClassVar[int] = 1

    def __init__(self, labels: Sequence[str], shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.task = "image"
        self.labels = tuple(labels)
        self.shape = shape
        width, height, channels = shape
        self.register_buffer("centre", torch.zeros(channels))
        self.register_buffer("scale", torch.ones(channels))
        layers: list[nn.Module] = []
        for out in _WIDTHS:
            layers += [nn.Conv2d(channels, out, 3, padding=1), nn.ReLU(), nn.Conv2d(out, out, 3, padding=1), nn.ReLU()]
            layers.append(nn.MaxPool2d(2, ceil_mode=True))
            width, height, channels = -(-width // 2), -(-height // 2), out
            if max(width, height) <= _SMALLEST:
                break
        self.convolutions = nn.Sequential(*layers)
        self.hidden = nn.Linear(width * height * channels, _HIDDEN)
        self.last = nn.Linear(_HIDDEN, len(self.labels))

    @classmethod
    def create(cls, info: DatasetInfo, train: pa.Table, *, max_length: int = 128, pretrained: str | None = None) -> Self:
        """Take size and moments from the train set and draw the weights; ``pretrained`` is not used."""
        column = train.column(info.images[0])
        model = cls(info.labels, _shape(column))
        pixels = pixels_of(column, *model.shape)
        for channel in range(model.shape[2]):
            shares = np.bincount(pixels[..., channel].reshape(-1), minlength=256) / max(pixels[..., channel].size, 1)
            mean = float(shares @ np.arange(256))
            deviation = float(np.sqrt(shares @ (np.arange(256) - mean) ** 2))
            model.get_buffer("centre")[channel], model.get_buffer("scale")[channel] = mean, deviation or 1.0
        return model

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the model that ``save`` wrote."""
        config = read_json(folder / "config.json")
        width, height, channels = config["shape"]
        model = cls(config["labels"], (width, height, channels))
        model.load_state_dict(load_file(folder / "model.safetensors"))
        return model

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors`` and ``config.json``."""
        save_file(self.weights(), folder / "model.safetensors")
        config = {"model": self.name, "labels": self.labels, "shape": self.shape}
        write_json(folder / "config.json", config)

    def fields_of(self, table: pa.Table, info: DatasetInfo) -> dict[str, Dense]:
        """Return the pixels of each image at the size that the network reads."""
        return {"pixels": Dense(pixels_of(table.column(info.images[0]), *self.shape))}

    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Standardise, convolve and classify."""
        standard = (inputs["pixels"].float() - self.get_buffer("centre")) / self.get_buffer("scale")
        seen = self.convolutions(standard.permute(0, 3, 1, 2)).flatten(1)
        hidden = functional.relu(self.hidden(functional.dropout(seen, _DROPOUT, self.training)))
        features = functional.dropout(hidden, _DROPOUT, self.training)
        return self.last(features), features


def _shape(column: pa.ChunkedArray) -> tuple[int, int, int]:
    sizes = sizes_of(column)
    width, height = np.median(sizes[:, :2], axis=0)
    scale = float(np.clip(max(width, height), *_SIDES)) / max(width, height)
    return max(1, round(width * scale)), max(1, round(height * scale)), int(sizes[:, 2].max())

"""A pretrained classifier of images from a local folder or the hub, with a new head."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import torch
from transformers import AutoModelForImageClassification

from cartograph.data.json_files import read_json, write_json
from cartograph.errors import InputError
from cartograph.models.base import Classifier
from cartograph.models.encoded import Pictures
from cartograph.models.image_pretrained import ImageReading, Standardised, preprocessor_folder
from cartograph.models.pretrained import LastInput, load_network, load_with_new_head, save_network, source_of
from cartograph.schema import DatasetInfo

_READING = "cartograph.json"


class Vision(Classifier):
    """Any network that ``AutoModelForImageClassification`` knows; weights from safetensors only, no code from the model's folder.

    Images are decoded batch by batch, and read as ``ImageReading`` says.

    Args:
        network: with ``logits`` in its output, and a linear layer last.
        reading: what it is given of an image.
        labels: label names in the order of the logits.
    """

    name: ClassVar[str] = "vision"
    reads: ClassVar[Literal["texts", "images", "tables"]] = "images"
    mixed_precision: bool = True
    has_unused: ClassVar[bool] = True
    learning_rate: ClassVar[float] = 5e-5

    def __init__(self, network: Any, reading: ImageReading, labels: tuple[str, ...]) -> None:
        super().__init__()
        self.network = network
        self.reading = reading
        self.task = "image"
        self.labels = labels
        self._standardised = Standardised(reading)
        self._last_input = LastInput(network)

    @classmethod
    def create(cls, info: DatasetInfo, train: pa.Table, *, max_length: int = 128, pretrained: str | None = None) -> Self:
        """Load the network and put a new head on it.

        Raises:
            InputError: no ``pretrained`` is given; the folder lacks a file, which is named; or the hub does not give it.
        """
        if pretrained is None:
            raise InputError("model `vision` needs `pretrained`: a folder with config.json and model.safetensors, or a hub id.")
        with source_of(pretrained, tokenizer=False) as (name, local):
            network = load_with_new_head(AutoModelForImageClassification, name, info.labels, local=local)
            reading = ImageReading.of(network.config, preprocessor_folder(name, local=local))
        return cls(network, reading, info.labels)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the model that ``save`` wrote."""
        content = read_json(folder / _READING)
        network = load_network(AutoModelForImageClassification, str(folder), local=True)
        return cls(network, ImageReading.from_json(content["reading"]), tuple(content["labels"]))

    def save(self, folder: Path) -> None:
        """Write the files that ``from_pretrained`` reads, and ``cartograph.json``: how images are read."""
        save_network(self.network, {}, folder)
        content = {"model": self.name, "labels": self.labels, "reading": self.reading.to_json()}
        write_json(folder / _READING, content)

    def fields_of(self, table: pa.Table, info: DatasetInfo) -> dict[str, Pictures]:
        """Return the images as they are stored."""
        return {"images": Pictures(np.array(table.column(info.images[0]).to_pylist(), object))}

    def collate(self, fields: Mapping[str, Pictures]) -> dict[str, torch.Tensor]:
        """Decode the images of a batch."""
        return {"pixels": self.reading.pixels(pa.chunked_array([pa.array(fields["images"].values, pa.binary())]))}

    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Run the network; features are what its last linear layer was given."""
        logits = self.network(pixel_values=self._standardised(inputs["pixels"])).logits
        return logits, self._last_input.take().flatten(1)

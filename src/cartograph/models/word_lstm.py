"""The base class of the recurrent models: a vocabulary of words, embeddings learnt from scratch, saving and loading."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from cartograph.data.json_files import read_json, write_json
from cartograph.models.base import Side, TextModel
from cartograph.models.encoded import Ragged
from cartograph.models.ngrams import Vocabulary
from cartograph.models.word_ids import FIRST, PADDING, padded, read_words, word_vocabulary
from cartograph.schema import DatasetInfo

EMBEDDED = 64
DROPOUT = 0.3


class Recurrent(TextModel):
    """A classifier that reads words in their order.

    Args:
        task: ``single``, ``pair`` or ``choice``.
        labels: label names in the order of the logits.
        max_length: most words of a text; what is longer is cut.
        vocabulary: the words that have an embedding.
    """

    pads: ClassVar[bool] = True
    learning_rate: ClassVar[float] = 0.002

    def __init__(self, task: str, labels: Sequence[str], max_length: int, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.task = task
        self.labels = tuple(labels)
        self.max_length = max_length
        self.vocabulary = vocabulary
        self.embedding = nn.Embedding(len(vocabulary) + FIRST, EMBEDDED, padding_idx=PADDING)

    @classmethod
    def create(cls, info: DatasetInfo, train: pa.Table, *, max_length: int = 128, pretrained: str | None = None) -> Self:
        """Take the vocabulary from the train set and draw the weights; ``pretrained`` is not used."""
        return cls(info.task, info.labels, max_length, word_vocabulary(train, info, max_length))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the model that ``save`` wrote."""
        config = read_json(folder / "config.json")
        tensors = load_file(folder / "model.safetensors")
        vocabulary = Vocabulary(tensors.pop("vocabulary").numpy().view(np.uint64))
        model = cls(config["task"], config["labels"], config["max_length"], vocabulary)
        model.load_state_dict(tensors)
        return model

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors`` (weights and vocabulary) and ``config.json``."""
        tensors = self.weights()
        tensors["vocabulary"] = torch.from_numpy(self.vocabulary.hashes.view(np.int64))
        save_file(tensors, folder / "model.safetensors")
        config = {"model": self.name, "task": self.task, "labels": self.labels, "max_length": self.max_length}
        write_json(folder / "config.json", config)

    def read(self, sides: Sequence[Side]) -> dict[str, Ragged]:
        """Return the word ids of each side."""
        return read_words(sides, self.vocabulary, self.max_length, second=self.task != "single")

    def collate(self, fields: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        """Return the padded word ids of each side."""
        return padded(dict(fields))

    def embedded(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the words' embeddings, with dropout in training, and which positions are words."""
        return functional.dropout(self.embedding(ids), DROPOUT, self.training), ids != PADDING

    @abstractmethod
    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Read and classify; see ``TextModel``."""

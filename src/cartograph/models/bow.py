"""Bag of words: embeddings of hashed word n-grams, summed; for pairs the two sides, their interaction and likeness; then one hidden layer.

Where the texts of a train set share hardly a word, runs of characters are features as well (``DatasetInfo.characters``).

Its dynamics place label errors and easy rows much as those of a large model do, at a thousandth of the cost (Swayamdipta et al. 2020,
App. C.1, compare maps of several architectures).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from cartograph.data.arrays import Hashes, Integers
from cartograph.data.json_files import read_json, write_json
from cartograph.data.memory import release_memory
from cartograph.models.base import Side, TextModel
from cartograph.models.characters import features_with_characters
from cartograph.models.encoded import Ragged
from cartograph.models.likeness import likeness_features
from cartograph.models.ngrams import Counts, Vocabulary, blocks, features_of
from cartograph.models.row_table import RowTable
from cartograph.schema import DatasetInfo

_WIDTH = 32
_HIDDEN = 64
_DROPOUT = 0.3
_FEATURE_DROPOUT = {"text": 0.3, "cross": 0.5}
_LEAST = {"text": 3, "cross": 5}
_MOST = 32_768
_SCALE = 0.3
_GROUP = 16


class Bow(TextModel):
    """Embedding bag over the uni- and bigrams that occur three times or more in the train set.

    A map is useful only if the model learns what rows have in common before it memorises single rows. Rare features, which help only to
    memorise, are left out; features are dropped at random in training; and embeddings are scaled by 0.3, because Adam's steps are as
    large for a rare feature's weight as for a frequent one's.
    """

    name: ClassVar[str] = "bow"
    learning_rate: ClassVar[float] = 0.005
    most_threads: ClassVar[int] = 1

    def __init__(
        self, task: str, labels: Sequence[str], max_length: int, vocabularies: Mapping[str, Vocabulary], *, characters: bool
    ) -> None:
        super().__init__()
        self.task = task
        self.characters = characters
        self.labels = tuple(labels)
        self.max_length = max_length
        self.vocabularies = dict(vocabularies)
        self.embeddings = nn.ModuleDict(
            {name: _Bag(len(vocabulary), _FEATURE_DROPOUT[name]) for name, vocabulary in self.vocabularies.items()}
        )
        self.hidden = nn.Linear(_WIDTH * (5 if "cross" in self.vocabularies else 1), _HIDDEN)
        self.last = nn.Linear(_HIDDEN, 1 if task == "choice" else len(self.labels))

    @classmethod
    def create(cls, info: DatasetInfo, train: pa.Table, *, max_length: int = 128, pretrained: str | None = None) -> Self:
        """Take the vocabulary from the train set and draw the weights; ``pretrained`` is not used."""
        counts: dict[str, Counts] = {}
        for block in blocks(train, info):
            for name, (hashes, _) in _features(block, max_length, info.characters).items():
                counts.setdefault("cross" if name == "cross" else "text", Counts()).add(hashes)
        vocabularies = {name: counted.vocabulary(least=_LEAST[name], most=_MOST) for name, counted in counts.items()}
        return cls(info.task, info.labels, max_length, vocabularies, characters=info.characters)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the model that ``save`` wrote."""
        config = read_json(folder / "config.json")
        tensors = load_file(folder / "model.safetensors")
        vocabularies = {name: Vocabulary(tensors.pop(f"vocabulary.{name}").numpy().view(np.uint64)) for name in config["vocabularies"]}
        model = cls(config["task"], config["labels"], config["max_length"], vocabularies, characters=config.get("characters", False))
        model.load_state_dict(tensors)
        return model

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors`` (weights and vocabulary) and ``config.json``."""
        tensors = self.weights()
        tensors |= {f"vocabulary.{name}": torch.from_numpy(words.hashes.view(np.int64)) for name, words in self.vocabularies.items()}
        save_file(tensors, folder / "model.safetensors")
        config: dict[str, Any] = {"model": self.name, "task": self.task, "labels": self.labels, "max_length": self.max_length}
        config["vocabularies"] = list(self.vocabularies)
        if self.characters:
            config["characters"] = True
        write_json(folder / "config.json", config)

    def fields_of(self, table: pa.Table, info: DatasetInfo) -> dict[str, Ragged]:
        """Return the ids of each text's features, as ``read`` does."""
        return self._ids(blocks(table, info))

    def read(self, sides: Sequence[Side]) -> dict[str, Ragged]:
        """Return the ids of each text's features: of the ``first`` text, the ``second``, and their ``cross``."""
        return self._ids([sides])

    def _ids(self, texts: Iterable[Sequence[Side]]) -> dict[str, Ragged]:
        parts: dict[str, list[Ragged]] = {}
        for number, block in enumerate(texts, start=1):
            for name, (hashes, rows) in _features(block, self.max_length, self.characters).items():
                vocabulary = self.vocabularies["cross" if name == "cross" else "text"]
                parts.setdefault(name, []).append(vocabulary.ids(hashes, rows, len(block)))
            if not number % _GROUP:
                release_memory(number * len(block))
        return {name: _joined(parts.pop(name)) for name in list(parts)}

    def collate(self, fields: Mapping[str, Ragged]) -> dict[str, torch.Tensor]:
        """Return ids and offsets of each kind of feature."""
        batch = {}
        for name, field in fields.items():
            batch[name] = torch.from_numpy(field.values.astype(np.int32, copy=False))
            batch[f"{name}_offsets"] = torch.from_numpy(field.offsets.astype(np.int32))
        return batch

    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Sum embeddings, join the sides, and classify."""
        text = self.embeddings["text"]
        if "cross" not in self.embeddings:
            joined = text(inputs["first"], inputs["first_offsets"])
        else:
            ids = torch.cat([inputs["first"], inputs["second"]])
            offsets = torch.cat([inputs["first_offsets"], inputs["second_offsets"][1:] + len(inputs["first"])])
            joined, second = text(ids, offsets).chunk(2)
            cross = self.embeddings["cross"](inputs["cross"], inputs["cross_offsets"])
            joined = torch.cat([joined, second, (joined - second).abs(), joined * second, cross], dim=1)
        hidden = functional.relu(self.hidden(functional.dropout(joined, _DROPOUT, self.training)))
        features = functional.dropout(hidden, _DROPOUT, self.training)
        return self.last(features), features


class _Bag(RowTable):
    """The sum of the embeddings of each row's features, divided by the square root of their number."""

    def __init__(self, size: int, dropout: float) -> None:
        super().__init__(torch.randn(max(size, 1), _WIDTH) * 0.1)
        self._dropout = dropout

    def forward(self, ids: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        kept = functional.dropout(torch.ones(len(ids), device=ids.device), self._dropout) if self.training else None
        return _SCALE * self.summed(ids, offsets, kept) * offsets.diff().clamp(min=1).rsqrt()[:, None]


def _features(sides: Sequence[Side], max_length: int, characters: bool) -> dict[str, tuple[Hashes, Integers]]:
    found = (features_with_characters if characters else features_of)(sides, max_length)
    if "cross" in found:
        (cross, rows), (alike, of_pairs) = found["cross"], likeness_features(sides, max_length)
        found["cross"] = np.concatenate([cross, alike]), np.concatenate([rows, of_pairs])
    return found


def _joined(parts: Sequence[Ragged]) -> Ragged:
    lengths = np.concatenate([part.lengths for part in parts])
    return Ragged(np.concatenate([part.values for part in parts]), np.concatenate(([0], np.cumsum(lengths))))

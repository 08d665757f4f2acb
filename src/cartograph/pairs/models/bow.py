"""``cosine-bow``: a text is the sum of its n-grams' vectors, weighted by rarity; for machines without an accelerator.

Before training the vectors are random, so a cosine is roughly that of the texts' TF-IDF vectors (Johnson & Lindenstrauss 1984): what a
pretrained encoder is to CosineBERT. Training moves what n-grams mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from cartograph.data.arrays import Floats32, Hashes, Integers
from cartograph.models.encoded import Field, Ragged
from cartograph.models.ngrams import Counts, Vocabulary, Words, mix
from cartograph.pairs.models.cosine import Embedder, Encoding

WIDTH = 128
_MOST = 32_768
_LONGEST = 128
_TEXTS = 20_000
_STEM = re.compile(r"(\w{5})\w+")
_STEMMED = np.uint64(7)


class CosineBow(Embedder):
    """Words, pairs of neighbouring words, and words cut to five letters, which stand for their stems."""

    name: ClassVar[str] = "cosine-bow"
    learning_rate: ClassVar[float] = 0.002
    head_factor: ClassVar[float] = 10.0
    batch_size: ClassVar[int] = 64
    read_size: ClassVar[int] = 4096

    def __init__(self, vocabulary: Vocabulary, rarity: Floats32, width: int = WIDTH) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.register_buffer("rarity", torch.from_numpy(rarity))
        self.weight = nn.Parameter(torch.zeros(max(len(vocabulary), 1), width))

    @classmethod
    def create(cls, texts: Sequence[str], seed: int, width: int = WIDTH) -> Self:
        """Take vocabulary and rarities from texts, labels unseen, and draw the vectors."""
        counts = Counts()
        for block in _blocks(texts):
            hashes, rows = _features(block)
            counts.add(np.unique(np.stack([hashes, rows.astype(np.uint64)]), axis=1)[0])
        vocabulary = counts.vocabulary(least=1 if len(texts) < 1000 else 2, most=_MOST)
        held = np.zeros(max(len(vocabulary), 1), np.int64)
        for block in _blocks(texts):
            hashes, rows = _features(block)
            ids = vocabulary.ids(hashes, rows, len(block))
            pairs = np.unique(np.repeat(np.arange(len(block)), ids.lengths) * len(held) + ids.values)
            held += np.bincount(pairs % len(held), minlength=len(held))
        rarity = np.log((1 + len(texts)) / (1 + held)).astype(np.float32) + 1
        model = cls(vocabulary, rarity, width)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            model.weight.copy_(torch.randn(model.weight.shape, generator=generator) / width**0.5)
        return model

    def encode(self, texts: Sequence[str]) -> Encoding:
        """Return the ids of each text's features."""
        parts = []
        for block in _blocks(texts):
            hashes, rows = _features(block)
            parts.append(self.vocabulary.ids(hashes, rows, len(block)))
        lengths = np.concatenate([part.lengths for part in parts])
        return {"ids": Ragged(np.concatenate([part.values for part in parts]), np.concatenate(([0], np.cumsum(lengths))))}

    def forward(self, batch: dict[str, Field]) -> torch.Tensor:
        """Sum the features' vectors, each times its rarity."""
        field = batch["ids"]
        assert isinstance(field, Ragged)
        ids = torch.from_numpy(field.values.astype(np.int64))
        offsets = torch.from_numpy(field.offsets)
        rarity = self.get_buffer("rarity")[ids]
        return functional.embedding_bag(ids, self.weight, offsets, mode="sum", include_last_offset=True, per_sample_weights=rarity)

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors``: weights, rarities, vocabulary."""
        tensors = {name: tensor.contiguous() for name, tensor in self.state_dict().items()}
        save_file(tensors | {"vocabulary": torch.from_numpy(self.vocabulary.hashes.view(np.int64))}, folder / "model.safetensors")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return what ``save`` wrote."""
        tensors = load_file(folder / "model.safetensors")
        vocabulary = Vocabulary(tensors.pop("vocabulary").numpy().view(np.uint64))
        model = cls(vocabulary, tensors["rarity"].numpy(), tensors["weight"].shape[1])
        model.load_state_dict(tensors)
        return model


def _features(texts: Sequence[str]) -> tuple[Hashes, Integers]:
    hashes, rows = Words(texts, _LONGEST).ngrams()
    stems = Words([_STEM.sub(r"\1", text) for text in texts], _LONGEST)
    return np.concatenate([hashes, mix(stems.hashes, _STEMMED)]), np.concatenate([rows, stems.rows])


def _blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, max(len(texts), 1), _TEXTS):
        yield texts[start : start + _TEXTS]

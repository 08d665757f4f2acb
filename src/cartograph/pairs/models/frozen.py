"""``cosine-frozen``: a pretrained encoder's vectors, made once, and a linear map of them that is trained; at first it changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Self

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from cartograph.data.arrays import Floats32
from cartograph.errors import InputError
from cartograph.models.encoded import Dense, Field
from cartograph.pairs.models.cosine import Embedder, Encoding


class CosineFrozen(Embedder):
    """A linear map of given vectors, the identity before training; the texts are read by the encoder that made the vectors."""

    name: ClassVar[str] = "cosine-frozen"
    learning_rate: ClassVar[float] = 0.0005
    head_factor: ClassVar[float] = 40.0
    batch_size: ClassVar[int] = 64
    read_size: ClassVar[int] = 16_384

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.eye(width))

    def encode(self, texts: Sequence[str]) -> Encoding:
        """Refuse: vectors are given, not made."""
        raise InputError("`cosine-frozen` reads vectors that an encoder has made, not texts; make them with that encoder.")

    @staticmethod
    def encode_vectors(vectors: Floats32) -> Encoding:
        """Return (n_texts, width) vectors as what the model reads."""
        return {"vectors": Dense(vectors)}

    def forward(self, batch: dict[str, Field]) -> torch.Tensor:
        """Map the vectors."""
        return torch.from_numpy(batch["vectors"].values) @ self.weight.T

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors``: the map."""
        save_file({"weight": self.weight.detach().contiguous()}, folder / "model.safetensors")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return what ``save`` wrote."""
        weight = load_file(folder / "model.safetensors")["weight"]
        model = cls(len(weight))
        model.load_state_dict({"weight": weight})
        return model

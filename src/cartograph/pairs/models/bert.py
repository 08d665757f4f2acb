"""``cosine-bert``: CosineBERT, a pretrained encoder's mean token, fine-tuned; any encoder from a local folder or the hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import torch

from cartograph.models.base import Side
from cartograph.models.device import chosen_device, half_products, moved
from cartograph.models.encoded import Field, Ragged
from cartograph.models.frozen.text_encoder import Encoder
from cartograph.models.isolation import require_device
from cartograph.models.pretrained import padded_tokens, takes_bfloat16, tokens_of
from cartograph.pairs.models.cosine import Embedder, Encoding

LONGEST = 128


class CosineBert(Embedder):
    """The mean over tokens of the last layer; padding does not count."""

    name: ClassVar[str] = "cosine-bert"
    learning_rate: ClassVar[float] = 2e-5
    head_factor: ClassVar[float] = 1e4
    batch_size: ClassVar[int] = 16
    read_size: ClassVar[int] = 64

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.network: Any = encoder.network

    @classmethod
    def create(cls, pretrained: str, device: str = "cpu") -> Self:
        """Load an encoder's weights as they are before any training.

        Raises:
            InputError: it cannot be loaded, or there is no such device.
        """
        require_device(device)
        return cls(Encoder.load(pretrained, pooling="mean", max_length=LONGEST)).to(chosen_device(device))

    def encode(self, texts: Sequence[str]) -> Encoding:
        """Return the tokens of each text."""
        tokens = tokens_of(self.encoder.tokenizer, [Side(text) for text in texts], self.encoder.max_length)
        # First what tells a text's length.
        return {"input_ids": tokens.pop("input_ids"), **tokens}

    def forward(self, batch: dict[str, Field]) -> torch.Tensor:
        """Read the tokens and average their states."""
        fields = {name: field for name, field in batch.items() if isinstance(field, Ragged)}
        device = self.network.device
        inputs = moved(padded_tokens(self.encoder.tokenizer, fields), device)
        with half_products(device, takes_bfloat16(self.network.config)):
            states = self.network(**inputs).last_hidden_state.float()
        weights = inputs["attention_mask"][:, :, None].to(states.dtype)
        mean: torch.Tensor = (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
        return mean

    def save(self, folder: Path) -> None:
        """Write the files that ``from_pretrained`` reads."""
        (folder / "encoder").mkdir()
        self.encoder.save(folder / "encoder")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return what ``save`` wrote."""
        return cls.create(str(folder / "encoder"))

"""A frozen encoder of texts: one vector per distinct text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from transformers import AutoModel

from cartograph.data.arrays import Floats32, Integers
from cartograph.data.json_files import read_json, write_json
from cartograph.errors import InputError
from cartograph.models.base import Side
from cartograph.models.device import CPU, GatheredRows, half_products, moved
from cartograph.models.pretrained import (
    PADDED_TO,
    load_network,
    load_tokenizer,
    longest_input,
    padded_tokens,
    save_network,
    source_of,
    takes_bfloat16,
    tokenizer_files,
    tokens_of,
)

Pooling = Literal["mean", "cls"]

READING = "encoder.json"
"""The file beside an encoder that says how texts are read: pooling, most tokens, files of the tokenizer."""


class Encoder:
    """A network without a head, its weights in float32; no code from its folder is run, and no pickle is read.

    Args:
        network: with ``last_hidden_state`` in its output.
        tokenizer: what turns texts into its tokens.
        pooling: ``mean`` of the tokens' states, or the first token's (``cls``).
        max_length: most tokens of a text; what is longer is cut.
        saved_tokenizer: the files that ``save`` writes of the tokenizer; None = as it is now.
    """

    def __init__(
        self, network: Any, tokenizer: Any, pooling: Pooling, max_length: int, saved_tokenizer: Mapping[str, bytes] | None = None
    ) -> None:
        self.pooling = pooling
        self.max_length = min(max_length, longest_input(network.config, tokenizer))
        self.network = network.eval()
        self.tokenizer = tokenizer
        self._tokenizer_files = saved_tokenizer or tokenizer_files(tokenizer)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.network.config.hidden_size)

    @classmethod
    def load(cls, pretrained: str, *, pooling: Pooling, max_length: int) -> Encoder:
        """Load a local folder's network, or the hub's; torch's global generator is left as it was.

        Raises:
            InputError: it cannot be loaded, or is no encoder.
        """
        with source_of(pretrained) as (name, local), torch.random.fork_rng(devices=[]):
            tokenizer = load_tokenizer(name, local=local)
            network = load_network(AutoModel, name, local=local)
        if network.config.is_encoder_decoder:
            raise InputError(f"{pretrained} is an encoder with a decoder behind it; use a plain encoder.")
        if getattr(network, "pooler", None) is not None:
            # Not used here, and drawn at random where the folder has none.
            network.pooler = None
        return cls(network, tokenizer, pooling, max_length, _saved_tokenizer(Path(pretrained).expanduser()))

    def save(self, folder: Path) -> None:
        """Write the files that ``from_pretrained`` reads, and how texts are read, into an existing folder."""
        save_network(self.network.cpu(), self._tokenizer_files, folder)
        reading = {"pooling": self.pooling, "max_length": self.max_length, "tokenizer": sorted(self._tokenizer_files)}
        write_json(folder / READING, reading)

    def distinct_vectors(
        self, sides: Sequence[Side], *, batch_size: int = 64, device: torch.device = CPU, progress: Callable[[int, int], None] | None = None
    ) -> tuple[Floats32, Integers]:
        """Return one vector per distinct text, and for each side the row that is its.

        Texts of one padded length are read together, the longest first, and every batch of them has as many rows: a text's
        vector does not depend on the texts beside it, so that vectors kept from an earlier call are those that this one would make.

        Args:
            sides: texts, or pairs of texts that are read as one.
            batch_size: texts read together; on a GPU as many of a shorter length as take the room of so many of the longest.
            device: where the network runs; on a GPU that has bfloat16, with products of that.
            progress: called with (texts read, texts to read).

        Returns:
            (n_distinct, width) vectors and (n_sides,) rows of them.
        """
        if not sides:
            return np.empty((0, self.width), np.float32), np.empty(0, np.int64)
        places = {side: place for place, side in enumerate(dict.fromkeys(sides))}
        fields = tokens_of(self.tokenizer, list(places), self.max_length)
        network = self.network.to(device)
        gathered, done = GatheredRows(len(places), device), 0
        room = batch_size * self.max_length if device.type != "cpu" else None
        for rows, size in _batches(fields["input_ids"].lengths, batch_size, room):
            filled = np.resize(rows, size)
            inputs = moved(padded_tokens(self.tokenizer, {name: field.take(filled) for name, field in fields.items()}), device)
            with torch.no_grad():
                with half_products(device, takes_bfloat16(network.config)):
                    states = network(**inputs).last_hidden_state.float()
                gathered.put(rows, _pooled(states, inputs["attention_mask"], self.pooling)[: len(rows)])
            done += len(rows)
            if progress is not None:
                progress(done, len(places))
        return gathered.array(), np.fromiter((places[side] for side in sides), np.int64, len(sides))


def saved_reading(pretrained: str) -> dict[str, Any] | None:
    """Return how the texts of a folder that ``Encoder.save`` wrote are read; None for any other folder or name."""
    path = Path(pretrained).expanduser() / READING
    if not path.is_file():
        return None
    reading: dict[str, Any] = read_json(path)
    return reading


def _saved_tokenizer(folder: Path) -> dict[str, bytes] | None:
    reading = saved_reading(str(folder))
    return None if reading is None else {name: (folder / name).read_bytes() for name in reading["tokenizer"]}


def _batches(lengths: Integers, batch_size: int, room: int | None) -> Iterator[tuple[Integers, int]]:
    """Yield the rows of each batch, of one length once they are padded, and how many it has room for: so many, or what tokens allow."""
    padded = -(-lengths // PADDED_TO)
    for steps in np.unique(padded)[::-1]:
        rows = np.flatnonzero(padded == steps)
        size = batch_size if room is None else max(batch_size, room // (max(int(steps), 1) * PADDED_TO))
        for start in range(0, len(rows), size):
            yield rows[start : start + size], size


def _pooled(states: torch.Tensor, mask: torch.Tensor, pooling: Pooling) -> torch.Tensor:
    if pooling == "cls":
        return states[:, 0]
    weights = mask[:, :, None].to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)

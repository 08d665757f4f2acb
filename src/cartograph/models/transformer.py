"""A pretrained encoder from a local folder or the hub, with a new head: sequence classification, or multiple choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import pyarrow as pa
import torch
from transformers import AutoModelForMultipleChoice, AutoModelForSequenceClassification, AutoTokenizer

from cartograph.data.json_files import read_json, write_json
from cartograph.errors import InputError
from cartograph.models.base import Side, TextModel
from cartograph.models.encoded import Ragged
from cartograph.models.pretrained import (
    LastInput,
    drops_layers,
    load_network,
    load_tokenizer,
    load_with_new_head,
    longest_input,
    padded_tokens,
    save_network,
    source_of,
    takes_bfloat16,
    tokenizer_files,
    tokens_of,
)
from cartograph.schema import DatasetInfo

_READING = "cartograph.json"


class Transformer(TextModel):
    """Any encoder that the Auto classes know; weights from safetensors only, no code from the model's folder.

    Args:
        network: with ``logits`` in its output, and a linear layer last.
        tokenizer: what turns texts into its tokens.
        task: ``single``, ``pair`` or ``choice``.
        labels: label names in the order of the logits.
        max_length: most tokens of an example.
        saved_tokenizer: what ``save`` writes of the tokenizer: the files it was loaded from, because a tokenizer changes as it
            is used; None = as it is now.
    """

    name: ClassVar[str] = "transformer"
    pads: ClassVar[bool] = True
    has_unused: ClassVar[bool] = True
    learning_rate: ClassVar[float] = 2e-5

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        task: str,
        labels: Sequence[str],
        max_length: int,
        saved_tokenizer: Mapping[str, bytes] | None = None,
    ) -> None:
        super().__init__()
        self.network = network
        self.tokenizer = tokenizer
        self._tokenizer_files = saved_tokenizer or tokenizer_files(tokenizer)
        self.task = task
        self.labels = tuple(labels)
        self.mixed_precision = takes_bfloat16(network.config)
        self.repeats_steps = not drops_layers(network.config)
        self.max_length = min(max_length, longest_input(network.config, tokenizer))
        self._last_input = LastInput(network)

    @classmethod
    def create(cls, info: DatasetInfo, train: pa.Table, *, max_length: int = 128, pretrained: str | None = None) -> Self:
        """Load the encoder and its tokenizer and put a new head on it.

        Raises:
            InputError: no ``pretrained`` is given; the folder lacks a file, which is named; or the hub does not give it.
        """
        if pretrained is None:
            raise InputError(
                "model `transformer` needs `pretrained`: a folder with config.json, model.safetensors and a tokenizer, or a hub id."
            )
        with source_of(pretrained) as (name, local):
            tokenizer = load_tokenizer(name, local=local)
            labels = () if info.task == "choice" else info.labels
            network = load_with_new_head(_auto(info.task), name, labels, local=local, problem_type="single_label_classification")
        return cls(network, tokenizer, info.task, info.labels, max_length)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the model that ``save`` wrote."""
        reading = read_json(folder / _READING)
        network = load_network(_auto(reading["task"]), str(folder), local=True)
        tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
        files = {name: (folder / name).read_bytes() for name in reading["tokenizer"]}
        return cls(network, tokenizer, reading["task"], reading["labels"], reading["max_length"], files)

    def save(self, folder: Path) -> None:
        """Write the files that ``from_pretrained`` reads, and ``cartograph.json``: how examples are read."""
        save_network(self.network, self._tokenizer_files, folder)
        reading = {"model": self.name, "task": self.task, "labels": self.labels, "max_length": self.max_length}
        reading["tokenizer"] = sorted(self._tokenizer_files)
        write_json(folder / _READING, reading)

    def read(self, sides: Sequence[Side]) -> dict[str, Ragged]:
        """Return the tokens of each row, special ones included; the longer side of a pair is cut first."""
        return tokens_of(self.tokenizer, sides, self.max_length)

    def collate(self, fields: Mapping[str, Ragged]) -> dict[str, torch.Tensor]:
        """Pad the rows of a batch to its longest, in steps of eight."""
        return padded_tokens(self.tokenizer, fields)

    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Run the network; features are what its last linear layer was given."""
        if self.task == "choice":
            inputs = {name: tensor.reshape(-1, len(self.labels), tensor.shape[1]) for name, tensor in inputs.items()}
        logits = self.network(**inputs).logits
        return logits.reshape(-1, 1) if self.task == "choice" else logits, self._last_input.take()


def _auto(task: str) -> Any:
    return AutoModelForMultipleChoice if task == "choice" else AutoModelForSequenceClassification

"""The base class of all models: a classifier that encodes its own rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import torch
from torch import nn
from torch.nn import functional
from transformers.utils import ModelOutput

from cartograph.data.arrays import Integers
from cartograph.data.memory import release_memory
from cartograph.models.encoded import Examples, Field
from cartograph.schema import BLANK, LABEL, LABEL_SET, UID, WEIGHT, DatasetInfo

IGNORED = -100
"""The label of a row that only fills up a batch: it has no part in the loss."""


@dataclass
class Output(ModelOutput):  # type: ignore[misc]
    """What a model returns.

    Attributes:
        loss: scalar, mean cross-entropy over the rows with a label; None without labels.
        logits: (batch, n_classes) for texts and pairs, (batch, n_options) for multiple choice.
        features: (batch, width), or (batch, n_options, width): the input of the last layer.
    """

    loss: torch.Tensor | None = None
    logits: torch.Tensor | None = None
    features: torch.Tensor | None = None


class Classifier(nn.Module, ABC):
    """A classifier together with how it reads its rows.

    Attributes:
        name: its name in ``MODELS`` and in params.yaml.
        reads: ``texts``, ``images``, or ``tables`` of features.
        pads: whether a batch costs what its longest row costs, so that rows of like length belong together.
        mixed_precision: whether it trains well in bf16 on a GPU.
        has_unused: whether it may have parameters without a part in its logits, for which several processes must look after every step.
        repeats_steps: whether a step does the same whatever the rows, if their shape is the same, so that it can be recorded
            (``train.step_graphs``).
        learning_rate: a peak rate of AdamW to start from.
        by_stages: whether it is trained by adding trees, stage by stage (``train.stages``), not by an optimiser's steps.
        most_threads: more CPU threads than these do not make it faster; 0 = no such bound.
        accepts_loss_kwargs: read by Hugging Face's Trainer, which must not pass its own arguments through.
        task: ``single``, ``pair``, ``choice``, ``image`` or ``table``.
        labels: label names in the order of the logits.
    """

    name: ClassVar[str]
    reads: ClassVar[Literal["texts", "images", "tables"]]
    pads: ClassVar[bool] = False
    mixed_precision: bool = False
    has_unused: ClassVar[bool] = False
    repeats_steps: bool = False
    learning_rate: ClassVar[float]
    by_stages: ClassVar[bool] = False
    most_threads: ClassVar[int] = 0
    accepts_loss_kwargs: ClassVar[bool] = False
    task: str
    labels: tuple[str, ...]

    @classmethod
    @abstractmethod
    def create(cls, info: DatasetInfo, train: pa.Table, *, max_length: int, pretrained: str | None) -> Self:
        """Make an untrained model for a train set (``schema.examples_schema``).

        Weights are drawn from torch's global generator, which the caller seeds.

        Args:
            info: the train set's.
            train: the train set, from which a vocabulary is taken where the model has one.
            max_length: most tokens of an example; what is longer is cut. Not used for images and tables.
            pretrained: a local folder or a hub id, for models that start from one.

        Raises:
            InputError: ``pretrained`` cannot be used.
        """

    @classmethod
    @abstractmethod
    def load(cls, folder: Path) -> Self:
        """Return the model that ``save`` wrote."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write weights (safetensors), configuration and vocabulary into an existing folder."""

    @classmethod
    def resume(cls, folder: Path, pretrained: str | None) -> Self:
        """Return the model whose training goes on from what ``save_state`` wrote; ``pretrained`` as in ``create``."""
        return cls.load(folder)

    def save_state(self, folder: Path) -> None:
        """Write what a training that resumes needs; less than ``save`` where a part of the model is not trained."""
        self.save(folder)

    @abstractmethod
    def fields_of(self, table: pa.Table, info: DatasetInfo) -> Mapping[str, Field]:
        """Turn a set of examples into the arrays that ``collate`` cuts batches from, one row per text, pair, option or image."""

    def collate(self, fields: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        """Return the arguments of ``logits_and_features`` for the rows of a batch: as they are, where all rows are of one shape."""
        return {name: torch.from_numpy(field.values) for name, field in fields.items()}

    @abstractmethod
    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (rows, n_classes) logits, or (rows, 1) scores for multiple choice, and (rows, width) features."""

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the weights and buffers as safetensors writes them."""
        return {name: tensor.contiguous().cpu() for name, tensor in self.state_dict().items()}

    def encode(self, table: pa.Table, info: DatasetInfo) -> Examples:
        """Encode a set of examples once, so that a batch is only cut out."""
        # First what takes most room to make: a string of each uid takes more than it does in the table.
        fields = self.fields_of(table, info)
        release_memory(table.num_rows)
        uids = table.column(UID).combine_chunks().to_numpy(zero_copy_only=False)
        labels = label_matrix(table) if LABEL_SET in table.column_names else table.column(LABEL).to_numpy().astype(np.int64)
        weights = table.column(WEIGHT).to_numpy().astype(np.float32) if WEIGHT in table.column_names else None
        return Examples(uids, labels, fields, max(len(info.options), 1), weights)

    def batch(self, examples: Examples, rows: Integers) -> dict[str, torch.Tensor]:
        """Return the arguments of the model for some examples, ``labels`` among them."""
        return {**self.collate(examples.take(rows)), "labels": torch.from_numpy(examples.labels[rows])}

    def batches(self, examples: Examples, parts: Iterable[Integers]) -> Iterator[tuple[Integers, dict[str, torch.Tensor]]]:
        """Yield the rows of each part, and the arguments of the model for them."""
        for rows in parts:
            yield rows, self.batch(examples, rows)

    def forward(self, labels: torch.Tensor | None = None, **inputs: torch.Tensor) -> Output:
        """Classify a batch; see ``Output``."""
        logits, features = self.logits_and_features(**inputs)
        if self.task == "choice":
            logits = logits.reshape(-1, len(self.labels))
            features = features.reshape(len(logits), len(self.labels), -1)
        loss = None if labels is None else functional.cross_entropy(logits.float(), labels, ignore_index=IGNORED)
        return Output(loss=loss, logits=logits, features=features)


def label_matrix(table: pa.Table) -> Integers:
    """Return which labels each row of a set with several of them has, 0 and 1, ``(n_examples, n_labels)``."""
    values = table.column(LABEL_SET).combine_chunks().flatten().to_numpy(zero_copy_only=False)
    labels: Integers = values.reshape(table.num_rows, -1).astype(np.int64)
    return labels


class TextModel(Classifier):
    """A classifier of texts."""

    reads: ClassVar[Literal["texts", "images", "tables"]] = "texts"

    @abstractmethod
    def read(self, sides: Sequence[Side]) -> Mapping[str, Field]:
        """Turn texts into the arrays that ``collate`` cuts batches from, one row per text or pair."""

    def fields_of(self, table: pa.Table, info: DatasetInfo) -> Mapping[str, Field]:
        """Return what is read of a set of examples."""
        return self.read(sides_of(table, info))


@dataclass(frozen=True)
class Side:
    """Texts that a model reads as one row: a text, or a pair of texts."""

    first: str
    second: str | None = None


def sides_of(table: pa.Table, info: DatasetInfo) -> list[Side]:
    """Return what a model reads of each example, one entry per text or pair and one per option of a choice.

    A multiple-choice sentence is cut at the blank ``_``: each option is the pair (text before, option and text after).
    A text without a blank comes whole before the option.
    """
    columns: list[list[Any]] = [table.column(name).to_pylist() for name in info.fields]
    if info.task == "single":
        return [Side(text) for text in columns[0]]
    if info.task == "pair":
        return [Side(first, second) for first, second in zip(*columns, strict=True)]
    return [Side(*_filled(text, option)) for text, *options in zip(*columns, strict=True) for option in options]


def _filled(text: str, option: str) -> tuple[str, str]:
    before, blank, after = text.partition(BLANK)
    return before.rstrip(), f"{option}{after}" if blank else option

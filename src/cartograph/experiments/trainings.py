"""Trainings that only experiments need: rows in a given order, and dynamics of a fixed set of rows every few optimiser steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from transformers import TrainerCallback

from cartograph.data.arrays import Array
from cartograph.dynamics.recorder import DynamicsRecorder
from cartograph.models.isolation import isolated, seed_everything
from cartograph.models.registry import model_class
from cartograph.schema import dataset_info
from cartograph.train.batch_order import EpochLoader
from cartograph.train.fit import cpu_threads
from cartograph.train.recipe import Recipe
from cartograph.train.trainer import DynamicsTrainer, Score, Watch

_STRETCH = 10


def ordered_history(recipe: Recipe, train: pa.Table, evaluation: Mapping[str, pa.Table], folder: Path, rank: Array | None) -> list[Score]:
    """Train with the rows of every epoch in a given order; return the history of every set after every epoch.

    Args:
        recipe: how.
        train: the train set.
        evaluation: evaluation sets by name.
        folder: for the Trainer's own files.
        rank: (n_examples,) lowest first; rows are shuffled within stretches of ten batches, so that an epoch is no exact repeat.
            None = shuffled throughout, as in any training.
    """

    class Trainer(DynamicsTrainer):
        def get_train_dataloader(self) -> EpochLoader:
            loader = super().get_train_dataloader()
            return loader if rank is None else _Ranked(loader, rank)

    history: list[Score] = []
    with isolated(recipe.seed, cpu_threads(recipe)):
        trainer = _made(Trainer, recipe, train, evaluation, folder, Watch(history=history))
        trainer.train()
    return history


class _Ranked(EpochLoader):
    """Batches in the order of a rank."""

    def __init__(self, loader: EpochLoader, rank: Array) -> None:
        self.__dict__.update(loader.__dict__)
        self._rank_of_row = rank

    def __iter__(self) -> Iterator[dict[str, Any]]:
        rng = np.random.default_rng([self._seed, self._epoch])
        order = np.argsort(self._rank_of_row, kind="stable")
        stretch = _STRETCH * self._batch_size
        for start in range(0, len(order), stretch):
            part = rng.permutation(order[start : start + stretch])
            for begin in range(0, len(part), self._batch_size):
                batch = part[begin : begin + self._batch_size]
                for piece in np.array_split(batch, self._pieces):
                    yield self._collate(piece, batch)


def step_dynamics(recipe: Recipe, train: pa.Table, probe: pa.Table, folder: Path, *, every: int) -> Path:
    """Train, and record the logits of a fixed set of rows after every ``every`` optimiser steps, with dropout off.

    Args:
        recipe: how.
        train: the train set.
        probe: the rows that are read, of the train set or not.
        folder: of the dynamics, one ``epoch=N.parquet`` per reading.
        every: optimiser steps between readings.
    """
    with isolated(recipe.seed, cpu_threads(recipe)):
        trainer = _made(DynamicsTrainer, recipe, train, {}, folder / "trainer", Watch())
        examples = trainer.model.encode(probe, dataset_info(probe.schema))
        recorder = DynamicsRecorder(folder / "dynamics", uids=examples.uids)

        class Reading(TrainerCallback):  # type: ignore[misc]
            def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
                if state.global_step % every == 0:
                    # Reading draws nothing, but a model that is read is out of training mode.
                    recorder.record(examples.uids, torch.from_numpy(trainer.predict_logits(examples)), examples.labels)
                    recorder.end_epoch()
                    trainer.model.train()

        trainer.add_callback(Reading())
        trainer.train()
    return folder / "dynamics"


def _made(
    kind: type[DynamicsTrainer], recipe: Recipe, train: pa.Table, evaluation: Mapping[str, pa.Table], folder: Path, watch: Watch
) -> Any:
    info = dataset_info(train.schema)
    seed_everything(recipe.seed)
    model = model_class(recipe.model).create(info, train, max_length=recipe.max_length, pretrained=recipe.pretrained)
    evaluated = {name: model.encode(table, dataset_info(table.schema)) for name, table in sorted(evaluation.items())}
    return kind(recipe, model, model.encode(train, info), evaluated, folder, watch=watch)

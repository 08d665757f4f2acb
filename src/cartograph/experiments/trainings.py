"""Trainings that only experiments need: rows in a given order, and dynamics of a fixed set of rows every few optimiser steps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch
from transformers import TrainerCallback

from cartograph.data.arrays import Array, Bools
from cartograph.dynamics.recorder import DynamicsRecorder
from cartograph.errors import InputError
from cartograph.models.encoded import Examples
from cartograph.models.isolation import isolated, seed_everything
from cartograph.models.registry import model_class
from cartograph.schema import dataset_info
from cartograph.train.batch_order import BatchOrder, oversampled_batches, ranked_batches
from cartograph.train.fit import cpu_threads
from cartograph.train.recipe import Recipe
from cartograph.train.trainer import DynamicsTrainer, Score, Watch


def ordered_history(
    recipe: Recipe,
    train: pa.Table,
    evaluation: Mapping[str, pa.Table],
    folder: Path,
    rank: Array | None = None,
    twice: Bools | None = None,
) -> list[Score]:
    """Train with the rows of every epoch in a given order; return the history of every set after every epoch.

    Args:
        recipe: how.
        train: the train set.
        evaluation: evaluation sets by name.
        folder: for the Trainer's own files.
        rank: (n_examples,) lowest first, as in ``ranked_batches``; None = shuffled throughout, as in any training.
        twice: (n_examples,) which rows come twice in an epoch, as in ``oversampled_batches``, where there is no rank; None = no row.
    """
    order: BatchOrder | None = None
    if rank is not None:
        order = partial(ranked_batches, rank, recipe.batch_size, recipe.seed)
    elif twice is not None:
        order = partial(oversampled_batches, twice, recipe.batch_size, recipe.seed)
    history: list[Score] = []
    with isolated(recipe.seed, cpu_threads(recipe)):
        _trainer(recipe, train, evaluation, folder, Watch(history=history), order).train()
    return history


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
        trainer = _trainer(recipe, train, {}, folder / "trainer", Watch())
        examples = trainer.model.encode(probe, dataset_info(probe.schema))
        trainer.add_callback(_Readings(trainer, examples, DynamicsRecorder(folder / "dynamics", uids=examples.uids), every))
        trainer.train()
    return folder / "dynamics"


class _Readings(TrainerCallback):  # type: ignore[misc]
    """Record what the model says of some examples, as an epoch of their dynamics, after every so many steps."""

    def __init__(self, trainer: DynamicsTrainer, examples: Examples, recorder: DynamicsRecorder, every: int) -> None:
        self._trainer = trainer
        self._examples = examples
        self._recorder = recorder
        self._every = every

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step % self._every == 0:
            # Reading draws nothing at random, but it takes the model out of training mode.
            logits = torch.from_numpy(self._trainer.predict_logits(self._examples))
            self._recorder.record(self._examples.uids, logits, self._examples.labels)
            self._recorder.end_epoch()
            self._trainer.model.train()


def _trainer(
    recipe: Recipe, train: pa.Table, evaluation: Mapping[str, pa.Table], folder: Path, watch: Watch, order: BatchOrder | None = None
) -> DynamicsTrainer:
    info = dataset_info(train.schema)
    if model_class(recipe.model).by_stages:
        raise InputError(f"the experiment needs a model that is trained by an optimiser's steps, but `{recipe.model}` grows by stages.")
    seed_everything(recipe.seed)
    model = model_class(recipe.model).create(info, train, max_length=recipe.max_length, pretrained=recipe.pretrained)
    evaluated = {name: model.encode(table, dataset_info(table.schema)) for name, table in sorted(evaluation.items())}
    return DynamicsTrainer(recipe, model, model.encode(train, info), evaluated, folder, watch=watch, order=order)

"""The training behind the map of rows that have several labels: one model with a sigmoid for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from scipy import sparse

from cartograph.data.arrays import Ids, Integers
from cartograph.data.progress import Progress
from cartograph.models.registry import batch_for, model_class
from cartograph.schema import dataset_info
from cartograph.train.enough import Attempt, fit_until_learnt, yes_attempt, yes_simple
from cartograph.train.fit import fit_files
from cartograph.train.recipe import Recipe
from cartograph.train.result import TrainingResult
from cartograph.wording import counted, percent

_NEARLY = 0.95
"""Part of the simple models' F1 that the model must reach on its own rows, read while dropout is on: F1 counts few errors for much."""


def usual_recipe(examples: pa.Table, seed: int) -> Recipe:
    """Return how the model of such a set is trained where nothing else is asked for."""
    model = "mlp" if dataset_info(examples.schema).features else "bow"
    return Recipe(model=model, learning_rate=model_class(model).learning_rate, seed=seed, batch_size=batch_for(model, len(examples)))


def least_f1(features: sparse.csr_array | None, given: Ids, seed: int, groups: Integers | None = None) -> float | None:
    """Return the F1 that a model must reach on its own rows to have learnt them; None where simple models cannot read them.

    Args:
        features: ≥ 0, ``(n_examples, n_features)``.
        given: 0 and 1, ``(n_examples, n_labels)``.
        seed: as ``yes_simple`` takes it, like ``groups``.
        groups: see there.
    """
    return None if features is None else _NEARLY * yes_simple(features, given, seed, groups)


def fit_labels(
    recipe: Recipe, least: float | None, train: Path, folder: Path, *, auto: bool, progress: Progress | None
) -> tuple[TrainingResult, list[Attempt]]:
    """Train; return the last training, and every attempt in order.

    Args:
        recipe: how; ``epochs`` are those of the first attempt.
        least: as ``least_f1`` says.
        train: a set with ``schema.LABEL_SET``.
        folder: as ``fit_files`` takes it, like ``progress``.
        auto: whether the training goes on until the model has learnt.
        progress: see there.
    """
    if auto:
        return fit_until_learnt(recipe, least, train, {}, folder, progress=progress, judged=yes_attempt)
    fitted = fit_files(recipe, train, {}, folder, progress=progress)
    return fitted, [yes_attempt(fitted)]


def not_learnt(attempts: Sequence[Attempt], least: float | None) -> str:
    """Return what is wrong with a training, in whole sentences; empty where the model has learnt."""
    last = attempts[-1]
    if last.learnt(least):
        return ""
    return (
        f"The model has not learnt these labels: after {counted(last.epochs, 'epoch')} it finds the labels of the rows that it "
        f"trains on with an F1 of {percent(last.accuracy)}. Its map says little; the suspects are found by other models. "
        f"Raise the epochs above {last.epochs} (train.epochs; --epochs of the command)."
    )

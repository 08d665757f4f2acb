"""Early stopping: a training ends where its accuracy on a validation set no longer rises, and the best epoch's model is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cartograph.errors import InputError
from cartograph.schema import DatasetInfo
from cartograph.train.recipe import Recipe


def require_validation(recipe: Recipe, evaluation: Mapping[str, DatasetInfo]) -> None:
    """Check that there is a set by which a recipe with patience can choose an epoch.

    Args:
        recipe: how.
        evaluation: evaluation sets by name.

    Raises:
        InputError: no evaluation set in distribution has its name.
    """
    if recipe.patience is None:
        return
    wanted = f"patience is {recipe.patience}, so epochs are judged by an evaluation set `{recipe.validation}` in distribution (`id`)"
    way_out = "name one so, or leave patience out (null): rows held out of the train set instead would be missing on its map"
    if recipe.validation not in evaluation:
        there = ", ".join(f"`{name}`" for name in sorted(evaluation)) or "none"
        raise InputError(f"{wanted}, but the evaluation sets are: {there}; {way_out}.")
    if (domain := evaluation[recipe.validation].domain) != "id":
        raise InputError(f"{wanted}, but that set is `{domain}`; {way_out}.")


def best_epoch(history: Iterable[Mapping[str, Any]], name: str) -> int:
    """Return the first epoch with the highest accuracy on a set.

    Args:
        history: ``{"epoch", "set", "accuracy"}`` of every set after every epoch.
        name: the set's, scored after every epoch, at least one.
    """
    scores = [score for score in history if score["set"] == name]
    return int(max(scores, key=lambda score: (score["accuracy"], -score["epoch"]))["epoch"])


def out_of_patience(history: Iterable[Mapping[str, Any]], recipe: Recipe) -> bool:
    """Return whether as many epochs as the recipe's patience have passed since the best one."""
    scores = [score for score in history if score["set"] == recipe.validation]
    if recipe.patience is None or not scores:
        return False
    return bool(scores[-1]["epoch"] - best_epoch(scores, recipe.validation) >= recipe.patience)

"""Learning rates drawn log-uniformly, a training each, and which one does best on rows that none of them was trained on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.train.recipe import Recipe


class Trial(TypedDict):
    """A training of the search: its number from 1 on, its rate, its accuracy on the held rows, and whether it failed."""

    trial: int
    learning_rate: float
    accuracy: float
    failed: bool


def search_rates(
    trials: int,
    bounds: tuple[float, float],
    seed: int,
    recipe: Recipe,
    rows: pa.Table,
    held: dict[str, pa.Table],
    folder: Path,
    update: Callable[[int, int], None] = lambda _, __: None,
) -> list[Trial]:
    """Return every trial; those that a killed search had finished are found again in the folder's database.

    Args:
        trials: how many rates.
        bounds: lowest and highest rate.
        seed: of the rates.
        recipe: of each training, but for its rate.
        rows: what is trained on.
        held: name -> the one set that rates are compared on.
        folder: of the search; made where it is not there.
        update: called with how many trainings are done, and of how many.
    """
    import optuna

    from cartograph.train.fit import fit

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    folder.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        storage=f"sqlite:///{folder / 'trials.db'}", study_name="learning rate", direction="maximize", load_if_exists=True
    )
    [name] = held
    done = {trial.user_attrs["place"] for trial in study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))}
    for place in range(trials):
        update(place, trials)
        if place in done:
            continue
        # A rate depends on its place alone, so that a resumed search tries the rates that an uninterrupted one would.
        study.sampler = optuna.samplers.RandomSampler(seed=seed * 10_007 + place)
        trial = study.ask()
        rate = trial.suggest_float("learning_rate", *bounds, log=True)
        scratch = folder / f"trial-{place}"
        fitted = fit(replace(recipe, learning_rate=rate), rows, held, scratch)
        trial.set_user_attr("place", place)
        trial.set_user_attr("failed", bool(fitted.metrics["train.failed"]))
        study.tell(trial, fitted.metrics[f"{name}.accuracy"])
        shutil.rmtree(scratch)
    update(trials, trials)
    found: list[Trial] = [
        {
            "trial": trial.user_attrs["place"] + 1,
            "learning_rate": float(trial.params["learning_rate"]),
            "accuracy": float(trial.value or 0.0),
            "failed": trial.user_attrs["failed"],
        }
        for trial in study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))
        if trial.user_attrs["place"] < trials
    ]
    return sorted(found, key=lambda trial: trial["trial"])


def best_of(found: Sequence[Trial]) -> Trial:
    """Return the trial of the highest accuracy, the first of equals; one that failed only where all have."""
    return max(found, key=lambda trial: (not trial["failed"], trial["accuracy"], -trial["trial"]))

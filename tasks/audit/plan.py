"""What an audit makes, and where it stands: sets, selections, experiments and retrained models, for the steps that read them."""

from __future__ import annotations

from typing import Any

from cartograph.config import Settings

MODEL_NEEDED = "AL-"
"""How the names of the strategies begin that ask a model of a random share."""


def ingested(settings: Settings) -> tuple[str, ...]:
    """Return the declared names of the ingested sets: ``train`` first, then the evaluation sets by name."""
    evaluation: dict[str, object] = settings["ingest"].evaluation  # type: ignore[attr-defined]
    return tuple(f"data/ingest/{name}.parquet" for name in ("train", *sorted(evaluation)))


def is_built_in(settings: Settings) -> bool:
    """Return whether the audited data comes with the project, so that what is planted in it is known."""
    return getattr(settings["ingest"], "source", "files") != "files"


def selection_name(strategy: str, fraction: float) -> str:
    """Return what a selection is called: ``ambiguous-0.33``."""
    return f"{strategy}-{fraction:g}"


def selection_file(name: str) -> str:
    """Return where the rows of a selection stand, as those of the versions that the step `clean` makes do."""
    return f"data/select/{name}.parquet"


def selections(settings: Settings) -> dict[str, tuple[str, float]]:
    """Return the strategy and the fraction of every selection of an audit by its name; none where the audit selects nothing."""
    params: Any = settings.get("select")
    if params is None:
        return {}
    return {selection_name(strategy, fraction): (strategy, fraction) for strategy in params.strategies for fraction in params.fractions}


def experiments_of(settings: Settings) -> tuple[str, ...]:
    """Return where the answers of an audit's experiments stand."""
    return tuple(f"data/ablate/{name}" for name in getattr(settings.get("ablate"), "experiments", ()))


def retrained(settings: Settings) -> dict[tuple[str, int], str]:
    """Return the folder of every retrained model by subset and seed.

    Empty where nothing is retrained: there is no evaluation set to score a model on, no subset, or no seed.
    """
    params: Any = settings.get("retrain")
    if params is None or not settings["ingest"].evaluation:  # type: ignore[attr-defined]
        return {}
    subsets = (*params.subsets, *chosen_selections(settings))
    return {(subset, seed): f"data/retrain/{subset}-{seed}" for subset in subsets for seed in params.seeds}


def chosen_selections(settings: Settings) -> tuple[str, ...]:
    """Return the names of the selections that are trained on: all that the step `select` makes, where ``retrain.selections`` is on."""
    params: Any = settings.get("retrain")
    return () if params is None or not params.selections else tuple(selections(settings))

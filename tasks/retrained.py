"""Which models an audit retrains, and where each stands: for the steps that read them."""

from __future__ import annotations

from typing import Any

from cartograph.config import Settings
from tasks.selected import selections


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

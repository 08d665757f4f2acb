"""Which models an audit retrains, and where each stands: for the steps that read them."""

from __future__ import annotations

from typing import Any

from cartograph.config import Settings


def retrained(settings: Settings) -> dict[tuple[str, int], str]:
    """Return the folder of every retrained model by subset and seed.

    Empty where nothing is retrained: there is no evaluation set to score a model on, no subset, or no seed.
    """
    params: Any = settings.get("retrain")
    if params is None or not settings["ingest"].evaluation:  # type: ignore[attr-defined]
        return {}
    return {(subset, seed): f"data/retrain/{subset}-{seed}" for subset in params.subsets for seed in params.seeds}

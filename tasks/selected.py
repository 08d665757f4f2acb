"""Which selections and experiments an audit makes, and where each stands: for the steps that read them."""

from __future__ import annotations

from typing import Any

from cartograph.config import Settings

MODEL_NEEDED = "AL-"
"""How the names of the strategies begin that ask a model of a random share."""


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

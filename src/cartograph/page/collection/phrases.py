"""Methods and intervals in the sentences of a collection's page."""

from __future__ import annotations

from typing import Any

from cartograph.wording import percent_range


def phrase_of(method: str) -> str:
    """Return a method's name in a sentence."""
    return {"uncertainty": "uncertainty sampling", "random": "random sampling"}.get(method, method.replace("-", " "))


def interval_of(row: Any) -> str:
    """Return the interval of a row with ``low`` and ``high``, in per cent without the sign."""
    return percent_range(row["low"], row["high"])


def metric_interval(metrics: Any, name: str) -> str:
    """Return the interval of a number among flat ones, in per cent."""
    return f"{percent_range(metrics[f'{name}.low'], metrics[f'{name}.high'])}\u00a0%"

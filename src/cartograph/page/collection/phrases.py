"""Methods and intervals in the sentences of a collection's page."""

from __future__ import annotations

from typing import Any

from cartograph.wording import percent_range

UNSTATED = (
    "Test pairs that nobody has stated count as negatives here, though many may be matches, and the stated ones were the easiest to find: "
    "average precision and precision are too low, and the model before any label looks better than it is."
)
"""Of numbers that rest on what was stated, where a part of the positives was."""


def phrase_of(method: str) -> str:
    """Return a method's name in a sentence."""
    return {"uncertainty": "uncertainty sampling", "random": "random sampling"}.get(method, method.replace("-", " "))


def interval_of(row: Any) -> str:
    """Return the interval of a row with ``low`` and ``high``, in per cent without the sign."""
    return percent_range(row["low"], row["high"])


def metric_interval(metrics: Any, name: str) -> str:
    """Return the interval of a number among flat ones, in per cent."""
    return f"{percent_range(metrics[f'{name}.low'], metrics[f'{name}.high'])}\u00a0%"

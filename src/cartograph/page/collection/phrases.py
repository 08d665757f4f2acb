"""Methods, shares and intervals in the sentences of a collection's page."""

from __future__ import annotations

from typing import Any


def said(method: str) -> str:
    """Return a method's name in a sentence."""
    return {"uncertainty": "uncertainty sampling", "random": "random sampling"}.get(method, method.replace("-", " "))


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.1f}\u00a0%"


def interval_of(row: Any) -> str:
    """Return the interval of a row with ``low`` and ``high``, in per cent without the sign."""
    return f"{100 * row['low']:.1f} to {100 * row['high']:.1f}".replace("-", "\u2212")


def ends_of(metrics: Any, name: str) -> str:
    """Return the interval of a number among flat ones, in per cent."""
    return f"{100 * metrics[f'{name}.low']:.1f} to {100 * metrics[f'{name}.high']:.1f}\u00a0%"

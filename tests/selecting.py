"""Rows to select from by their measures, and what a selection keeps of them."""

from __future__ import annotations

import numpy as np

from cartograph.selection.strategies import strategy_named
from cartograph.selection.strategy import Candidates
from cartograph.selection.table import make_selection

CLASSES = ("no", "yes")


def rows_of(**measures: list[float]) -> Candidates:
    number = len(next(iter(measures.values())))
    uids = np.array([f"u{row}" for row in range(number)], dtype=object)
    return Candidates(uids, np.arange(number) % 2, {name: np.array(values) for name, values in measures.items()})


def kept(name: str, candidates: Candidates, fraction: float = 0.5) -> list[str]:
    return make_selection(strategy_named(name), candidates, fraction, CLASSES, seed=1, may_lose_class=True).table["uid"].to_pylist()

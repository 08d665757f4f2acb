"""Selections as tables: ties, balanced classes, lost classes."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.selection.strategies import strategy_named
from cartograph.selection.strategy import Candidates
from cartograph.selection.table import make_selection


def rows_of(**measures: list[float]) -> Candidates:
    number = len(next(iter(measures.values())))
    uids = np.array([f"u{row}" for row in range(number)], dtype=object)
    return Candidates(uids, np.arange(number) % 2, {name: np.array(values) for name, values in measures.items()})


def kept(name: str, candidates: Candidates, fraction: float = 0.5) -> list[str]:
    return make_selection(strategy_named(name), candidates, fraction, CLASSES, seed=1, may_lose_class=True).table["uid"].to_pylist()


CLASSES = ("no", "yes")


def test_ties_at_the_cut_are_counted_and_fall_by_lot() -> None:
    rows = rows_of(confidence=[0.9] + [0.5] * 8 + [0.1])
    found = [make_selection(strategy_named("high-confidence"), rows, 0.5, CLASSES, seed=seed) for seed in range(12)]
    assert {selection.tied for selection in found} == {8}
    assert all(selection.table["uid"][0].as_py() == "u0" for selection in found)
    drawn = {uid for selection in found for uid in selection.table["uid"].to_pylist()}
    assert drawn == {f"u{row}" for row in range(9)}, "every tied row has its chance"
    assert make_selection(strategy_named("high-confidence"), rows, 0.9, CLASSES, seed=1).tied == 0


def test_classes_are_balanced_where_asked_for() -> None:
    rows = Candidates(
        np.array([f"u{row}" for row in range(10)], dtype=object), np.array([0] * 8 + [1] * 2), {"confidence": np.linspace(0.9, 0.0, 10)}
    )
    plain = make_selection(strategy_named("hard-to-learn"), rows, 0.6, CLASSES, seed=1)
    balanced = make_selection(strategy_named("hard-to-learn"), rows, 0.6, CLASSES, seed=1, balance=True)
    assert plain.per_class == (4, 2)
    assert balanced.per_class == (4, 2)
    assert make_selection(strategy_named("high-confidence"), rows, 0.4, CLASSES, seed=1, balance=True).table["uid"].to_pylist() == [
        "u0",
        "u8",
        "u1",
        "u9",
    ]


def test_a_balanced_class_has_the_rows_that_are_no_suspects() -> None:
    rows = Candidates(
        np.array([f"u{row}" for row in range(10)], dtype=object),
        np.array([0] * 7 + [1] * 3),
        {"variability": np.linspace(0.5, 0.0, 10), "confidence": np.linspace(0.0, 1.0, 10)},
        suspect=np.array([False] * 9 + [True]),
    )
    assert make_selection(strategy_named("compose"), rows, 0.6, CLASSES, seed=1, balance=True).per_class == (4, 2)
    with pytest.raises(InputError, match="is to keep 10 of 10 rows, but without the suspects 9 are left"):
        make_selection(strategy_named("compose"), rows, 1.0, CLASSES, seed=1, balance=True)


def test_a_selection_that_loses_a_class_is_refused_unless_allowed() -> None:
    rows = Candidates(np.array(["a", "b", "c", "d"], dtype=object), np.array([0, 0, 0, 1]), {"confidence": np.array([0.9, 0.8, 0.7, 0.1])})
    with pytest.raises(InputError, match=r"`high-confidence` at 0.5 keeps none of the 1 rows of class 'yes'.*`select.class_balance: true`"):
        make_selection(strategy_named("high-confidence"), rows, 0.5, CLASSES, seed=1)
    assert make_selection(strategy_named("high-confidence"), rows, 0.5, CLASSES, seed=1, may_lose_class=True).per_class == (2, 0)

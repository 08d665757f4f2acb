"""Selections as tables: ties, balanced classes, lost classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.selection.strategies import strategy_named
from cartograph.selection.strategy import Candidates
from cartograph.selection.table import make_selection, shares_of_classes, wanted_rows
from tests.selecting import CLASSES, rows_of


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


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.5, float("nan")])
def test_a_fraction_outside_its_range_is_refused(fraction: float) -> None:
    with pytest.raises(InputError, match=r"a fraction of the rows must be above 0 and at most 1, but is"):
        wanted_rows(fraction, 10)


def test_a_fraction_is_a_number_of_rows_half_to_even_and_one_at_least() -> None:
    assert [wanted_rows(fraction, 10) for fraction in (0.05001, 0.25, 0.35, 0.99, 1)] == [1, 2, 4, 10, 10]
    with pytest.raises(InputError, match=r"a fraction of 0\.04 of 10 rows is no row at all; use 0\.1 or more"):
        wanted_rows(0.04, 10)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.data())
def test_classes_share_the_rows_as_evenly_as_they_can(counts: list[int], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, sum(counts)))
    shares = shares_of_classes(np.array(counts), number)
    # Dealt round by round, one to every class that has more, and in the last round to the largest first.
    taken = [0] * len(counts)
    while sum(taken) < number:
        able = [label for label, count in enumerate(counts) if taken[label] < count]
        for label in sorted(able, key=lambda label: -counts[label])[: number - sum(taken)]:
            taken[label] += 1
    assert shares == taken


def two_classes(**more: np.ndarray) -> Candidates:
    """Four rows of class 0, then two of class 1, each class from the most to the least confident."""
    confidence = np.array([0.9, 0.8, 0.7, 0.6, 0.3, 0.2])
    return Candidates(np.array(list("abcdef"), dtype=object), np.array([0] * 4 + [1] * 2), {"confidence": confidence}, **more)


def picked(fraction: float, rows: Candidates, **options: bool) -> list[str]:
    table = make_selection(strategy_named("high-confidence"), rows, fraction, CLASSES, seed=1, **options).table
    assert table["rank"].to_pylist() == list(range(1, table.num_rows + 1))
    return table["uid"].to_pylist()


def test_balanced_rows_are_ranked_by_their_place_in_their_own_class() -> None:
    assert picked(1.0, two_classes(), balance=True) == list("aebcfd")
    assert picked(1.0, two_classes()) == list("abcdef"), "not asked for, not balanced"


def test_suspects_count_where_the_strategy_keeps_them() -> None:
    doubted = two_classes(suspect=np.array([False] * 4 + [True] * 2))
    assert picked(4 / 6, doubted, balance=True) == list("aebf")

"""The strategies one by one, against what their definitions say; the k-centre search against a plain one."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

import cartograph.selection.k_centre
import cartograph.selection.strategies
import cartograph.selection.table
from cartograph.errors import InputError
from cartograph.selection.strategies import strategy_named
from cartograph.selection.strategy import Acquisition, Candidates
from cartograph.selection.table import make_selection
from tests.selecting import CLASSES, kept, rows_of


def test_the_examples_in_docstrings_hold() -> None:
    for module in (cartograph.selection.strategies, cartograph.selection.k_centre, cartograph.selection.table):
        assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("name", "measure", "expected"),
    [
        ("high-confidence", "confidence", ["u2", "u0"]),
        ("hard-to-learn", "confidence", ["u3", "u1"]),
        ("ambiguous", "variability", ["u2", "u0"]),
        ("low-variability", "variability", ["u3", "u1"]),
        ("high-correctness", "correctness", ["u2", "u0"]),
        ("low-correctness", "correctness", ["u3", "u1"]),
    ],
)
def test_a_measure_ranks_rows(name: str, measure: str, expected: list[str]) -> None:
    assert kept(name, rows_of(**{measure: [0.3, 0.2, 0.4, 0.1]})) == expected


def test_forgetting_has_the_never_learnt_first() -> None:
    rows = rows_of(forgetting=[0, 3, -1, 1])
    table = make_selection(strategy_named("forgetting"), rows, 0.75, CLASSES, seed=1).table
    assert table["uid"].to_pylist() == ["u2", "u1", "u3"]
    assert table["reason"].to_pylist() == ["never learnt", "forgotten in 3 epoch changes", "forgotten in 1 epoch changes"]
    assert table["score"].to_pylist() == [float("inf"), 3.0, 1.0]


def test_mix_replaces_the_least_ambiguous_by_the_easiest_others() -> None:
    rows = rows_of(variability=[0.4, 0.3, 0.2, 0.1, 0.0, 0.0], confidence=[1.0, 0.5, 0.5, 0.5, 0.9, 0.8])
    assert kept("mix-0.5", rows, 4 / 6) == ["u0", "u1", "u4", "u5"]
    assert kept("ambiguous", rows, 4 / 6) == ["u0", "u1", "u2", "u3"]


def test_compose_leaves_suspects_out() -> None:
    rows = rows_of(variability=[0.4, 0.3, 0.2, 0.1, 0.0, 0.0], confidence=[0.1, 0.5, 0.5, 0.5, 0.9, 0.8])
    trusting = Candidates(rows.uids, rows.labels, rows.measures, suspect=np.array([True, False, False, False, True, False]))
    assert kept("compose", trusting, 4 / 6) == ["u1", "u2", "u3", "u5"]
    with pytest.raises(InputError, match="is to keep 5 of 6 rows, but without the suspects 4 are left; choose a smaller fraction"):
        kept("compose", trusting, 5 / 6)


def test_uncertainty_takes_the_least_certain() -> None:
    probabilities = np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]])
    rows = Candidates(
        rows_of(x=[0.0] * 4).uids,
        np.array([0, 1, 0, 1]),
        acquisition=Acquisition(probabilities, np.zeros((4, 1), np.float32), np.zeros(4, bool)),
    )
    assert kept("AL-uncertainty", rows) == ["u2", "u1"]


def test_greedy_k_starts_with_the_models_own_rows_and_goes_far() -> None:
    # By cosine, to u1: 2, 0, 1; u2 is much longer, and in the same direction.
    features = np.array([[-1.0, 0.0], [1.0, 0.0], [9.0, 0.0], [0.0, 5.0]], np.float32)
    rows = Candidates(
        rows_of(x=[0.0] * 4).uids,
        np.array([0, 1, 0, 1]),
        acquisition=Acquisition(np.full((4, 2), 0.5), features, np.array([False, True, False, False])),
    )
    table = make_selection(strategy_named("AL-greedyK"), rows, 0.75, CLASSES, seed=1).table
    assert table["uid"].to_pylist() == ["u1", "u0", "u3"]
    assert table["score"].to_pylist() == [0.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ambigous", "did you mean `ambiguous`"),
        ("zzz", "known: random, high-confidence"),
        ("mix-1.5", "must be above 0 and below 1, but is 1.5"),
        ("random-0.5", "no selection is called `random-0.5`; did you mean `random`"),
    ],
)
def test_unknown_strategies_are_refused_with_the_nearest_name(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        strategy_named(name)


def test_lots_of_one_strategy_are_not_those_of_another() -> None:
    ties = rows_of(confidence=[0.5] * 200, variability=[0.5] * 200)
    drawn = {name: kept(name, ties) for name in ("random", "ambiguous", "hard-to-learn", "high-confidence")}
    assert len({tuple(uids) for uids in drawn.values()}) == 4
    assert kept("ambiguous", ties) == drawn["ambiguous"]


@pytest.mark.parametrize(("fraction", "rows", "number"), [(0.35, 10, 4), (0.25, 10, 2), (0.59, 10, 6), (0.33, 100, 33), (0.999, 1000, 999)])
def test_a_fraction_is_rounded_and_not_cut(fraction: float, rows: int, number: int) -> None:
    assert cartograph.selection.table.wanted_rows(fraction, rows) == number
    ties = rows_of(variability=np.linspace(0, 1, rows).tolist())
    assert len(kept("ambiguous", ties, fraction)) == number

from __future__ import annotations

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.maps.measures import Measures, compute_measures
from cartograph.selection.rows import select
from cartograph.selection.strategies import STRATEGIES, strategy_named
from cartograph.selection.strategy import ACQUISITION, RESISTANCE, Candidates
from cartograph.selection.table import make_selection

ON_ARRAYS = [name for name, strategy in STRATEGIES.items() if not {ACQUISITION, RESISTANCE} & set(strategy.needs)]
ROWS = 40
UIDS = [f"u{row:02d}" for row in np.random.default_rng(1).permutation(ROWS)]
SUSPECT = np.arange(ROWS) % 10 == 0


@pytest.fixture(scope="module")
def measures() -> Measures:
    rng = np.random.default_rng(0)
    return compute_measures(UIDS, rng.normal(size=(ROWS, 3, 2)).astype(np.float32), rng.integers(0, 2, ROWS))


@pytest.mark.parametrize("name", ON_ARRAYS)
def test_rows_of_arrays_are_those_of_an_audits_table(name: str, measures: Measures) -> None:
    picks = select(name, measures, 0.4, uids=UIDS, suspect=SUSPECT, seed=5)
    known = {field: getattr(measures, field) for field in ("confidence", "variability", "correctness", "forgetting")}
    candidates = Candidates(np.array(UIDS, dtype=object), np.zeros(ROWS, np.int64), known, SUSPECT)
    table = make_selection(strategy_named(name), candidates, 0.4, ["one"], seed=5).table
    assert [UIDS[row] for row in picks.rows] == table["uid"].to_pylist()
    assert list(picks.reasons) == table["reason"].to_pylist()


def test_the_best_come_first_and_exactly_as_many_as_asked_for(measures: Measures) -> None:
    rows = select("high-confidence", measures, 0.25).rows
    assert rows.tolist() == np.argsort(-measures.confidence)[:10].tolist()


def test_the_same_seed_keeps_the_same_rows_and_another_seed_others(measures: Measures) -> None:
    once, again, other = (select("random", measures, 0.5, seed=seed).rows.tolist() for seed in (1, 1, 2))
    assert once == again
    assert once != other


def test_a_share_may_be_part_of_the_name(measures: Measures) -> None:
    reasons = select("mix-0.5", measures, 0.5).reasons
    assert sum(reason.startswith("easy") for reason in reasons) == 10


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("aflite", {}, "needs features beside measures; call `cartograph.aflite`"),
        ("AL-greedyK", {}, "needs a model of a random share of the rows"),
        ("compose", {}, "leaves suspects out; give `suspect`"),
        ("ambigous", {}, "did you mean `ambiguous`"),
        ("random", {"uids": ["a", "b"]}, r"`uids` must have one entry per row of the measures \(40\), but has 2"),
        ("random", {"uids": ["a"] * ROWS}, "`uids` must be unique, but 39 of 40 are repeated"),
        ("compose", {"suspect": np.zeros(3, bool)}, r"`suspect` must have one entry per row"),
    ],
)
def test_what_cannot_be_selected_is_refused(name: str, options: dict, message: str, measures: Measures) -> None:  # type: ignore[type-arg]
    with pytest.raises(InputError, match=message):
        select(name, measures, 0.5, **options)


def test_coordinates_alone_are_enough_for_strategies_that_read_only_them() -> None:
    known = Measures(confidence=np.array([0.9, 0.5]), variability=np.array([0.1, 0.4]), correctness=np.array([1.0, 0.5]))
    assert select("ambiguous", known, 0.5).rows.tolist() == [1]
    with pytest.raises(InputError, match="needs `forgetting` of every row"):
        select("forgetting", known, 0.5)


def test_without_a_seed_the_lots_are_those_of_13(measures: Measures) -> None:
    default, thirteen, fourteen = (select("random", measures, 0.5, **seed).rows.tolist() for seed in ({}, {"seed": 13}, {"seed": 14}))
    assert default == thirteen != fourteen

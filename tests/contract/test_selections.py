"""What every listed selection must do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.schema import MEASURES, SELECTION
from cartograph.selection.strategies import STRATEGIES, strategy_named
from cartograph.selection.strategy import ACQUISITION, RESISTANCE, SUSPECT, Acquisition, Candidates, Strategy
from cartograph.selection.table import make_selection, wanted_rows

LABELS = ("no", "yes")


def candidates(rows: int = 40, seed: int = 0, levels: int = 5) -> Candidates:
    """Rows with everything that a strategy may need; few levels, so that many tie."""
    rng = np.random.default_rng(seed)
    others = np.random.default_rng(1)
    return Candidates(
        uids=np.array([f"u{row:03d}" for row in rng.permutation(rows)], dtype=object),
        labels=np.arange(rows) % 2,
        measures={
            "confidence": rng.integers(0, levels, rows) / levels,
            "variability": rng.integers(0, levels, rows) / (2 * levels),
            "correctness": rng.integers(0, levels, rows) / levels,
            "forgetting": rng.integers(-1, levels, rows),
            RESISTANCE: rng.integers(1, levels, rows) + 0.5,
            **{name: others.integers(0, levels, rows) / levels for name in ("threshold_closeness", "aum", "el2n", "loss")},
        },
        suspect=rng.random(rows) < 0.1,
        acquisition=Acquisition(
            rng.dirichlet([1.0, 1.0], rows).round(1), rng.integers(0, levels, (rows, 3)).astype(np.float32), np.arange(rows) % 7 == 0
        ),
    )


@pytest.fixture(params=STRATEGIES.values(), ids=lambda strategy: strategy.name)
def strategy(request: pytest.FixtureRequest) -> Strategy:
    return request.param


def test_it_is_listed_under_its_own_name_and_says_what_it_keeps(strategy: Strategy) -> None:
    assert strategy_named(strategy.name) is strategy
    assert strategy.meaning
    assert set(strategy.needs) <= {*MEASURES.names, ACQUISITION, RESISTANCE, SUSPECT}


@pytest.mark.parametrize("fraction", [0.05, 0.33, 0.5, 0.8])
@pytest.mark.parametrize("balance", [False, True])
def test_it_keeps_the_exact_number_of_rows_each_once(strategy: Strategy, fraction: float, balance: bool) -> None:
    rows = candidates()
    table = make_selection(strategy, rows, fraction, LABELS, seed=1, balance=balance, may_lose_class=True).table
    assert table.schema == SELECTION
    assert table.num_rows == round(fraction * 40) == len(set(table["uid"].to_pylist()))
    assert table["rank"].to_pylist() == list(range(1, table.num_rows + 1))
    given = dict(zip(rows.uids, rows.labels, strict=True))
    assert table["label"].to_pylist() == [given[uid] for uid in table["uid"].to_pylist()]
    assert all(table["reason"].to_pylist())


@settings(max_examples=25, deadline=None)
@given(order=st.randoms(use_true_random=False), seed=st.integers(0, 5))
@pytest.mark.parametrize("name", STRATEGIES)
def test_the_order_of_the_rows_does_not_matter(name: str, order: object, seed: int) -> None:
    rows = candidates(24)
    shuffled = list(range(24))
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = (
        make_selection(STRATEGIES[name], given, 0.4, LABELS, seed=seed, may_lose_class=True).table
        for given in (rows, rows.take(np.array(shuffled)))
    )
    assert first.equals(second)


def test_the_seed_decides_and_is_all_that_does(strategy: Strategy) -> None:
    rows = candidates(levels=2)
    once, again, other = (make_selection(strategy, rows, 0.4, LABELS, seed=seed, may_lose_class=True).table for seed in (3, 3, 4))
    assert once.equals(again)
    assert not once["uid"].equals(other["uid"])


def test_a_smaller_fraction_is_part_of_a_larger_one(strategy: Strategy) -> None:
    if strategy.share is not None:
        pytest.skip("a mixture of two kinds of rows")
    small, large = (make_selection(strategy, candidates(), fraction, LABELS, seed=1, may_lose_class=True).table for fraction in (0.2, 0.6))
    assert large["uid"].to_pylist()[: small.num_rows] == small["uid"].to_pylist()


def test_what_it_needs_must_be_there(strategy: Strategy) -> None:
    bare = Candidates(uids=candidates().uids, labels=candidates().labels)
    if not strategy.needs:
        make_selection(strategy, bare, 0.5, LABELS, seed=1)
        return
    with pytest.raises(
        InputError, match=f"selection `{strategy.name}`.*(coordinates were imported|`noise`|trained on a random share|nothing was filtered)"
    ):
        make_selection(strategy, bare, 0.5, LABELS, seed=1)


def test_the_whole_set_is_every_row(strategy: Strategy) -> None:
    if SUSPECT in strategy.needs:
        pytest.skip("it never keeps suspects")
    found = make_selection(strategy, candidates(), 1.0, LABELS, seed=1)
    assert sorted(found.table["uid"].to_pylist()) == sorted(candidates().uids)
    assert found.tied == 0
    assert found.per_class == (20, 20)


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.01])
def test_a_fraction_is_above_0_and_at_most_1(strategy: Strategy, fraction: float) -> None:
    with pytest.raises(InputError, match=r"must be above 0 and at most 1, but is"):
        make_selection(strategy, candidates(), fraction, LABELS, seed=1)


def test_a_fraction_of_no_row_is_refused() -> None:
    with pytest.raises(InputError, match=r"0.001 of 40 rows is no row at all; use 0.025 or more"):
        wanted_rows(0.001, 40)

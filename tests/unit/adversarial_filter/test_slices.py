from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.adversarial_filter.slices import choose_alike, choose_slice


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 10), st.sampled_from(["slicing", "sampling"]), st.integers(0, 99)
)
def test_a_slice_holds_predictable_rows_alone(fourths: list[int], size: int, variant: str, seed: int) -> None:
    score = np.array([value / 4 for value in fourths])
    score[0] = np.nan
    chosen = choose_slice(score, size, 0.5, variant, np.random.default_rng(seed))
    assert len(set(chosen.tolist())) == len(chosen) == min(size, int((score >= 0.5).sum()))
    assert (score[chosen] >= 0.5).all()
    if variant == "slicing" and len(chosen):
        left = np.delete(score, chosen)
        assert not (left > score[chosen].min()).any()


def test_ties_at_the_edge_are_broken_by_chance() -> None:
    drawn = [tuple(choose_slice(np.ones(20), 3, 0.5, "slicing", np.random.default_rng(seed))) for seed in range(30)]
    assert len(set(drawn)) > 20


def test_sampling_draws_in_proportion_to_predictability() -> None:
    rng = np.random.default_rng(0)
    first = np.array([choose_slice(np.array([0.2, 0.8, 0.0]), 1, 0.0, "sampling", rng)[0] for _ in range(4_000)])
    assert np.mean(first == 1) == pytest.approx(0.8, abs=0.02)
    assert not (first == 2).any()
    assert set(choose_slice(np.array([0.0, 0.2, 0.8]), 3, 0.0, "sampling", rng)) == {1, 2}, "what has no probability is never drawn"
    # Of two rows, noise of the other sign draws the same shares; of more it does not.
    of_many = [choose_slice(np.array([0.9] + [0.1] * 9), 1, 0.0, "sampling", rng)[0] for _ in range(4_000)]
    assert np.mean(np.array(of_many) == 0) == pytest.approx(0.5, abs=0.03)


def test_rows_of_another_set_leave_as_the_pools_rows_of_like_predictability_leave() -> None:
    pool = np.array([1.0] * 10 + [0.5] * 10 + [0.0] * 5 + [np.nan])
    gone = np.array([True] * 10 + [True] * 5 + [False] * 11)
    others = np.repeat([0.97, 0.52, 0.1], 400)
    chosen = choose_alike(others, pool, gone, np.random.default_rng(0))
    assert chosen[:400].all()
    assert chosen[400:800].mean() == pytest.approx(0.5, abs=0.08)
    assert not chosen[800:].any()
    assert not choose_alike(others, pool, np.zeros(26, bool), np.random.default_rng(0)).any()


def test_a_row_more_or_less_predictable_than_all_of_the_pool_is_as_the_nearest_of_them() -> None:
    pool, gone = np.array([0.3, 0.3, 0.6, 0.6]), np.array([False, False, True, True])
    assert choose_alike(np.array([0.0, 0.3, 0.6, 1.0]), pool, gone, np.random.default_rng(0)).tolist() == [False, False, True, True]


def test_nothing_leaves_another_set_where_the_pool_lost_nothing_or_knows_nothing() -> None:
    rng, unknown = np.random.default_rng(0), np.full(3, np.nan)
    assert choose_alike(np.array([0.1, 0.9]), unknown, np.zeros(3, bool), rng).tolist() == [False, False]
    assert choose_alike(np.empty(0), np.ones(3), np.ones(3, bool), rng).tolist() == []


def test_of_a_pool_of_one_predictability_every_row_of_another_set_leaves_alike() -> None:
    chosen = choose_alike(np.linspace(0, 1, 4_000), np.full(4, 0.5), np.array([True, False, False, False]), np.random.default_rng(0))
    assert chosen.mean() == pytest.approx(0.25, abs=0.03)

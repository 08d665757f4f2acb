from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.maps.regions import AMBIGUOUS, EASY, HARD, UNASSIGNED, Regions, assign_regions, check_shares

levels = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]) | st.floats(0, 1)


@st.composite
def maps(draw: st.DrawFn) -> tuple[list[str], np.ndarray, np.ndarray, dict[str, float]]:
    rows = draw(st.lists(st.tuples(levels, levels), max_size=40))
    parts = draw(st.tuples(*[st.integers(1, 10)] * 3, st.integers(0, 10)))
    shares = dict(zip(("easy", "ambiguous", "hard"), (part / sum(parts) for part in parts), strict=False))
    confidence, half = (np.array([row[axis] for row in rows], dtype=np.float64) for axis in (0, 1))
    return [f"r{row}" for row in range(len(rows))], confidence, half / 2, shares


def assign(case: tuple[list[str], np.ndarray, np.ndarray, dict[str, float]], seed: int = 1) -> Regions:
    uids, confidence, variability, shares = case
    return assign_regions(uids, confidence, variability, **shares, rng=np.random.default_rng(seed))


@given(maps())
def test_counts_are_exact_and_each_cut_divides_the_rest_in_order(case: tuple[list[str], np.ndarray, np.ndarray, dict[str, float]]) -> None:
    uids, confidence, variability, shares = case
    regions = assign(case)
    n = len(uids)
    hard, ambiguous, easy = (regions.names == name for name in (HARD, AMBIGUOUS, EASY))
    assert hard.sum() == round(shares["hard"] * n)
    assert ambiguous.sum() == min(round(shares["ambiguous"] * n), (~hard & (variability > 0)).sum())
    assert easy.sum() == min(round(shares["easy"] * n), (~hard & ~ambiguous).sum())
    assert (regions.names == UNASSIGNED).sum() == n - hard.sum() - ambiguous.sum() - easy.sum()
    for inside, among, values in (
        (hard, np.ones(n, bool), confidence),
        (ambiguous, ~hard & (variability > 0), -variability),
        (easy, ~hard & ~ambiguous, -confidence),
    ):
        outside = among & ~inside
        if inside.any() and outside.any():
            assert values[inside].max() <= values[outside].min()


@given(maps())
def test_a_cut_has_the_value_at_the_boundary_and_the_number_of_ties(
    case: tuple[list[str], np.ndarray, np.ndarray, dict[str, float]],
) -> None:
    _, confidence, variability, _ = case
    regions = assign(case)
    free = np.ones(len(confidence), dtype=bool)
    for name, values, edge in ((HARD, confidence, np.max), (AMBIGUOUS, variability, np.min), (EASY, confidence, np.min)):
        inside, cut = regions.names == name, regions.cuts[name]
        if not inside.any():
            assert (cut.value, cut.tied) == (None, 0)
            continue
        assert cut.value == edge(values[inside])
        equal = free & (values == cut.value)
        parted = (equal & ~inside).any()
        assert cut.tied == (equal.sum() if parted else 0)
        free &= ~inside


@given(maps(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter_even_where_they_tie(
    case: tuple[list[str], np.ndarray, np.ndarray, dict[str, float]], random: object
) -> None:
    uids, confidence, variability, shares = case
    order = list(range(len(uids)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = assign(([uids[row] for row in order], confidence[order], variability[order], shares))
    assert shuffled.names.tolist() == assign(case).names[order].tolist()


def test_regions_of_a_small_map_are_as_worked_out_by_hand() -> None:
    #                       hard  amb   amb   easy  easy  rest
    confidence = np.array([0.05, 0.50, 0.95, 0.99, 0.97, 0.60])
    variability = np.array([0.45, 0.40, 0.30, 0.01, 0.02, 0.10])
    regions = assign_regions(list("abcdef"), confidence, variability, easy=0.33, ambiguous=0.33, hard=0.17, rng=np.random.default_rng(0))
    assert regions.names.tolist() == [HARD, AMBIGUOUS, AMBIGUOUS, EASY, EASY, UNASSIGNED]
    assert [regions.cuts[name].value for name in (HARD, AMBIGUOUS, EASY)] == [0.05, 0.30, 0.97]
    assert regions.count(AMBIGUOUS) == 2


def test_ties_are_drawn_by_seed_and_every_tied_row_has_its_chance() -> None:
    equal = ([f"{row:03}" for row in range(100)], np.ones(100), np.full(100, 0.25), {"easy": 0.1, "ambiguous": 0.1, "hard": 0.1})
    drawn = [assign(equal, seed).names == HARD for seed in range(200)]
    assert (np.sum(drawn, axis=1) == 10).all()
    assert np.sum(drawn, axis=0).min() > 0
    again = assign(equal, 7)
    assert (again.names == HARD).tolist() == drawn[7].tolist()
    assert again.cuts[HARD].tied == 100
    assert again.cuts[AMBIGUOUS].tied == 90


def test_rows_that_never_varied_are_not_ambiguous() -> None:
    regions = assign((list("abcd"), np.linspace(0.2, 0.8, 4), np.zeros(4), {"easy": 0.25, "ambiguous": 0.25, "hard": 0.25}))
    assert regions.names.tolist() == [HARD, UNASSIGNED, UNASSIGNED, EASY]
    assert regions.cuts[AMBIGUOUS].value is None


def test_shares_must_be_above_zero_and_add_up_to_one_at_most() -> None:
    check_shares(0.33, 0.33, 0.34)
    check_shares(1 / 3, 1 / 3, 1 / 3)
    with pytest.raises(InputError, match=r"`hard` is the share of rows in its region and must be above 0, but is 0\."):
        check_shares(0.3, 0.3, 0.0)
    with pytest.raises(InputError, match=r"`easy` .* must be above 0, but is nan"):
        check_shares(float("nan"), 0.3, 0.3)
    with pytest.raises(InputError, match=r"`easy` 0\.5, `ambiguous` 0\.4, `hard` 0\.2 add up to 1\.1; lower them to 1 or less"):
        check_shares(0.5, 0.4, 0.2)

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.maps.measures import Measures
from cartograph.maps.regions import (
    AMBIGUOUS,
    EASY,
    HARD,
    UNASSIGNED,
    Regions,
    assign_regions,
    check_shares,
    corner_weights,
    easiest_rows,
    region_lines,
)
from cartograph.maps.table import map_table

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
def test_a_region_is_its_list_less_what_is_nearer_elsewhere(
    case: tuple[list[str], np.ndarray, np.ndarray, dict[str, float]],
) -> None:
    uids, confidence, variability, shares = case
    regions = assign(case)
    n = len(uids)
    for row, name in enumerate(regions.names):
        low, high = variability[row] < (1 - confidence[row]) / 3, variability[row] < confidence[row] / 3
        if name == HARD:
            assert confidence[row] < 0.5 and low
        elif name == EASY:
            assert confidence[row] > 0.5 and high
        elif name == AMBIGUOUS:
            assert variability[row] > 0
    for name, share, values, near in (
        (HARD, shares["hard"], confidence, (confidence < 0.5 - 1e-9) & (variability < (1 - confidence) / 3 - 1e-9)),
        (EASY, shares["easy"], -confidence, (confidence > 0.5 + 1e-9) & (variability < confidence / 3 - 1e-9)),
        (AMBIGUOUS, shares["ambiguous"], -variability, (regions.names != HARD) & (regions.names != EASY) & (variability > 0)),
    ):
        inside, cut = regions.names == name, regions.cuts[name]
        assert cut.listed == round(share * n)
        assert inside.sum() <= cut.listed
        assert cut.listed - inside.sum() >= cut.elsewhere
        end = np.sort(values)[cut.listed - 1] if cut.listed else -np.inf
        assert (values[inside] <= end).all()
        assert inside[near & (values < end)].all(), "whoever is in the list and near the corner is in the region"
        assert not (inside & (values > end)).any()


@given(maps())
def test_a_cut_has_the_value_at_the_boundary_and_the_number_of_ties(
    case: tuple[list[str], np.ndarray, np.ndarray, dict[str, float]],
) -> None:
    _, confidence, variability, _ = case
    regions = assign(case)
    for name, values, edge in ((HARD, confidence, np.max), (AMBIGUOUS, variability, np.min), (EASY, confidence, np.min)):
        inside, cut = regions.names == name, regions.cuts[name]
        assert cut.value == (edge(values[inside]) if inside.any() else None)
        order = np.sort(values) if name == HARD else np.sort(values)[::-1]
        parted = 0 < cut.listed < len(order) and order[cut.listed - 1] == order[cut.listed]
        assert cut.tied == (np.count_nonzero(values == order[cut.listed]) if parted else 0)


@given(maps())
def test_lines_on_the_map_part_the_regions(case: tuple[list[str], np.ndarray, np.ndarray, dict[str, float]]) -> None:
    uids, confidence, variability, _ = case
    regions = assign(case)
    measures = Measures(confidence=confidence, variability=variability, correctness=confidence)
    lines = region_lines(map_table(uids, np.zeros(len(uids), np.int32), measures, regions))
    assert set(lines) == {name for name in (EASY, AMBIGUOUS, HARD) if regions.count(name)}
    # Where the ambiguous corner is as near as the hard one, and as the easy one.
    assert all(1 - c == pytest.approx(3 * v) for v, c in lines.get(HARD, [])[1:])
    assert all(c == pytest.approx(3 * v) for v, c in lines.get(EASY, [])[1:])
    for name, c, v in zip(regions.names, confidence, variability, strict=True):
        for other, sign in ((HARD, 1), (EASY, -1)):
            if other in lines:
                (_, level), (knee, _), (foot, end) = lines[other]
                reach = knee if level == end else knee + (foot - knee) * (c - level) / (end - level)
                within = sign * c <= sign * level + 1e-9 and v <= reach + 1e-9
                assert within or name != other
        if name == AMBIGUOUS:
            assert v >= lines[AMBIGUOUS][0][0]


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
    #                      hard  amb   amb   easy  easy  rest  varied
    confidence = np.array([0.05, 0.30, 0.90, 0.99, 0.97, 0.60, 0.40])
    variability = np.array([0.20, 0.45, 0.31, 0.01, 0.02, 0.10, 0.18])
    shares = {"easy": 0.43, "ambiguous": 0.29, "hard": 0.28}
    regions = assign_regions(list("abcdefg"), confidence, variability, **shares, rng=np.random.default_rng(0))
    # b is among the two least confident rows and the two most variable: a = .9 is more than h = .25.
    assert regions.names.tolist() == [HARD, AMBIGUOUS, AMBIGUOUS, EASY, EASY, UNASSIGNED, UNASSIGNED]
    cuts = regions.cuts
    assert [cuts[name].value for name in (HARD, AMBIGUOUS, EASY)] == [0.05, 0.31, 0.97]
    assert [(cuts[name].listed, cuts[name].elsewhere) for name in (HARD, AMBIGUOUS, EASY)] == [(2, 1), (2, 0), (3, 1)]
    assert regions.count(AMBIGUOUS) == 2


@given(maps())
def test_the_weights_of_the_corners_add_up_to_one(case: tuple[list[str], np.ndarray, np.ndarray, dict[str, float]]) -> None:
    _, confidence, variability, _ = case
    weights = corner_weights(confidence, variability)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
    corners = np.array([[0.0, 1.0], [0.5, 0.5], [0.0, 0.0]])
    np.testing.assert_allclose(weights @ corners, np.column_stack((variability, confidence)), atol=1e-12)


def test_ties_are_drawn_by_seed_and_every_tied_row_has_its_chance() -> None:
    equal = ([f"{row:03}" for row in range(100)], np.zeros(100), np.full(100, 0.25), {"easy": 0.1, "ambiguous": 0.1, "hard": 0.1})
    drawn = [assign(equal, seed).names == HARD for seed in range(200)]
    assert (np.sum(drawn, axis=1) == 10).all()
    assert np.sum(drawn, axis=0).min() > 0
    again = assign(equal, 7)
    assert (again.names == HARD).tolist() == drawn[7].tolist()
    assert again.cuts[HARD].tied == 100
    assert again.cuts[AMBIGUOUS].tied == 100
    assert again.cuts[EASY].value is None, "no row of confidence 0 is easy"


def test_rows_that_never_varied_are_not_ambiguous() -> None:
    regions = assign((list("abcd"), np.linspace(0.2, 0.8, 4), np.zeros(4), {"easy": 0.25, "ambiguous": 0.25, "hard": 0.25}))
    assert regions.names.tolist() == [HARD, UNASSIGNED, UNASSIGNED, EASY]
    assert regions.cuts[AMBIGUOUS].value is None


@pytest.mark.parametrize(("across", "bottom", "top"), [(0.1, 0.5, 0.55), (0.2, 0.4, 0.6), (0.35, 0.0, 1.0)])
def test_the_ambiguous_line_runs_from_the_hard_regions_line_to_that_of_the_easy_one(across: float, bottom: float, top: float) -> None:
    table = pa.table({"region": [HARD, EASY, AMBIGUOUS], "confidence": [0.5, 0.55, 0.5], "variability": [0.05, 0.05, across]})
    assert [place for line in region_lines(table)[AMBIGUOUS] for place in line] == pytest.approx([across, bottom, across, top])


@pytest.mark.parametrize("size", [0, 1, 2, 3, 50])
@pytest.mark.parametrize("confidence", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("variability", [0.0, 0.5])
def test_a_map_of_equal_rows_has_regions_lines_and_numbers(size: int, confidence: float, variability: float) -> None:
    uids, gold = [f"{row:02}" for row in range(size)], np.zeros(size, np.int32)
    measures = Measures(np.full(size, confidence), np.full(size, variability), np.full(size, confidence))
    regions = assign_regions(uids, measures.confidence, measures.variability)
    table = map_table(uids, gold, measures, regions)
    expected = {EASY: (1.0, 0.0), HARD: (0.0, 0.0), AMBIGUOUS: (confidence, 0.5)}
    for name in (EASY, HARD, AMBIGUOUS):
        assert regions.count(name) == (regions.cuts[name].listed if expected[name] == (confidence, variability) else 0)
    assert set(region_lines(table)) == set(regions.names) - {UNASSIGNED}
    assert easiest_rows(table, 0.33).sum() == int(np.ceil(0.33 * size))


def test_the_easiest_rows_are_the_region_and_then_those_nearest_to_its_corner() -> None:
    confidence, variability = np.array([0.30, 0.28, 0.30, 0.05, 0.20]), np.array([0.10, 0.01, 0.20, 0.01, 0.01])
    uids, gold = list("abcde"), np.zeros(5, np.int32)
    learnt_little = map_table(uids, gold, Measures(confidence, variability, confidence))
    assert EASY not in learnt_little["region"].to_pylist()
    assert np.flatnonzero(easiest_rows(learnt_little, 0.4)).tolist() == [0, 1]
    assert np.flatnonzero(easiest_rows(learnt_little, 0.2)).tolist() == [1]
    learnt = map_table(uids, gold, Measures(confidence + 0.69, variability, confidence))
    region = learnt["region"].to_numpy(zero_copy_only=False) == EASY
    assert region.any()
    assert easiest_rows(learnt, 0.01).tolist() == region.tolist()


def test_shares_must_be_above_zero_and_add_up_to_one_at_most() -> None:
    check_shares(0.33, 0.33, 0.34)
    check_shares(1 / 3, 1 / 3, 1 / 3)
    with pytest.raises(InputError, match=r"`hard` is the largest share of rows in its region and must be above 0, but is 0\."):
        check_shares(0.3, 0.3, 0.0)
    with pytest.raises(InputError, match=r"`easy` .* must be above 0, but is nan"):
        check_shares(float("nan"), 0.3, 0.3)
    with pytest.raises(InputError, match=r"`easy` 0\.5, `ambiguous` 0\.4, `hard` 0\.2 add up to 1\.1; lower them to 1 or less"):
        check_shares(0.5, 0.4, 0.2)


@pytest.mark.realdata
def test_the_published_map_has_the_rows_of_table_1_in_their_regions(real_data: Path) -> None:
    with (real_data / "winogrande/roberta_large_coordinates.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    with (real_data / "winogrande/train_xl.jsonl").open(encoding="utf-8") as lines:
        guids = {row["sentence"]: str(row["guid"]) for row in map(json.loads, lines)}
    uids = [str(row["guid"]) for row in rows]
    confidence, variability, right = (np.array([row[name] for row in rows]) for name in ("confidence", "variability", "correctness"))
    regions = assign_regions(uids, confidence, variability)
    found = dict(zip(uids, regions.names.tolist(), strict=True))
    table_1 = {
        "The man chose to buy the roses instead of the carnations because the _ were more beautiful.": EASY,
        "We enjoyed the meeting tonight but not the play as the _ was rather dull.": EASY,
        "Jason got into a deep financial hole, unlike Joel, because _ managed their fortune poorly.": HARD,
        "In the mornings, Aaron can hit the snooze button a lot, and Samuel can't. _ has to be at work at 10 am.": HARD,
        "Amy's handwriting was meticulous, while Cynthia's handwriting was often sloppy, because _ was careless about their work.": HARD,
    }
    assert {sentence: found[guids[sentence]] for sentence in table_1} == table_1
    # The ambiguous rows of Table 1 have other coordinates in the published file than in the paper: confidence .08 and .005, never right.
    dog = next(guid for sentence, guid in guids.items() if sentence.startswith("The dog ran up to Leslie"))
    place = uids.index(dog)
    assert (confidence[place] < 0.09, right[place]) == (True, 0)
    hard, ambiguous = (regions.names == name for name in (HARD, AMBIGUOUS))
    most = np.argsort(-variability, kind="stable")
    assert ambiguous[most[: len(rows) // 20]].all()
    assert np.isin(np.flatnonzero(hard), most[: len(rows) // 3]).mean() < 0.3
    assert right[hard].mean() / 6 < 0.25


def test_without_a_generator_lots_are_those_of_the_seed_13() -> None:
    uids, equal = [f"{row:02}" for row in range(40)], np.full(40, 0.2)
    default = assign_regions(uids, equal, equal / 2).names.tolist()
    assert default == assign_regions(uids, equal, equal / 2, rng=np.random.default_rng(13)).names.tolist()
    assert default != assign_regions(uids, equal, equal / 2, rng=np.random.default_rng(14)).names.tolist()


def test_lines_begin_at_the_edge_of_the_map_and_the_ambiguous_one_alone_crosses_it() -> None:
    table = pa.table({"region": [HARD, EASY], "confidence": [0.4, 0.7], "variability": [0.05, 0.05]})
    lines = region_lines(table)
    np.testing.assert_allclose(lines[HARD], [(0, 0.4), (0.2, 0.4), (1 / 3, 0)])
    np.testing.assert_allclose(lines[EASY], [(0, 0.7), (0.7 / 3, 0.7), (1 / 3, 1)])
    alone = pa.table({"region": [AMBIGUOUS], "confidence": [0.5], "variability": [0.3]})
    assert region_lines(alone) == {AMBIGUOUS: [(0.3, 0.0), (0.3, 1.0)]}


def test_of_rows_as_near_to_the_easy_corner_the_first_uids_are_the_easiest() -> None:
    equal = Measures(np.full(6, 0.4), np.full(6, 0.3), np.full(6, 0.4))
    table = map_table(list("cfadbe"), np.zeros(6, np.int32), equal)
    assert EASY not in table["region"].to_pylist()
    easiest = easiest_rows(table, 0.5)
    assert {uid for uid, chosen in zip(table["uid"].to_pylist(), easiest, strict=True) if chosen} == set("abc")

"""Suspects that gather where somebody was careless, and those that are spread by chance or by their classes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cartograph.suspects.gathering import FEWEST, Gathering, gatherings, of_labels, of_sure_rows


def strata(**columns: np.ndarray) -> pa.Table:
    """Return strata of numbers, -1 for a row in none."""
    rows = len(next(iter(columns.values())))
    named = {
        f"column {name}": pa.array([None if part < 0 else f"{name}{part}" for part in parts.tolist()]).dictionary_encode()
        for name, parts in columns.items()
    }
    return pa.table({"uid": [str(row) for row in range(rows)], **named})


def test_a_careless_annotator_is_found_and_a_column_that_says_the_same_is_not_named_again() -> None:
    rng = np.random.default_rng(1)
    who, labels = rng.integers(6, size=2000), rng.integers(3, size=2000)
    suspect = rng.random(2000) < np.where(who == 2, 0.5, 0.04)
    found = gatherings(strata(who=who, desk=who + 10, shift=rng.integers(3, size=2000)), [of_labels(labels)], suspect)
    hers = who == 2
    assert [(one.stratum, one.part, one.suspects, one.rows) for one in found] == [
        ("column who", "who2", int((suspect & hers).sum()), int(hers.sum()))
    ]
    assert found[0].expected == pytest.approx(suspect.mean() * hers.sum(), rel=0.1)


def test_two_careless_ones_are_both_found_the_worse_first() -> None:
    rng = np.random.default_rng(2)
    who = rng.integers(10, size=3000)
    suspect = rng.random(3000) < np.select([who == 4, who == 7], [0.3, 0.6], 0.02)
    found = gatherings(strata(who=who), [of_labels(np.zeros(3000, int))], suspect)
    assert [one.part for one in found] == ["who7", "who4"]


def test_parts_that_differ_only_in_their_classes_gather_nothing() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(4, size=4000)
    suspect = rng.random(4000) < np.array([0.01, 0.02, 0.05, 0.4])[labels]
    same = np.where(rng.random(4000) < 0.9, labels, rng.integers(4, size=4000))
    assert gatherings(strata(topic=same, label=labels), [of_labels(labels)], suspect) == []


def test_of_random_parts_hardly_any_seems_to_gather_suspects() -> None:
    seen = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        labels, suspect = rng.integers(2, size=1000), rng.random(1000) < 0.06
        seen += bool(gatherings(strata(**{f"c{size}": rng.integers(size, size=1000) for size in (2, 7, 30)}), [of_labels(labels)], suspect))
    assert seen <= 1


def test_few_suspects_gather_nowhere_and_rows_in_no_part_are_left_out() -> None:
    who = np.repeat([0, 1, -1], [20, 480, 500])
    suspect = np.zeros(1000, bool)
    suspect[: FEWEST - 1] = True
    assert gatherings(strata(who=who), [of_labels(np.zeros(1000, int))], suspect) == []
    suspect[:FEWEST] = True
    suspect[500:502] = True
    (found,) = gatherings(strata(who=who), [of_labels(np.zeros(1000, int))], suspect)
    assert found == Gathering("column who", "who0", 10, 20, pytest.approx(20 * 0.012))  # type: ignore[arg-type]


def test_where_models_are_surer_more_wrong_labels_are_seen_and_that_is_no_carelessness() -> None:
    rng = np.random.default_rng(4)
    contract, clerk = rng.integers(3, size=3000), rng.integers(8, size=3000)
    leaves = np.array([0.01, 0.3, 0.5])[contract]
    truth = (rng.random(3000) < leaves).astype(int)
    columns = strata(contract=contract, clerk=clerk)
    for careless, gathers in ((0.06, []), (0.4, ["clerk5"])):
        labels = np.where(rng.random(3000) < np.where(clerk == 5, careless, 0.06), 1 - truth, truth)
        # Of the second and third contract nobody can tell.
        suspect = (contract == 0) & (labels == 1)
        suggested, probability = 1 - labels, np.where(labels == 1, 1 - leaves, leaves)
        plain, of_sure = of_labels(labels), of_sure_rows(labels, suggested, probability, suspect)
        assert of_sure is not None
        assert "contract0" in [one.part for one in gatherings(columns, [plain], suspect)]
        assert [one.part for one in gatherings(columns, [plain, of_sure], suspect)] == gathers


def test_where_models_say_too_little_labels_alone_are_compared() -> None:
    labels, suspect = np.array([0, 1, 1]), np.array([False, True, False])
    assert of_sure_rows(labels, np.array([1, -1, 0]), np.array([0.1, np.nan, 0.2]), suspect) is None
    assert of_sure_rows(labels, np.array([1, 0, 0]), np.array([0.1, 0.9, 0.2]), np.zeros(3, bool)) is None


def test_of_the_rows_in_their_order_the_stretch_is_named_whatever_the_tenths() -> None:
    rng = np.random.default_rng(8)
    spread = [of_labels(np.zeros(1000, int))]
    for first, last in ((270, 360), (0, 60), (930, 999)):
        block = (np.arange(1000) >= first) & (np.arange(1000) <= last)
        suspect = np.where(block, rng.random(1000) < 0.5, rng.random(1000) < 0.02)
        tenths = pa.array([f"{row // 100 * 100 + 1} to {row // 100 * 100 + 100}" for row in range(1000)]).dictionary_encode()
        # The rows stand in another order than the file's, whose records are counted from 1.
        order = rng.permutation(1000)
        parts = pa.table({"uid": [str(row) for row in order], "order": tenths.take(pa.array(order))})
        (found,) = gatherings(parts, spread, suspect[order], order + 1)
        begin, end = (int(number.replace(",", "")) for number in found.part.split(" to "))
        assert abs(begin - first - 1) <= 8 and abs(end - last - 1) <= 8
        assert found.suspects == np.count_nonzero(suspect[begin - 1 : end]) and found.rows == end - begin + 1
        assert found.expected == pytest.approx(suspect.mean() * found.rows)
        assert all(part.part in tenths.dictionary.to_pylist() for part in gatherings(parts, spread, suspect[order]))


@pytest.mark.parametrize("blocks", [[(50, 330)], [(150, 260), (700, 790)]])
def test_a_stretch_of_several_tenths_is_named_once_and_two_stretches_both(blocks: list[tuple[int, int]]) -> None:
    rng = np.random.default_rng(9)
    place = np.arange(1000)
    inside = np.any([(place >= first) & (place <= last) for first, last in blocks], axis=0)
    suspect = np.where(inside, rng.random(1000) < 0.5, rng.random(1000) < 0.02)
    parts = pa.table({"uid": place.astype(str), "order": pa.array([f"tenth {row // 100}" for row in range(1000)]).dictionary_encode()})
    found = gatherings(parts, [of_labels(np.zeros(1000, int))], suspect, place)
    named = sorted(tuple(int(number) for number in one.part.split(" to ")) for one in found)
    assert len(named) == len(blocks)
    for (first, last), (begin, end) in zip(blocks, named, strict=True):
        assert abs(begin - first) <= 8 and abs(end - last) <= 8

"""Labels in a stretch of the file that contradict the models far more often are doubted more; order alone makes no stretch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cartograph.data.arrays import Floats, Integers
from cartograph.schema import DatasetInfo, examples_schema
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.among import scored
from cartograph.suspects.careless import careless_stretches, file_order, rows_in
from cartograph.suspects.committee import reading_of
from cartograph.suspects.label_doubt import label_doubt

ROWS = 3000
ORDER = np.arange(ROWS)


def labelled(
    seed: int, rate: float, *, rows: slice = slice(1200, 1500), elsewhere: float = 0.02, clear: float = 3.0, classes: int = 3
) -> tuple[Floats, Integers, np.ndarray]:
    """Return class probabilities of rows in their order, given labels, and which of them are wrong: at ``rate`` in some rows."""
    rng = np.random.default_rng(seed)
    true = rng.integers(classes, size=ROWS)
    rates = np.full(ROWS, elsewhere)
    rates[rows] = rate
    wrong = rng.random(ROWS) < rates
    given = np.where(wrong, (true + rng.integers(1, classes, size=ROWS)) % classes, true)
    logits = rng.normal(0.0, 1.3, (ROWS, classes))
    logits[ORDER, true] += clear
    shares = np.exp(logits)
    return shares / shares.sum(axis=1, keepdims=True), given, wrong


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_careless_stretch_is_found_and_its_labels_are_doubted_more(seed: int) -> None:
    shares, given, wrong = labelled(seed, 0.4, clear=2.2)
    without, known = label_doubt(shares, given), label_doubt(shares, given, order=ORDER)
    assert without.stretches == ()
    ((first, last),) = known.stretches
    assert abs(first - 1200) <= 30 and abs(last - 1499) <= 30
    assert average_precision(wrong, known.score) > average_precision(wrong, without.score) + 0.05
    inside = rows_in(known.stretches, ORDER) == 1
    assert known.score[inside].sum() > without.score[inside].sum() and known.score[~inside].sum() < without.score[~inside].sum()
    assert known.wrong is not None and known.wrong.low <= wrong.sum() <= known.wrong.scattered


def test_the_order_of_rows_is_what_counts_not_their_place() -> None:
    shares, given, _ = labelled(1, 0.4)
    known = label_doubt(shares, given, order=ORDER)
    lot = np.random.default_rng(2).permutation(ROWS)
    shuffled = label_doubt(shares[lot], given[lot], order=7 * lot)
    assert shuffled.stretches == known.stretches
    assert shuffled.score == pytest.approx(known.score[lot], abs=1e-9)


@pytest.mark.parametrize("seeds", [8, pytest.param(40, marks=pytest.mark.slow)])
def test_without_a_stretch_nothing_changes(seeds: int) -> None:
    for seed in range(seeds):
        shares, given, _ = labelled(seed, 0.06, elsewhere=0.06)
        without, known = label_doubt(shares, given), label_doubt(shares, given, order=ORDER)
        assert known.stretches == () and known.score.tobytes() == without.score.tobytes() and known.wrong == without.wrong


def test_two_stretches_are_both_found() -> None:
    shares, given, _ = labelled(4, 0.5, rows=slice(300, 500))
    other, later, _ = labelled(4, 0.5, rows=slice(2000, 2200))
    shares[1500:], given[1500:] = other[1500:], later[1500:]
    found = label_doubt(shares, given, order=ORDER).stretches
    assert [(round(first, -2), round(last, -2)) for first, last in found] == [(300, 500), (2000, 2200)]


def test_hard_rows_that_stand_together_are_no_careless_stretch() -> None:
    shares, given, _ = labelled(5, 0.02)
    hard, true, _ = labelled(5, 0.02, clear=1.0)
    shares[1200:1500], given[1200:1500] = hard[1200:1500], true[1200:1500]
    doubt = label_doubt(shares, given).score
    assert doubt[1200:1500].mean() > 2 * doubt.mean()
    assert careless_stretches(np.minimum(doubt, np.where(doubt > 0.1, 0.45, 1.0)), given, ORDER) == ()


def test_a_stretch_of_one_label_is_left_to_who_looks_for_filled_down_ones() -> None:
    rng = np.random.default_rng(6)
    given = rng.integers(2, size=ROWS)
    doubt = np.full(ROWS, 0.02)
    doubt[1200:1300] = np.where(rng.random(100) < 0.5, 0.9, 0.02)
    assert len(careless_stretches(doubt, given, ORDER)) == 1
    given[1200:1300] = 1
    assert careless_stretches(doubt, given, ORDER) == ()


def test_labellers_who_differ_are_heard_instead() -> None:
    shares, given, _ = labelled(1, 0.4)
    who = ((ORDER >= 1200) & (ORDER < 1500)).astype(int)
    known = label_doubt(shares, given, labellers=who, order=ORDER)
    assert known.labellers_differ and known.stretches == ()
    alone = label_doubt(shares, given, labellers=np.zeros(ROWS, int), order=ORDER)
    assert alone.labellers_differ is False and len(alone.stretches) == 1


def test_files_stand_one_after_the_other_by_name() -> None:
    info = DatasetInfo("train", "train", "single", ("text",), (), ("a", "b"))
    columns = [["u", "v", "w", "x"], list("abcd"), [0, 1, 0, 1], ["b.csv", "a.csv", "b.csv", "a.csv"], [1, 2, 2, 1]]
    assert file_order(pa.table(columns, schema=examples_schema(info))).tolist() == [2, 1, 3, 0]


def test_a_committee_reads_the_order_of_a_set_of_texts() -> None:
    rng = np.random.default_rng(7)
    words = [["good", "fine", "great"], ["bad", "poor", "awful"]]
    true = rng.integers(2, size=800)
    texts = [" ".join(rng.choice([*words[label], "film", "plot"], 6)) + f" {row}" for row, label in enumerate(true.tolist())]
    given = true.copy()
    given[300:400] = np.where(rng.random(100) < 0.5, 1 - true[300:400], true[300:400])
    info = DatasetInfo("train", "train", "single", ("text",), (), ("bad", "good"))
    lot = rng.permutation(800)
    columns = [[f"u{row:03}" for row in lot], [texts[row] for row in lot], given[lot].astype(np.int32), ["f"] * 800, lot + 1]
    table = pa.table(columns, schema=examples_schema(info))
    reading = reading_of(table)
    fold = np.arange(800) % 5
    ((first, last),) = scored(reading, given[lot], info.labels, fold, np.random.default_rng(1)).doubt.stretches
    assert abs(first - 300) <= 10 and abs(last - 399) <= 10
    half = lot[:400]
    assert reading.take(np.arange(400)).order is not None
    assert np.array_equal(np.argsort(reading.take(np.arange(400)).order), np.argsort(half))


def test_labels_that_stand_a_row_off_are_surely_wrong_and_raise_the_lower_end_of_the_number() -> None:
    shares, given, _ = labelled(7, 0.0, elsewhere=0.0, clear=4.0, classes=8)
    moved = given.copy()
    moved[1200:1300] = np.roll(given[1200:1300], 1)
    wrong = int((moved != given).sum())
    without, known = label_doubt(shares, moved), label_doubt(shares, moved, order=ORDER)
    assert without.wrong is not None and known.wrong is not None
    assert without.wrong.low < 0.5 * wrong < known.wrong.low <= wrong <= known.wrong.scattered


def test_labels_of_sorted_rows_stand_no_row_off() -> None:
    shares, given, _ = labelled(8, 0.1, elsewhere=0.1)
    order = np.argsort(np.argsort(given, kind="stable"), kind="stable")
    assert label_doubt(shares, given, order=order).wrong == label_doubt(shares, given).wrong

"""Wrong labels of evaluation sets: found with the train set's help, their number read off the set alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from cartograph.schema import NOISE, dataset_info, examples_schema
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.committee import reading_of
from cartograph.suspects.evaluation_labels import EvaluationDoubt, evaluation_doubts, together
from tests.training_sets import Task, small_set


def flipped(rows: pa.Table, share: float, seed: int) -> tuple[pa.Table, np.ndarray]:
    wrong = np.random.default_rng(seed).random(rows.num_rows) < share
    labels = np.where(wrong, 1 - rows["label"].to_numpy(), rows["label"].to_numpy())
    place = rows.schema.get_field_index("label")
    return rows.set_column(place, rows.schema.field("label"), pa.array(labels, pa.int32())), wrong


def doubts(train: pa.Table, sets: dict[str, pa.Table]) -> dict[str, EvaluationDoubt]:
    return evaluation_doubts(train, sets, reading_of(together(train, sets)), folds=5, seed=13, threshold=0.5)


def test_how_many_are_wrong_is_read_off_the_set_itself() -> None:
    train, _ = flipped(small_set(rows=1200), 0.2, 1)
    clean = small_set(rows=600, seed=7, name="clean", domain="id")
    noisy, wrong = flipped(small_set(rows=600, seed=8, name="noisy", domain="id"), 0.1, 2)
    found = doubts(train, {"clean": clean, "noisy": noisy})
    assert list(found) == ["clean", "noisy"]
    number = {name: one.doubt.wrong for name, one in found.items()}
    assert number["clean"] is not None and number["clean"].expected < 6 and round(number["clean"].low) == 0
    assert number["noisy"] is not None and number["noisy"].low <= wrong.sum() <= number["noisy"].scattered
    rows = found["noisy"].rows
    assert rows.schema.equals(NOISE) and rows["uid"].to_pylist() == noisy["uid"].to_pylist()
    assert average_precision(wrong, rows["probability"].to_numpy()) > 0.9
    assert np.count_nonzero(found["clean"].rows["flagged"].to_numpy(zero_copy_only=False)) <= 3
    assert all(why.startswith("models that never saw the row give it ") for why in rows["reason"].to_pylist())


@pytest.mark.parametrize("task", ["pair", "choice", "table"])
def test_sets_of_every_kind_are_looked_at_and_a_few_rows_have_no_number(task: Task) -> None:
    train = small_set(task, rows=400)
    test, wrong = flipped(small_set(task, rows=80, seed=5, name="test", domain="id"), 0.1, 3)
    one = doubts(train, {"test": test})["test"]
    assert one.doubt.wrong is None and one.doubt.unknown in ("few rows", "little explained", "hard rows")
    assert average_precision(wrong, one.rows["probability"].to_numpy()) > 0.8


def test_columns_that_not_every_set_has_are_left_out() -> None:
    train = small_set(rows=20).append_column("linked", pa.array([0] * 20, pa.int32()))
    assert together(train, {"test": small_set(rows=5, name="test", domain="id")}).num_rows == 25


def test_classes_that_differ_in_form_only_are_one_there_too() -> None:
    train = small_set(rows=600)
    test, wrong = flipped(small_set(rows=600, seed=8, name="test", domain="id"), 0.1, 2)
    plain = doubts(train, {"test": test})["test"]

    def in_two_forms(rows: pa.Table, seed: int) -> pa.Table:
        info = replace(dataset_info(rows.schema), labels=("quiet", "loud", "Loud"))
        labels = rows["label"].to_numpy()
        labels = np.where((labels == 1) & (np.random.default_rng(seed).random(len(labels)) < 0.3), 2, labels)
        columns = [pa.array(labels, pa.int32()) if name == "label" else rows[name] for name in rows.column_names]
        return pa.table(columns, schema=examples_schema(info))

    found = doubts(in_two_forms(train, 1), {"test": in_two_forms(test, 2)})["test"]
    assert found.doubt.wrong is not None and plain.doubt.wrong is not None and not found.one_class
    assert abs(found.doubt.wrong.expected - plain.doubt.wrong.expected) < 3
    assert abs(int(np.sum(found.rows["flagged"].to_numpy(zero_copy_only=False))) - int(wrong.sum())) < 15

"""Rows of a table of features as numbers."""

from __future__ import annotations

import json

import numpy as np

from cartograph.features.tables import (
    MISSING,
    OTHER,
    SQUARED_NORM,
    TableEncoder,
    TreeColumns,
    dense_columns,
    mostly_alike,
    sparse_columns,
    tree_columns,
)
from cartograph.schema import VALUES
from tests.training_sets import small_table


def test_the_encoder_is_the_train_sets_and_survives_json() -> None:
    train, other = small_table(), small_table(20, 1, "validation", "id", rest=("green",))
    encoder = TableEncoder.fit(train)
    again = TableEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert again == encoder
    for read in ("scaled", "ids", "dense"):
        assert np.array_equal(getattr(again, read)(other), getattr(encoder, read)(other))


def test_missing_and_unseen_categories_have_ids_of_their_own() -> None:
    train, other = small_table(), small_table(200, 1, "validation", "id", rest=("green",))
    colours = [row["colour"] for row in other[VALUES].to_pylist()]
    ids = TableEncoder.fit(train).ids(other)[:, 0]
    assert set(ids[[colour is None for colour in colours]]) == {MISSING}
    assert set(ids[[colour == "green" for colour in colours]]) == {OTHER}
    assert len(set(ids[[colour in ("red", "blue") for colour in colours]])) == 2


def test_numbers_stay_within_bounds_and_missing_ones_are_said() -> None:
    train = small_table()
    scaled = TableEncoder.fit(train).scaled(train)
    assert np.abs(scaled).max() <= 3 and np.isfinite(scaled).all()
    missing = [row["size"] is None for row in train[VALUES].to_pylist()]
    assert any(missing) and np.array_equal(scaled[:, -1] == 1, missing) and (scaled[missing, 0] == 0).all()


def test_a_date_is_a_day_a_month_and_a_weekday() -> None:
    train = small_table()
    encoder = TableEncoder.fit(train)
    assert [number.name for number in encoder.numbers] == ["size", "seen", "seen (month)", "seen (weekday)"]
    first = train[VALUES][0].as_py()["seen"]
    assert encoder.raw(train)[0, 2:].tolist() == [first.month, first.weekday()]


def test_bins_and_vectors_have_the_length_that_penalties_suit() -> None:
    train = small_table()
    rows = sparse_columns(train, small_table(10, 2))
    assert rows.shape[0] == 70 and rows.data.min() > 0
    assert np.allclose((rows.toarray()[:60] ** 2).sum(axis=1), SQUARED_NORM)
    assert np.isclose((dense_columns({"train": train})["train"] ** 2).sum(axis=1).mean(), SQUARED_NORM, rtol=1e-4)


def test_trees_read_numbers_as_they_are_and_nothing_where_nothing_is() -> None:
    train = small_table()
    columns = tree_columns(train)
    assert columns.categorical.tolist() == [False, False, False, False, True]
    sizes = [row["size"] for row in train[VALUES].to_pylist()]
    assert np.array_equal(np.isnan(columns.values[:, 0]), [size is None for size in sizes])
    assert np.isnan(columns.values[[row["colour"] is None for row in train[VALUES].to_pylist()], 4]).all()


def test_rows_of_a_few_kinds_are_mostly_alike_and_missing_values_are_a_kind_too() -> None:
    kinds = np.array([[0.0, np.nan], [1.0, np.nan], [1.0, 2.0]])
    few = TreeColumns(np.repeat(kinds, 30, axis=0), np.array([True, True]))
    assert mostly_alike(few)
    assert not mostly_alike(TreeColumns(np.repeat(kinds, 15, axis=0), few.categorical))
    assert not mostly_alike(tree_columns(small_table(400)))

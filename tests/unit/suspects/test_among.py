"""Suspects among some rows of a set, found as if there were no others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cartograph.errors import InputError
from cartograph.schema import NOISE, DatasetInfo, dataset_info, examples_schema
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.among import Among, scored
from cartograph.suspects.committee import reading_of
from cartograph.suspects.several_labels import several_doubts
from tests.training_sets import Task, small_set

ROWS = 200


def among(rows: pa.Table, unknown: str | None = None) -> Among:
    return Among(rows, reading_of(rows), 5, 3, unknown, 0.5)  # type: ignore[arg-type]


def mislabelled(task: Task, wrong: int = 12, seed: int = 1) -> tuple[pa.Table, np.ndarray]:
    rows = small_set(task, rows=ROWS)
    planted = np.zeros(ROWS, bool)
    planted[np.random.default_rng(seed).choice(ROWS, wrong, replace=False)] = True
    labels = np.where(planted, 1 - rows["label"].to_numpy(), rows["label"].to_numpy())
    place = rows.schema.get_field_index("label")
    return rows.set_column(place, rows.schema.field("label"), pa.array(labels, pa.int32())), planted


@pytest.mark.slow
@pytest.mark.parametrize("task", ["single", "pair", "choice", "table"])
def test_wrong_labels_are_found_among_some_rows_and_the_others_have_no_say(task: Task) -> None:
    rows, planted = mislabelled(task)
    some = np.flatnonzero(np.arange(ROWS) % 4 != 1)
    found = among(rows)(some)
    assert found.schema.equals(NOISE) and found["uid"].to_pylist() == rows["uid"].take(pa.array(some)).to_pylist()
    assert average_precision(planted[some], found["probability"].to_numpy()) > 0.8
    place = rows.schema.get_field_index("label")
    turned = rows["label"].to_numpy().copy()
    turned[1::4] = 1 - turned[1::4]
    others = rows.set_column(place, rows.schema.field("label"), pa.array(turned, pa.int32()))
    assert among(others)(some).equals(found)
    assert not among(others)(np.arange(ROWS)).equals(among(rows)(np.arange(ROWS)))


def test_of_some_rows_in_any_order_it_is_the_same() -> None:
    rows, _ = mislabelled("single")
    order = np.random.default_rng(2).permutation(ROWS)[:150]
    part = rows.take(pa.array(order))
    own = among(rows).of(part)
    assert own.examples.equals(part)
    assert own(np.arange(150)).equals(among(rows)(order))


def test_why_the_number_is_unknown_is_not_asked_again() -> None:
    rows, _ = mislabelled("single")
    some = np.arange(ROWS)
    known, unknown = (among(rows, why)(some)["probability"].to_numpy() for why in (None, "little explained"))
    assert not np.array_equal(known, unknown) and np.array_equal(np.argsort(known), np.argsort(unknown))


def test_of_one_class_nobody_is_a_suspect() -> None:
    rows, _ = mislabelled("single", wrong=0)
    found = among(rows)(np.flatnonzero(rows["label"].to_numpy() == 1))
    assert not found["flagged"].to_numpy(zero_copy_only=False).any()
    assert set(found["suggested"].to_pylist()) == {0} and len(dataset_info(rows.schema).labels) == 2


@pytest.mark.parametrize("task", ["single", "pair", "choice", "table"])
def test_what_is_read_of_some_rows_is_theirs(task: Task) -> None:
    rows = small_set(task, rows=40)
    reading, some = reading_of(rows), np.array([3, 0, 17])
    part = reading.take(some)
    for name in ("data", "vectors", "compared"):
        whole, own = getattr(reading, name), getattr(part, name)
        assert (whole is None) == (own is None)
        if whole is not None:
            one, other = (values.toarray() if hasattr(values, "toarray") else values for values in (own, whole))
            np.testing.assert_array_equal(one, other[some])
    if reading.trees is not None and part.trees is not None:
        np.testing.assert_array_equal(part.trees.values, reading.trees.values[some])
    if reading.options is not None and part.options is not None:
        np.testing.assert_array_equal(part.options.words.toarray(), reading.options.words.toarray()[[6, 7, 0, 1, 34, 35]])


def test_options_of_similar_names_are_different_places() -> None:
    rng, options = np.random.default_rng(5), ("choice_a", "choice_A", "choice_b", "choice_c")
    labels = np.where(np.arange(200) < 3, 3, rng.integers(0, 3, 200))
    words = rng.choice(["red", "blue", "green"], (200, 4)).astype(object)
    words[np.arange(200), labels] = "right"
    info = DatasetInfo("train", "train", "choice", ("sentence",), options, options)
    columns = [[f"u{row:03}" for row in range(200)], ["which _"] * 200, *words.T.tolist(), labels.tolist(), ["q"] * 200, list(range(200))]
    schema = examples_schema(info)
    rows = pa.table([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)
    assert among(rows)(np.arange(200)).num_rows == 200


def test_characters_are_read_of_some_rows_too_and_heard() -> None:
    rows = small_set(rows=80)
    reading, labels, names = reading_of(rows), rows["label"].to_numpy(), dataset_info(rows.schema).labels
    assert reading.characters is not None and reading_of(rows, characters=False).characters is None
    some = np.array([7, 3, 40])
    taken = reading.take(some).characters
    assert taken is not None and np.array_equal(taken.toarray(), reading.characters[some].toarray())
    fold = np.arange(80) // 2 % 4
    heard, without = (
        np.asarray(scored(one, labels, names, fold, np.random.default_rng(1)).probabilities)
        for one in (reading, reading._replace(characters=None))
    )
    assert not np.allclose(heard, without)
    given = np.stack([labels, 1 - labels], axis=1)
    several = [several_doubts(one, given, ("a", "b"), 1).probabilities for one in (reading, reading._replace(characters=None))]
    assert not np.allclose(*several)
    with pytest.raises(InputError, match="there are 79 rows of data and 80 labels"):
        scored(reading._replace(characters=reading.characters[:79]), labels, names, fold, np.random.default_rng(1))

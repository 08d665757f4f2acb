from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.errors import InputError
from cartograph.features.vectors import (
    bow_features,
    bow_words,
    join_options,
    join_sides,
    read_features,
    read_stored_features,
    write_features,
)
from cartograph.models.last_layer import penultimate_features
from cartograph.schema import Task
from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
from tests.training_sets import info_of, small_set


def test_sides_of_a_pair_are_joined_with_difference_and_product() -> None:
    joined = join_sides(np.array([[1.0, 2.0, 3.0, -1.0]], np.float32), info_of("pair"))
    assert joined.tolist() == [[1, 2, 3, -1, 2, 3, 3, -2]]


def test_two_options_are_their_difference_and_more_are_concatenated() -> None:
    vectors = np.arange(6, dtype=np.float32).reshape(1, 3, 2)
    assert join_options(vectors[:, :2]).tolist() == [[2, 2]]
    assert join_options(vectors).tolist() == [[0, 1, 2, 3, 4, 5]]
    assert join_sides(np.array([[1.0, 2.0, 3.0, -1.0]], np.float32), info_of("choice")).tolist() == [[2, -3]]
    assert join_sides(np.array([[1.0, 2.0]], np.float32), info_of("single")).tolist() == [[1, 2]]


@pytest.mark.parametrize("task", ["single", "pair", "choice"])
def test_a_bag_of_words_has_few_dimensions_of_a_given_mean_length(task: Task) -> None:
    tables = {"train": small_set(task), "held": small_set(task, rows=20, seed=9)}
    found = bow_features(bow_words(tables), 8, 13)
    assert found["train"].shape == (60, 8) and found["held"].shape == (20, 8)
    assert found["train"].dtype == np.float32
    if task != "choice":
        assert (found["train"] ** 2).sum(axis=1).mean() == pytest.approx(10, rel=1e-3)
    again = bow_features(bow_words(tables), 8, 13)
    assert np.array_equal(found["train"], again["train"])
    centred = found["train"] - found["train"].mean(axis=0)
    label = tables["train"]["label"].to_numpy() - 0.5
    assert np.linalg.lstsq(centred, label, rcond=None)[1][0] < 0.6 * (label**2).sum()


def test_the_rows_whose_words_are_read_and_then_reduced_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {"train": small_set(rows=60), "held": small_set(rows=20, seed=9)}
    monkeypatch.setattr("cartograph.features.text._BLOCK", 50)
    monkeypatch.setattr("cartograph.features.vectors._CHUNK", 50)
    heard: list[tuple[int, int]] = []
    words = bow_words(tables, lambda done, total: heard.append((done, total)))
    assert heard == [(50, 80), (80, 80)]
    heard.clear()
    bow_features(words, 4, 3, lambda done, total: heard.append((done, total)))
    assert heard == [(50, 80), (60, 80), (80, 80)]


def test_the_svd_of_many_rows_is_taken_of_a_sample_and_every_row_has_its_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = small_set(rows=200)
    whole = bow_features(bow_words({"train": rows}), 4, 3)["train"]
    monkeypatch.setattr("cartograph.features.vectors._MOST_ROWS", 120)
    sampled, again = (bow_features(bow_words({"train": rows}), 4, 3)["train"] for _ in range(2))
    assert sampled.shape == whole.shape == (200, 4) and np.array_equal(sampled, again) and not np.array_equal(sampled, whole)
    assert (sampled**2).sum(axis=1).mean() == pytest.approx(10.0, rel=1e-4)
    # Distances are what the filter reads: they are much the same.
    one, other = (values[:40] @ values[:40].T for values in (whole, sampled))
    assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.9


def test_vectors_are_read_by_uid(tmp_path: Path) -> None:
    vectors = np.arange(12, dtype=np.float32).reshape(4, 3)
    write_features(pa.chunked_array([["a", "b", "c", "d"]]), vectors, tmp_path / "f.parquet")
    uids, found = read_features(tmp_path / "f.parquet", pa.chunked_array([["d", "b"]]))
    assert uids.to_pylist() == ["d", "b"]
    assert found.tolist() == [[9, 10, 11], [3, 4, 5]]
    assert read_features(tmp_path / "f.parquet")[1].tolist() == vectors.tolist()


def test_numbers_of_16_bits_may_stay_such_and_are_the_same(tmp_path: Path) -> None:
    vectors = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    write_features(pa.chunked_array([list("abcde")]), vectors, tmp_path / "half.parquet")
    names, stored = read_stored_features(tmp_path / "half.parquet")
    assert names.to_pylist() == list("abcde") and stored.dtype == np.float16
    assert np.array_equal(stored.astype(np.float32), read_features(tmp_path / "half.parquet")[1])
    assert np.array_equal(read_stored_features(tmp_path / "half.parquet", pa.chunked_array([["d", "b"]]))[1], stored[[3, 1]])
    write_features(pa.chunked_array([list("abcde")]), vectors * 1e6, tmp_path / "whole.parquet")
    assert np.array_equal(read_stored_features(tmp_path / "whole.parquet")[1], vectors * np.float32(1e6))


def test_a_users_file_may_hold_plain_lists_of_doubles(tmp_path: Path) -> None:
    pq.write_table(pa.table({"uid": [1, 2], "note": ["x", "y"], "v": [[1.0, 2.0], [3.0, 4.0]]}), tmp_path / "f.parquet")
    assert read_features(tmp_path / "f.parquet", ["2"])[1].tolist() == [[3, 4]]
    large = pa.array([[1.0, 2.0], [3.0, 4.0]], pa.large_list(pa.float32()))
    pq.write_table(pa.table({"uid": pa.array(["a", "b"], pa.large_string()), "v": large}), tmp_path / "f.parquet")
    assert read_features(tmp_path / "f.parquet", ["b", "a"])[1].tolist() == [[3, 4], [1, 2]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"uid": ["a", "b"], "v": [[1.0], [2.0]]}, r"has no features of uid 'c' \(1 of 3 rows have none\); give a vector for every row"),
        ({"uid": ["a", "a", "b", "c"], "v": [[1.0]] * 4}, "has uid 'a' more than once"),
        ({"uid": ["a", "b", "c"], "v": [[1.0], [2.0, 3.0], [1.0]]}, "lists have between 1 and 2 numbers"),
        ({"uid": ["a", "b", "c"], "v": [[1.0], None, [1.0]]}, "has no features in the row with uid 'b'"),
        ({"uid": ["a", "b", "c"], "v": [[1.0], [None], [1.0]]}, "has an empty value within a list"),
        (
            {"uid": ["a", "b", "c"], "v": [[1.0], [1.0], [float("nan")]]},
            "has nan among the features of uid 'c'; every value must be a finite",
        ),
        ({"id": ["a", "b", "c"], "v": [[1.0]] * 3}, "must have a column `uid` and one column of floating-point lists, but has id, v"),
        ({"uid": ["a", "b", "c"], "v": [1.0, 2.0, 3.0]}, "must have a column `uid` and one column of floating-point lists"),
    ],
)
def test_a_faulty_file_of_features_is_refused(tmp_path: Path, columns: dict[str, list[object]], message: str) -> None:
    pq.write_table(pa.table(columns), tmp_path / "f.parquet")
    with pytest.raises(InputError, match=message):
        read_features(tmp_path / "f.parquet", ["a", "b", "c"], what="mine.parquet")


def test_what_is_no_parquet_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "f.parquet").write_text("uid,v\n")
    with pytest.raises(InputError, match=r"mine\.parquet cannot be read as Parquet"):
        read_features(tmp_path / "f.parquet", what="mine.parquet")


@pytest.mark.parametrize(("task", "width"), [("pair", 64), ("choice", 64)])
def test_the_last_layers_input_decides_as_the_model_does(tmp_path: Path, task: Task, width: int) -> None:
    train, held = small_set(task, rows=80), small_set(task, rows=30, seed=9, name="held", domain="id")
    result = fit(Recipe(epochs=6, batch_size=16, device="cpu", learning_rate=0.02), train, {"held": held}, tmp_path)
    found = penultimate_features("bow", result.model, {"held": held}, batch_size=7, device="cpu")["held"]
    assert found.shape == (30, width)
    logits = pq.read_table(result.predictions / "held.parquet").sort_by("uid")["logits"].to_pylist()
    predicted = np.argmax(logits, axis=1)
    design = np.column_stack([found, np.ones(30)])
    weights = np.linalg.lstsq(design, np.diff(logits, axis=1)[:, 0], rcond=None)[0]
    assert ((design @ weights > 0) == predicted).all()

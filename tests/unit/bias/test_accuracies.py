from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

from cartograph.bias.accuracies import ACCURACIES, EvaluationRows, accuracies_table, held_out, mean_accuracies
from cartograph.bias.partial import WHOLE
from tests.training_sets import small_images, small_set


def test_versions_are_tested_where_they_were_trained_and_crosswise() -> None:
    pool, tests = small_set(rows=50), EvaluationRows(small_set(rows=20, seed=9), np.arange(20) < 5)
    kept, seen = np.arange(50) % 5 == 0, []

    def predict(model: str, given: str, seed: int, train: pa.Table, evaluation: Mapping[str, pa.Table]) -> dict[str, np.ndarray]:
        seen.append((model, seed, tuple(train["uid"].to_pylist())))
        return {name: rows["label"].to_numpy() * (model == "oracle") for name, rows in evaluation.items()}

    found = accuracies_table(
        pool, kept, {"dev": tests}, [("oracle", WHOLE), ("zero", WHOLE)], (1, 2), predict, deterministic=lambda model: model == "zero"
    )
    assert found.schema.equals(ACCURACIES)
    assert [len(uids) for model, _, uids in seen if model == "oracle"] == [50, 50, 10, 10, 10, 10]
    assert [len(uids) for model, _, uids in seen if model == "zero"] == [50, 10, 10, 10]
    randoms = {uids for model, _, uids in seen if model == "oracle" and len(uids) == 10}
    assert len(randoms) == 3
    rows = found.to_pylist()
    assert all(row["accuracy"] == 1 for row in rows if row["model"] == "oracle")
    assert {row["test_rows"] for row in rows if row["tested_on"] == "filtered"} == {5}
    gold = tests.rows["label"].to_numpy()[:5]
    zero = next(row for row in rows if row["model"] == "zero" and row["tested_on"] == "filtered")
    assert zero["accuracy"] == pytest.approx((gold == 0).mean()) and zero["majority"] == pytest.approx(np.bincount(gold).max() / 5)


def test_data_without_evaluation_sets_hold_a_part_out() -> None:
    pool, kept = small_set(rows=50), np.arange(50) < 20
    rest, stays, part = held_out(pool, kept, 0.2, np.random.default_rng(0))
    assert (rest.num_rows, len(stays), part.rows.num_rows) == (40, 40, 10)
    assert set(rest["uid"].to_pylist()).isdisjoint(part.rows["uid"].to_pylist())
    assert stays.sum() + part.kept.sum() == 20


def test_rows_that_a_column_links_are_held_out_together() -> None:
    pool = small_set(rows=300).append_column("linked", pa.array([row // 3 for row in range(300)], pa.int32()))
    rest, stays, part = held_out(pool, np.arange(300) < 30, 0.2, np.random.default_rng(0))
    assert set(rest["linked"].to_pylist()).isdisjoint(part.rows["linked"].to_pylist())
    assert abs(part.rows.num_rows - 60) <= 6 and rest.num_rows == len(stays) == 300 - part.rows.num_rows


def test_five_best_labels_are_counted() -> None:
    pool, tests = small_images(20), EvaluationRows(small_images(4, seed=3), np.ones(4, bool))
    gold = tests.rows["label"].to_numpy()
    scores = np.zeros((4, 6), np.float32)
    scores[:, 2:] = 1.0  # five classes before the label where it is 1, four and a tie where it is 0
    scores[np.arange(4), gold] = [2.0, 0.5, 0.5, 0.0]
    expected = {"accuracy": 0.25, "top5": np.mean([True, True, True, gold[3] == 0])}
    found = accuracies_table(pool, np.ones(20, bool), {"dev": tests}, [("m", "whole input")], (1,), lambda *_: {"dev": scores})
    assert found.schema.equals(ACCURACIES)
    assert {key: found.to_pylist()[0][key] for key in expected} == expected


def test_means_are_of_each_version_where_it_was_trained() -> None:
    usual = {"model": "linear", "input": "whole input", "trained_on": "full", "train_rows": 9, "seed": 1, "set": "held out"}
    usual |= {"tested_on": "full", "test_rows": 9, "accuracy": 0.5, "majority": 0.4, "top5": None}
    other = [{"accuracy": 0.7, "seed": 2}, {"tested_on": "filtered", "accuracy": 0.1}, {"trained_on": "filtered", "accuracy": None}]
    part = [{"trained_on": "filtered", "tested_on": "filtered", "input": "premise only", "accuracy": 0.4, "top5": 0.8}]
    rows = pa.Table.from_pylist([usual | changed for changed in ({}, *other, *part)], schema=ACCURACIES)
    assert mean_accuracies(rows) == {
        "bias.linear.held_out.full": 0.6,
        "bias.linear.premise_only.held_out.filtered": 0.4,
        "bias.linear.premise_only.held_out.filtered.top5": 0.8,
    }

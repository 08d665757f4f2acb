"""The measures of bias against arithmetic by hand and brute force."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

import numpy as np
import pyarrow as pa
import pytest

from cartograph.bias.guess import guess
from cartograph.bias.neighbours import TOPS, neighbour_distances
from cartograph.bias.partial import WHOLE, partial_inputs, with_input
from cartograph.bias.versions import ACCURACIES, Evaluated, compare_versions, held_out
from cartograph.bias.words import REVEALING, count_words, predict_by_words, revealing_words, words_of, words_table
from cartograph.schema import Task, dataset_info
from tests.training_sets import info_of, small_set, table


def test_pmi_by_hand() -> None:
    rows = [frozenset("ab"), frozenset("a"), frozenset("b"), frozenset("c")]
    found = count_words(rows, np.array([0, 0, 1, 1]), 2, smoothing=0.5)
    assert found.words == ("a", "b", "c")
    assert found.counts.tolist() == [[2, 0], [1, 1], [0, 1]]
    joint, total = np.array([[2.5, 0.5], [1.5, 1.5], [0.5, 1.5]]), 8.0
    assert found.pmi[0, 0] == pytest.approx(log((joint[0, 0] / total) / (3.0 / total * 4.5 / total)))
    assert found.pmi[2, 1] == pytest.approx(log((1.5 / total) / (2.0 / total * 3.5 / total)))


def test_the_label_of_the_largest_pmi_is_predicted() -> None:
    rows = [frozenset("ax")] * 6 + [frozenset("bx")] * 5 + [frozenset("x")]
    found = count_words(rows, np.array([0] * 6 + [1] * 5 + [1]), 2, smoothing=0.1)
    predicted = predict_by_words(found, [frozenset("a"), frozenset("bx"), frozenset("never"), frozenset()])
    assert predicted.tolist() == [0, 1, 0, 0]
    assert [found.words[place] for place in revealing_words(found, 0, 5, least=1)] == ["a"]
    assert revealing_words(found, 0, 5, least=7) == []


def test_words_know_their_field() -> None:
    columns = {"premise": ["A dog's", "a"], "hypothesis": ["Nobody, nobody!", "a"]}
    rows, labels, classes = words_of(table(info_of("pair"), columns, [1, 0]))
    assert rows[0] == {"premise: a", "premise: dog's", "hypothesis: nobody"}
    assert (labels.tolist(), classes) == ([1, 0], 2)


@pytest.mark.parametrize("task", ["single", "pair", "choice"])
@pytest.mark.parametrize("model", ["linear", "max-pmi"])
def test_quick_models_learn_a_give_away_word(task: Task, model: str) -> None:
    train, test = small_set(task, rows=200), small_set(task, rows=80, seed=9)
    predicted = guess(model, train, test, smoothing=1.0)
    predicted = predicted.argmax(axis=1) if model == "linear" else predicted
    assert (predicted == test["label"].to_numpy()).mean() > 0.95


def test_partial_inputs_of_each_task() -> None:
    assert partial_inputs(info_of("single")) == ()
    assert partial_inputs(info_of("pair")) == ("premise alone", "hypothesis alone")
    assert partial_inputs(info_of("choice")) == ("options alone",)
    pair = small_set("pair")
    alone = with_input(pair, "hypothesis alone")
    assert dataset_info(alone.schema).task == "single" and "premise" not in alone.column_names
    assert alone["hypothesis"].to_pylist() == pair["hypothesis"].to_pylist()
    choice = with_input(small_set("choice"), "options alone")
    assert set(choice["sentence"].to_pylist()) == {"_"}
    assert with_input(pair, WHOLE) is pair


def test_the_side_without_the_word_tells_nothing() -> None:
    train, test = small_set("pair", rows=300), small_set("pair", rows=150, seed=9)
    right = {}
    for name in ("premise alone", "hypothesis alone"):
        predicted = guess("linear", with_input(train, name), with_input(test, name), smoothing=1.0)
        right[name] = (predicted.argmax(axis=1) == test["label"].to_numpy()).mean()
    assert right["hypothesis alone"] > 0.95 and right["premise alone"] < 0.65


def test_neighbours_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    train, held = rng.normal(size=(70, 5)).astype(np.float32), rng.normal(size=(9, 5)).astype(np.float32)
    labels, gold = rng.integers(2, size=70), rng.integers(2, size=9)
    found = {(row["label"], row["against"], row["top"]): row["distance"] for row in neighbour_distances(train, labels, held, gold, 2)}
    for label in (0, 1):
        for against in ("same", "others"):
            other = train[(labels == label) == (against == "same")]
            for top in TOPS:
                sums = []
                for row in held[gold == label]:
                    cosine = [1 - row @ one / np.linalg.norm(row) / np.linalg.norm(one) for one in other]
                    sums.append(sum(sorted(cosine)[:top]))
                expected = None if len(other) < top else np.mean(sums)
                assert found[label, against, top] == (None if expected is None else pytest.approx(expected, abs=1e-4))


def test_versions_are_tested_where_they_were_trained_and_crosswise() -> None:
    pool, tests = small_set(rows=50), Evaluated(small_set(rows=20, seed=9), np.arange(20) < 5)
    kept, seen = np.arange(50) % 5 == 0, []

    def predict(model: str, given: str, seed: int, train: pa.Table, evaluation: Mapping[str, pa.Table]) -> dict[str, np.ndarray]:
        seen.append((model, seed, tuple(train["uid"].to_pylist())))
        return {name: rows["label"].to_numpy() * (model == "oracle") for name, rows in evaluation.items()}

    found = compare_versions(
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


def test_revealing_words_before_and_after() -> None:
    before = small_set(rows=200)
    quiet = pa.array([label == 0 or number % 2 == 0 for number, label in enumerate(before["label"].to_pylist())])
    found = words_table(before, before.filter(quiet), number=4, smoothing=1.0)
    assert found.schema.equals(REVEALING)
    rows = {(row["listed"], row["word"]): row for row in found.to_pylist()}
    loud = rows["before", "barks"]
    assert (loud["label"], loud["share_before"]) == (1, 1.0)
    assert loud["rows_after"] < loud["rows_before"]

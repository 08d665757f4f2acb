"""Words that give the label away, against arithmetic by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pyarrow as pa
import pytest

from cartograph.bias.words import REVEALING, count_words, predict_by_words, revealing_words, words_of, words_table
from tests.training_sets import info_of, small_set, table


def test_pmi_is_what_a_count_by_hand_gives() -> None:
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


def test_words_of_two_fields_carry_the_name_of_their_field() -> None:
    columns = {"premise": ["A dog's", "a"], "hypothesis": ["Nobody, nobody!", "a"]}
    rows, labels, classes = words_of(table(info_of("pair"), columns, [1, 0]))
    assert next(rows) == {"premise: a", "premise: dog's", "hypothesis: nobody"}
    assert (labels.tolist(), classes) == ([1, 0], 2)


def test_every_option_of_a_choice_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cartograph.bias.words._BLOCK", 1)
    given = table(info_of("choice"), {"sentence": ["x _", "y _"], "option1": ["A b", "c"], "option2": ["b", "c d"]}, [1, 0])
    rows, labels, classes = words_of(given)
    assert list(rows) == [{"a", "b"}, {"b"}, {"c"}, {"c", "d"}]
    assert (labels.tolist(), classes) == ([0, 1, 1, 0], 2)


def test_revealing_words_are_counted_before_and_after() -> None:
    before = small_set(rows=200)
    quiet = pa.array([label == 0 or number % 2 == 0 for number, label in enumerate(before["label"].to_pylist())])
    found = words_table(before, before.filter(quiet), number=4, smoothing=1.0)
    assert found.schema.equals(REVEALING)
    rows = {(row["listed"], row["word"]): row for row in found.to_pylist()}
    loud = rows["before", "barks"]
    assert (loud["label"], loud["share_before"]) == (1, 1.0)
    assert loud["rows_after"] < loud["rows_before"]

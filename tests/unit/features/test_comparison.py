"""How alike the two texts of a pair are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cartograph.features.comparison import NAMES, beside_vectors, beside_words, comparison_features, with_products
from cartograph.features.simple import simple_features
from cartograph.features.text import TextRows, text_features
from cartograph.schema import dataset_info
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.committee import committee_scores, reading_of
from tests.training_sets import small_set

WORDS = [f"w{number}x{number * 7}" for number in range(5000)]


def related(rows: int, seed: int, wrong: float = 0.0) -> tuple[list[tuple[str, str]], np.ndarray, np.ndarray]:
    """Return pairs that share a third of their words where they are of class 1, labels, and which of those are wrong."""
    rng = np.random.default_rng(seed)
    labels, pairs = rng.integers(2, size=rows), []
    for label in labels:
        drawn, shared = rng.choice(WORDS, 16, replace=False), 3 if label else 0
        pairs.append((" ".join(drawn[:8]), " ".join([*drawn[:shared], *drawn[8 : 16 - shared]])))
    flipped = rng.random(rows) < wrong
    return pairs, np.where(flipped, 1 - labels, labels), flipped


def column(rows: list[tuple[str, str]], name: str) -> list[float]:
    found = comparison_features(rows)
    assert found is not None and found.dtype == np.float32 and found.shape == (len(rows), len(NAMES))
    return [round(float(value), 3) for value in found[:, NAMES.index(name)]]


def test_shares_are_of_distinct_words_weighed_by_how_rare_they_are() -> None:
    rows = [("the red ball", "the ball"), ("the dog", "the cat"), ("the the the sun", "the sun"), ("", "the sun")]
    # "the" is in 7 of 8 texts, "ball" and "sun" in 2 and 3, "red" in one.
    idf = {word: (np.log(9 / (1 + times)) + 1) ** 2 for word, times in {"the": 7, "ball": 2, "red": 1}.items()}
    shared = idf["the"] + idf["ball"]
    assert column(rows, "words, first in second")[0] == round(shared / (shared + idf["red"]), 3)
    assert column(rows, "words, second in first") == [1.0, column(rows, "words, cosine")[1], 1.0, 0.0]
    assert column(rows, "words, cosine")[0] == round(float(np.sqrt(shared / (shared + idf["red"]))), 3)
    assert column(rows, "words of the first") == [round(float(np.log1p(number)), 3) for number in (3, 2, 4, 0)]
    assert np.isfinite(comparison_features(rows)).all()


def test_trigrams_see_words_that_are_written_a_little_differently_and_case_is_nothing() -> None:
    rows = [("Deletes accounts", "deleting the account"), ("deletes accounts", "a red ball")]
    assert column(rows, "words, cosine")[0] == 0.0 and column(rows, "trigrams, cosine")[0] > 0.3
    assert column(rows, "trigrams, cosine")[1] == 0.0


def test_of_many_rows_rarity_is_that_of_some_and_the_numbers_hardly_change(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _, _ = related(3000, 1)
    every = comparison_features(rows)
    monkeypatch.setattr("cartograph.features.comparison._FREQUENT_ROWS", 500)
    monkeypatch.setattr("cartograph.features.comparison._KEPT", 50)
    some = comparison_features(rows)
    assert every is not None and some is not None
    np.testing.assert_allclose(some, every, atol=0.1)


def test_what_is_no_pair_has_none() -> None:
    assert comparison_features([]) is comparison_features(["a dog"]) is comparison_features([("a", "b", "c")]) is None


def test_products_have_mean_0_and_variance_1_and_a_column_of_one_value_is_0() -> None:
    rng = np.random.default_rng(1)
    plain, both = with_products(np.stack([rng.random(50), np.ones(50), rng.random(50)], axis=1).astype(np.float32))
    assert (plain.shape, both.shape) == ((50, 3), (50, 9))
    np.testing.assert_allclose(both.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(both.std(axis=0)[[0, 2, 3, 5, 8]], 1.0, rtol=1e-5)
    assert not plain[:, 1].any()


def test_beside_vectors_the_comparison_is_an_eighth_as_large_as_they_are_long() -> None:
    rng = np.random.default_rng(2)
    compared = rng.random((60, 4)).astype(np.float32)
    for scale in (1.0, 30.0):
        vectors = (scale * rng.normal(size=(60, 9))).astype(np.float32)
        both = beside_vectors(vectors, compared)
        assert both.dtype == np.float32 and both.shape == (60, 9 + 4 + 10)
        np.testing.assert_array_equal(both[:, :9], vectors)
        np.testing.assert_allclose(both[:, 9:].std(axis=0), 0.12 * np.linalg.norm(vectors, axis=1).mean(), rtol=1e-4)


def test_pairs_are_read_with_it_by_linear_models_and_other_rows_are_not() -> None:
    pair, single = small_set("pair", rows=40), small_set(rows=40)
    words = text_features(TextRows(pair))
    whole, compared = simple_features(pair), comparison_features(TextRows(pair))
    assert compared is not None and whole.shape[1] == words.shape[1] + len(NAMES)
    np.testing.assert_array_equal(whole.toarray(), beside_words(words, compared).toarray())
    assert whole.toarray().min() >= 0 and whole.toarray()[:, -2:].max() < 2
    assert simple_features(single).shape[1] == text_features(TextRows(single)).shape[1]
    assert dataset_info(pair.schema).task == "pair"
    assert reading_of(pair).compared is not None and reading_of(single).compared is None


def test_wrong_labels_of_pairs_are_found_whose_words_alone_say_nothing() -> None:
    rows, labels, wrong = related(1200, 3, 0.1)
    features, compared = text_features(rows), comparison_features(rows)
    assert compared is not None
    without, known = (
        committee_scores(features, labels, ["other", "same"], np.random.default_rng(1), apart=True, compared=numbers).doubt
        for numbers in (None, compared)
    )
    assert average_precision(wrong, without.score) < 0.3
    assert average_precision(wrong, known.score) > 0.9
    assert known.explained > without.explained + 0.3
    assert pa.array(known.suggested[wrong]).equals(pa.array((1 - labels[wrong]).astype(np.int32)))

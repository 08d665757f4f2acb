from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.models.base import sides_of
from cartograph.models.ngrams import (
    Counts,
    Vocabulary,
    Words,
    cross_features,
    features_of,
    mix,
)
from cartograph.schema import DatasetInfo
from tests.training_sets import table

words = st.sampled_from(["a", "b", "c", "d", "e", "f", "dog", "cat"])
texts = st.lists(words, max_size=15).map(" ".join)


def by_row(hashes: np.ndarray, rows: np.ndarray, n_rows: int) -> list[list[int]]:
    return [sorted(hashes[rows == row].tolist()) for row in range(n_rows)]


def test_hashes_never_change() -> None:
    assert Words(["Dog dog"], 9).hashes.tolist() == [11501171807684625465] * 2
    assert mix(np.array([1], np.uint64), np.uint64(2)).tolist() == [10905525725756348110]


@given(st.lists(texts, min_size=1, max_size=6))
def test_ngrams_are_the_words_and_their_neighbours(rows: list[str]) -> None:
    hashes, places = Words(rows, 99).ngrams()
    for found, row in zip(by_row(hashes, places, len(rows)), rows, strict=True):
        alone, _ = Words([row], 99).ngrams()
        assert found == sorted(alone.tolist())
        assert len(found) == max(2 * len(row.split()) - 1, 0)


def test_word_order_matters_to_neighbours_only() -> None:
    one, two = (set(Words([text], 9).ngrams()[0].tolist()) for text in ("a b c", "c b a"))
    assert len(one & two) == 3


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6))
@settings(deadline=None)
def test_cross_features_match_sets_of_words(pairs: list[tuple[str, str]]) -> None:
    hashes, rows = cross_features(Words([a for a, _ in pairs], 99), Words([b for _, b in pairs], 99))
    for found, (a, b) in zip(by_row(hashes, rows, len(pairs)), pairs, strict=True):
        first, second = set(a.split()), set(b.split())
        common, left, right = first & second, first - second, second - first
        assert len(found) == len(common) + len(left) + len(right) + len(left) * len(right)
        alone, _ = cross_features(Words([a], 99), Words([b], 99))
        assert found == sorted(alone.tolist())


def test_exchanged_words_differ_from_their_reverse() -> None:
    one, _ = cross_features(Words(["a dog"], 9), Words(["a cat"], 9))
    other, _ = cross_features(Words(["a cat"], 9), Words(["a dog"], 9))
    assert len(set(one.tolist()) & set(other.tolist())) == 1


def test_only_the_first_words_are_paired() -> None:
    left, right = " ".join(f"l{n}" for n in range(30)), " ".join(f"r{n}" for n in range(20))
    hashes, _ = cross_features(Words([left], 99), Words([right], 99))
    assert len(hashes) == 30 + 20 + 12 * 12


def test_long_texts_are_cut() -> None:
    assert len(Words(["a b c d"], 2).hashes) == 2


spread = st.integers(0, 9).map(lambda value: value * (2**64 // 10))


@given(st.lists(st.lists(spread, max_size=12), min_size=1, max_size=5), st.integers(1, 3), st.integers(1, 6))
def test_the_vocabulary_is_the_most_frequent(parts: list[list[int]], least: int, most: int) -> None:
    counts = Counts()
    for part in parts:
        counts.add(np.array(part, np.uint64))
    every = [value for part in parts for value in part]
    ranked = sorted({value for value in every if every.count(value) >= least}, key=lambda value: (-every.count(value), value))
    assert counts.vocabulary(least=least, most=most).hashes.tolist() == sorted(ranked[:most])


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3)), max_size=30), st.sets(st.integers(0, 20), max_size=8))
def test_ids_are_places_in_the_vocabulary(features: list[tuple[int, int]], known: set[int]) -> None:
    vocabulary = Vocabulary(np.array(sorted(known), np.uint64))
    ids = vocabulary.ids(np.array([value for value, _ in features], np.uint64), np.array([row for _, row in features], np.int64), 4)
    for row in range(4):
        expected = [sorted(known).index(value) for value, place in features if place == row and value in known]
        assert ids.values[ids.offsets[row] : ids.offsets[row + 1]].tolist() == expected


def test_a_single_text_has_no_second_side() -> None:
    info = DatasetInfo("train", "train", "single", ("text",), (), ("a", "b"))
    assert list(features_of(sides_of(table(info, {"text": ["one two"]}, [0]), info), 9)) == ["first"]

"""How alike two texts are, as features of a bag."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.models.base import Side
from cartograph.models.bow import _features
from cartograph.models.likeness import likeness_features


def by_row(pairs: list[tuple[str, str]], max_length: int = 99) -> list[set[int]]:
    hashes, rows = likeness_features([Side(first, second) for first, second in pairs], max_length)
    return [set(hashes[rows == row].tolist()) for row in range(len(pairs))]


def test_a_row_has_a_feature_for_every_twentieth_that_a_share_reaches() -> None:
    same, half, none, empty = by_row([("a b c d", "a b c d"), ("aa bb", "aa cc dd ee"), ("aa", "bb"), ("", "bb")])
    assert (len(same), len(none), len(empty)) == (80, 0, 0)
    # Of the words a half and a quarter; of the trigrams " aa" and "aa " two of four and two of eight.
    assert len(half) == 10 + 5 + 10 + 5
    assert half < same


def test_the_two_directions_and_words_and_trigrams_are_told_apart() -> None:
    one, other = by_row([("aa", "aa bb"), ("aa bb", "aa")])
    assert len(one) == len(other) == 60 and len(one & other) == 40
    words, trigrams = by_row([("abcde x", "abcdx x"), ("abcde", "abcdx")])
    assert len(words - trigrams) > len(trigrams - words) == 0


def test_pairs_do_not_depend_on_the_rows_beside_them_nor_on_repeated_words() -> None:
    pairs = [("the red ball", "a red ball"), ("one", "two"), ("x y", "y x x")]
    assert by_row(pairs) == [by_row([pair])[0] for pair in pairs]
    assert by_row([("a a a b", "a b")]) == by_row([("a b", "b a a")])


def test_long_texts_are_cut_and_single_texts_have_none() -> None:
    long = " ".join(f"w{number}" for number in range(50))
    assert by_row([(long, f"{long} more")], 5) == by_row([("w0 w1 w2 w3 w4", "w0 w1 w2 w3 w4")], 5)
    assert set(_features([Side("a dog", None)], 9, False)) == {"first"}


def test_a_bag_has_them_beside_what_two_texts_have_in_common() -> None:
    sides = [Side("a dog", "a cat"), Side("a dog", "a dog")]
    hashes, rows = likeness_features(sides, 9)
    for characters in (False, True):
        cross, of_rows = _features(sides, 9, characters)["cross"]
        assert set(zip(hashes.tolist(), rows.tolist(), strict=True)) <= set(zip(cross.tolist(), of_rows.tolist(), strict=True))
        assert len(np.unique(cross)) > len(np.unique(hashes))


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(f"a b w{number}", f"b w{number} c{number % 3}") for number in range(11)]
    whole = by_row(pairs)
    monkeypatch.setattr("cartograph.models.likeness._BLOCK", 4)
    assert by_row(pairs) == whole
    assert likeness_features([], 9)[0].size == 0

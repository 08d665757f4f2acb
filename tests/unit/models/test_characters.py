"""Runs of characters as features."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.models.base import Side
from cartograph.models.characters import Characters, features_with_characters
from cartograph.models.ngrams import features_of

texts = st.text(st.sampled_from("ab \n\u4f60\u0301\U0001f600\ud800"), max_size=12)


def runs(text: str) -> list[str]:
    words = [f" {word} " for word in text.lower().split()]
    return [word[start : start + size] for size in (2, 3, 4) for word in words for start in range(len(word) - size + 1)]


def test_hashes_never_change() -> None:
    assert Characters(["A"], 9).hashes.tolist() == [159905872722817667, 3429504319148894365, 8899959529157228800]


@given(st.lists(texts, min_size=1, max_size=6))
@settings(deadline=None)
def test_they_are_two_to_four_characters_of_a_word_with_its_ends(rows: list[str]) -> None:
    found = Characters(rows, 99)
    number: dict[str, int] = {}
    for row, text in enumerate(rows):
        own = found.hashes[found.offsets[row] : found.offsets[row + 1]].tolist()
        assert sorted(Counter(own).values()) == sorted(Counter(runs(text)).values())
        for run, value in zip(runs(text), own, strict=True):
            assert number.setdefault(run, value) == value
    assert len(set(number.values())) == len(number)


def test_long_texts_are_cut() -> None:
    assert Characters(["abcdef"], 3).hashes.tolist() == Characters(["abc"], 9).hashes.tolist()
    cut, whole = (features_with_characters([Side(text)], 2)["first"][0].tolist() for text in ("abcdefghij", "abcdefgh"))
    assert cut[1:] == whole[1:], "the word itself is read whole"


def test_they_stand_beside_what_is_read_of_words() -> None:
    sides = [Side("ab cd", "ab"), Side("x", "y z")]
    words, both = features_of(sides, 9), features_with_characters(sides, 9)
    assert list(both) == list(words) == ["first", "second", "cross"]
    for name, (hashes, rows) in words.items():
        assert both[name][0][: len(hashes)].tolist() == hashes.tolist() and both[name][1][: len(rows)].tolist() == rows.tolist()
        assert not set(both[name][0][len(hashes) :].tolist()) & set(hashes.tolist())
    assert len(both["second"][0]) == len(words["second"][0]) + len(runs("ab")) + len(runs("y z"))
    # What two texts have in common and what not, each run once; none stands beside another.
    shared = [len({*runs(side.first), *runs(side.second or "")}) for side in sides]
    assert len(both["cross"][0]) == len(words["cross"][0]) + sum(shared)


def test_no_text_has_none() -> None:
    assert [values.tolist() for values in features_with_characters([], 9)["first"]] == [[], []]
    assert Characters(["", " "], 9).offsets.tolist() == [0, 0, 0]

"""Rows of an evaluation set that are in the train set too."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from cartograph.ingest.leakage import NEAR, leakage, near_duplicates


def test_a_row_is_known_by_its_characters_by_its_words_or_nearly() -> None:
    train = pa.table({"text": ["The film was a great pleasure to watch.", "A dog sleeps in the sun.", "No one came."]})
    texts = [
        "A dog sleeps in the sun.",
        " a DOG  sleeps in the sun. ",
        "The film was a great pleasure to watch!!",
        "Nobody was there.",
        "No",
    ]
    found = leakage(train, pa.table({"text": texts}), ["text"])
    assert found.kinds.tolist() == [1, 2, 3, 0, 0]
    assert found.train_rows.tolist() == [1, 1, 0, -1, -1]
    assert found.counts == {"exact": 1, "normalised": 1, "near": 1}
    assert found.rows.tolist() == [True, True, True, False, False]


@pytest.mark.parametrize("text", ["", "a", "one", "four", "fifth"])
def test_texts_too_short_for_a_5_gram_are_near_nothing(text: str) -> None:
    assert near_duplicates(["A dog sleeps in the sun."], [text]).tolist() == [-1]


def test_all_fields_of_a_row_count_together() -> None:
    train = pa.table({"one": ["a b c d", "x"], "two": ["e f g h", "y"]})
    other = pa.table({"one": ["a b c d", "a b c d"], "two": ["e f g h", "y"]})
    assert leakage(train, other, ["one", "two"]).kinds.tolist() == [1, 0]


def test_empty_sets_and_images() -> None:
    empty, one = pa.table({"x": pa.array([], pa.string())}), pa.table({"x": ["a"]})
    assert leakage(empty, one, ["x"]).kinds.tolist() == [0]
    assert leakage(one, empty, ["x"]).kinds.tolist() == []
    assert leakage(one, pa.table({"x": ["A"]}), ["x"], only_equal=True).kinds.tolist() == [0]


def shingles(text: str) -> set[str]:
    return {text[place : place + 5] for place in range(len(text) - 4)}


@pytest.mark.slow
def test_near_duplicates_are_those_of_brute_force() -> None:
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefgh "))
    train = ["".join(rng.choice(letters, 60)) for _ in range(300)]
    other = []
    for text in train:
        changed = list(text)
        for place in rng.integers(0, 60, rng.integers(0, 5)):
            changed[place] = str(rng.choice(letters))
        other.append("".join(changed))
    similar = np.array([[len(shingles(a) & shingles(b)) / len(shingles(a) | shingles(b)) for b in train] for a in other])
    found = near_duplicates(train, other)
    assert np.array_equal(found >= 0, similar.max(axis=1) >= NEAR)
    assert np.array_equal(found[found >= 0], similar.argmax(axis=1)[found >= 0])


def test_of_train_texts_few_5_grams_are_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cartograph.ingest.leakage._CHUNK", 1_000)
    rng = np.random.default_rng(1)
    letters = np.array(list("abcdefghijklmnop "))
    train = ["".join(row) for row in rng.choice(letters, (12_000, 120)).tolist()]
    tracemalloc.start()
    found = near_duplicates(train, [*train[-500:], "short", ""])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.tolist() == [*range(11_500, 12_000), -1, -1]
    # All of them as a sparse matrix are 12,000 x 116 numbers of 8 bytes, and their hashes as many again.
    assert most < 11_000_000


def test_an_endless_number_of_equal_texts_is_no_endless_work() -> None:
    assert (near_duplicates(["the same text again and again"] * 20_000, ["the same text again and again!"] * 5_000) >= 0).all()

"""Labels that follow from a few words, as a list of keywords leaves them, and labels that do not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cartograph.features.rule_words import MOST_WORDS, rule_sentence, rule_words
from cartograph.schema import DatasetInfo, examples_schema
from tests.training_sets import small_set

FILLER = [f"word{number}" for number in range(400)]
PLENTY = 3000


def set_of(texts: list[str], labels: list[int], names: tuple[str, ...]) -> pa.Table:
    info, rows = DatasetInfo("train", "train", "single", ("text",), (), names), len(texts)
    columns = [[f"u{row:05}" for row in range(rows)], texts, pa.array(labels, pa.int32()), ["f.csv"] * rows, list(range(rows))]
    return pa.Table.from_arrays(
        [pa.array(column) if isinstance(column, list) else column for column in columns], schema=examples_schema(info)
    )


def texts_of(rng: np.random.Generator, rows: int = PLENTY) -> list[str]:
    """Texts of ten words each, frequent and rare ones."""
    rare = (1.0 / np.arange(1, 401)) / (1.0 / np.arange(1, 401)).sum()
    return [" ".join(rng.choice(FILLER, 10, p=rare)) for _ in range(rows)]


@pytest.mark.parametrize("keywords", [["word20"], ["word30", "word50", "word51", "word70", "word90", "word120"]])
def test_the_words_of_a_list_of_keywords_are_found(keywords: list[str]) -> None:
    texts = texts_of(np.random.default_rng(1))
    labels = [int(any(word in text.split() for word in keywords)) for text in texts]
    found = rule_words(set_of(texts, labels, ("other", "found")))
    assert found is not None and (found.label, found.classes) == (1, 1)
    assert set(found.words) == set(keywords)
    said = rule_sentence(found, ("other", "found"))
    assert said.startswith(f"The label `found` follows from {len(keywords)} word") and said.endswith("only reading rows shows them.")


def test_classes_in_turn_hide_no_rule_and_signs_are_none() -> None:
    fillers = texts_of(np.random.default_rng(4), 1000)
    turns = [f"{text} {'apple' if row % 2 else 'bread'}" for row, text in enumerate(fillers)]
    found = rule_words(set_of(turns, [row % 2 for row in range(1000)], ("no", "yes")))
    assert found is not None and found.words in (["apple"], ["bread"])
    asked = [f"{text}?" if row % 3 else text for row, text in enumerate(fillers)]
    assert rule_words(set_of(asked, [int(row % 3 > 0) for row in range(1000)], ("said", "asked"))) is None


def test_lists_of_several_classes_are_found_and_one_class_is_what_has_none() -> None:
    rng = np.random.default_rng(2)
    kinds = rng.choice(4, PLENTY, p=[0.6, 0.15, 0.15, 0.1])
    added = ("", " apple", " pear", " bread")
    texts = [f"{text}{added[kind]}" for text, kind in zip(texts_of(rng), kinds, strict=True)]
    labels = [(0, 1, 1, 2)[kind] for kind in kinds]
    found = rule_words(set_of(texts, labels, ("other", "a", "b")))
    assert found is not None and (found.label, set(found.words), found.classes) == (1, {"apple", "pear"}, 2)
    assert rule_sentence(found, ("other", "a", "b")).startswith("2 labels follow each from a few words, `a` from 2 words (")


@pytest.mark.parametrize("kind", ["a few exceptions", "many words", "weights", "chance", "few rows", "pictures"])
def test_other_labels_do_not_follow_from_a_few_words(kind: str) -> None:
    rng = np.random.default_rng(3)
    texts = texts_of(rng)
    if kind == "a few exceptions":  # A twentieth of the labels was given by somebody.
        labels = np.array([int("word20" in text.split()) for text in texts])
        labels = np.where(rng.random(len(labels)) < 0.05, 1 - labels, labels)
    elif kind == "many words":
        keywords = {f"word{number}" for number in range(60, 60 + 3 * MOST_WORDS)}
        labels = np.array([int(bool(keywords & set(text.split()))) for text in texts])
    elif kind == "weights":
        weight = dict(zip(FILLER, rng.normal(size=400), strict=True))
        labels = np.array([int(sum(weight[word] for word in text.split()) > 0) for text in texts])
    else:
        labels = rng.integers(0, 2, len(texts))
    table = set_of(texts, labels.tolist(), ("no", "yes"))
    if kind == "few rows":
        texts = texts[:150]
        table = set_of(texts, [int("word1" in text.split()) for text in texts], ("no", "yes"))
    assert rule_words(small_set("image") if kind == "pictures" else table) is None
    assert rule_sentence(None, ("no", "yes")) == ""

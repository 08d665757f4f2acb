"""Texts among the columns of a table of features."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa

from cartograph.features.column_texts import NUMBERS, ColumnTexts, column_texts, texts_of_columns
from cartograph.features.simple import simple_features
from cartograph.features.tables import TableEncoder, dense_columns, sparse_columns, tree_columns
from cartograph.schema import FEATURES, VALUES, Feature
from tests.training_sets import info_of, table

WORDS = ("red wine", "white wine", "a cup of tea", "cold milk", "green tea")


def drinks(texts: list[str | None], more: list[str] | None = None) -> pa.Table:
    """Rows of a number and a text, or of two texts."""
    second = {"remark": more} if more else {}
    values = [{"price": float(row), "drink": text} | {name: own[row] for name, own in second.items()} for row, text in enumerate(texts)]
    features = (Feature("price", "number"), Feature("drink", "text"), *(Feature(name, "text") for name in second))
    info = replace(info_of("table"), features=features)
    return table(info, {FEATURES: ["x"] * len(texts), VALUES: values}, [row % 2 for row in range(len(texts))])


def test_texts_are_numbers_by_the_train_sets_words_and_survive_json() -> None:
    train = drinks([WORDS[row % 5] for row in range(40)])
    fitted = ColumnTexts.fit(train, "drink")
    assert ColumnTexts.from_json(json.loads(json.dumps(asdict(fitted)))) == fitted
    numbers = fitted.numbers(train)
    assert numbers.shape[1] <= min(NUMBERS, len(fitted.words) - 1) and np.isclose((numbers**2).sum(axis=1).mean(), 1.0, atol=1e-5)
    other = fitted.numbers(drinks([None, "red wine", "wine red", "never seen"]))
    assert not other[0].any() and not other[3].any() and np.allclose(other[1], other[2])
    assert np.allclose(other[1], numbers[0]), "the rows beside it do not matter"


def test_texts_without_blanks_are_read_by_their_characters_and_those_without_a_word_as_nothing() -> None:
    names = [f"Kowal{chr(97 + row % 26)}{chr(97 + row // 26)}ski" for row in range(60)]
    fitted = ColumnTexts.fit(drinks(list(names)), "drink")
    assert fitted.characters and fitted.numbers(drinks(["Kowalaaska", None])).any(axis=1).tolist() == [True, False]
    nothing = drinks([None] * 5)
    assert ColumnTexts.fit(nothing, "drink").numbers(nothing).shape == (5, 0)
    assert texts_of_columns(nothing) == [] and simple_features(nothing).shape == sparse_columns(nothing).shape


def test_a_row_is_a_text_or_one_of_each_column() -> None:
    one, two = drinks(["red wine", None]), drinks(["red wine", None], ["so good", "too cold"])
    assert column_texts(one, "drink") == ["red wine", ""]
    assert texts_of_columns(one, one) == ["red wine", ""] * 2
    assert texts_of_columns(two) == [("red wine", "so good"), ("", "too cold")]


def test_models_of_numbers_read_texts_and_those_that_have_words_beside_them_do_not() -> None:
    train = drinks([WORDS[row % 5] for row in range(40)])
    encoder = TableEncoder.fit(train)
    assert TableEncoder.from_json(json.loads(json.dumps(encoder.to_json()))) == encoder
    width = len(encoder.texts[0].directions)
    assert [number.name for number in encoder.numbers] == ["price", *(f"drink ({place})" for place in range(1, width + 1))]
    assert encoder.scaled(train).shape == (40, 1 + width) and not encoder.categories
    assert tree_columns(train).values.shape == dense_columns({"train": train}, texts=False)["train"].shape == (40, 1)
    assert dense_columns({"train": train})["train"].shape == (40, 1 + width)
    words = simple_features(train)
    assert words.shape[1] > sparse_columns(train).shape[1] and words.shape[0] == 40

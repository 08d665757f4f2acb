from __future__ import annotations

from cartograph.bias.guess import guess
from cartograph.bias.partial import WHOLE, partial_inputs, with_input
from cartograph.schema import dataset_info
from tests.training_sets import info_of, small_set


def test_each_task_has_its_partial_inputs() -> None:
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


def test_the_side_without_the_word_predicts_nothing() -> None:
    train, test = small_set("pair", rows=300), small_set("pair", rows=150, seed=9)
    right = {}
    for name in ("premise alone", "hypothesis alone"):
        predicted = guess("linear", with_input(train, name), with_input(test, name), smoothing=1.0)
        right[name] = (predicted.argmax(axis=1) == test["label"].to_numpy()).mean()
    assert right["hypothesis alone"] > 0.95 and right["premise alone"] < 0.65

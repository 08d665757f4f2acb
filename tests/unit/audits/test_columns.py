from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.audits.columns import column_drift, column_summaries, drift_sentence
from cartograph.schema import FEATURES, VALUES, DatasetInfo, Feature, examples_schema

KINDS = {"size": "number", "colour": "category", "seen": "date", "said": "text"}


def table(rows: int, seed: int, **changes: Any) -> pa.Table:
    rng = np.random.default_rng(seed)
    values = {
        "size": rng.normal(size=rows).astype(object),
        "colour": rng.choice(["red", "blue", "green"], rows, p=[0.5, 0.3, 0.2]).astype(object),
        "seen": np.array([datetime(2024, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 300, rows)], object),
    }
    values |= {name: change(values.get(name), rng) for name, change in changes.items()}
    features = tuple(Feature(name, KINDS.get(name, "number")) for name in values if values[name] is not None)
    records = [{feature.name: values[feature.name][row] for feature in features} for row in range(rows)]
    info = DatasetInfo("train", "train", "table", (FEATURES,), (), ("no", "yes"), features=features)
    schema = examples_schema(info)
    return pa.table({VALUES: records}, schema=pa.schema([schema.field(VALUES)], metadata=schema.metadata))


def drift(before: pa.Table, now: pa.Table) -> dict[str, Any]:
    old, new = (json.loads(json.dumps(column_summaries(side), sort_keys=True)) for side in (before, now))
    return {column.name: column for column in column_drift(old, new)}


def missing(share: float) -> Any:
    return lambda values, rng: np.where(rng.random(len(values)) < share, None, values)


def test_columns_that_are_drawn_alike_did_not_drift() -> None:
    found = [column for seed in range(40) for column in drift(table(60, seed), table(50, 100 + seed)).values() if column.why]
    assert len(found) <= 2, "one comparison in a hundred"
    same = drift(table(500, 1), table(500, 1))
    assert all(column.distance == 0 and not column.why for column in same.values())
    assert drift_sentence(list(same.values())) == "No column drifted."


def test_a_column_that_drifted_is_named_and_comes_first() -> None:
    found = drift(table(400, 1), table(400, 2, size=lambda values, rng: values + 1.0))
    assert [name for name, column in found.items() if column.why] == ["size"] == list(found)[:1]
    # Two normal distributions one standard deviation apart: 2 Φ(1/2) - 1.
    assert abs(found["size"].distance - 0.383) < 0.06
    before, now = found["size"].usual
    assert abs(float(now) - float(before) - 1) < 0.2
    assert drift_sentence(list(found.values())) == f"1 of 3 columns drifted: `size` ({before} in the middle, now {now})."


def test_a_distance_that_few_rows_have_by_chance_is_none() -> None:
    few, many = (drift(table(rows, 1), table(rows, 2, size=lambda values, rng: values + 0.4)) for rows in (12, 2000))
    assert few["size"].distance >= 0.1 and not few["size"].why
    assert many["size"].why
    slight = drift(table(20_000, 1), table(20_000, 2, size=lambda values, rng: values + 0.1))["size"]
    assert slight.distance < 0.1 and not slight.why, "certain, but small"


def test_missing_values_and_new_categories_drift() -> None:
    added = lambda values, rng: np.where(rng.random(len(values)) < 0.04, "violet", values)  # noqa: E731
    found = drift(table(600, 1, size=missing(0.02)), table(600, 2, size=missing(0.2), colour=added))
    assert "missing" in found["size"].why[0] and found["size"].missing[1] > 0.15
    assert found["colour"].why == (found["colour"].why[0],) and "categories that were not there" in found["colour"].why[0]
    assert 0.02 < found["colour"].unseen < 0.06


def test_rare_categories_that_come_and_go_are_chance() -> None:
    cities = lambda values, rng: np.array([f"city {number}" for number in rng.zipf(1.5, len(values)) % 3000], object)  # noqa: E731
    found = drift(table(800, 1, colour=cities), table(800, 2, colour=cities))
    assert found["colour"].unseen > 0.05 and not found["colour"].why


def test_another_share_of_categories_is_a_distance() -> None:
    swapped = lambda values, rng: rng.choice(["red", "blue", "green"], len(values), p=[0.2, 0.3, 0.5]).astype(object)  # noqa: E731
    found = drift(table(3000, 1), table(3000, 2, colour=swapped))["colour"]
    assert abs(found.distance - 0.3) < 0.05 and found.why == ("red most often, now green",)


def test_columns_that_are_new_gone_or_of_another_kind_are_said_so() -> None:
    before, now = table(50, 1), table(50, 2, seen=lambda values, rng: None, weight=lambda values, rng: np.ones(50, object))
    found = drift(before, now)
    assert {name: column.why for name, column in found.items() if column.why} == {"seen": ("gone",), "weight": ("new",)}
    old, new = column_summaries(before), [{**one, "kind": "category", "counts": {"a": 50}, "rest": 0} for one in column_summaries(before)]
    assert {column.name: column.why for column in column_drift(old, new)}["size"] == ("categories, numbers before",)


def test_of_many_columns_some_are_named() -> None:
    wide = {f"c{place}": (lambda values, rng: rng.normal(size=300)) for place in range(8)}
    far = {f"c{place}": (lambda values, rng: rng.normal(size=300) + 3) for place in range(8)}
    sentence = drift_sentence(list(drift(table(300, 1, **wide), table(300, 2, **far)).values()), lambda name: name.upper())
    assert sentence.startswith("8 of 11 columns drifted: C") and sentence.endswith(", and 3 more.")


def test_a_summary_is_small_and_exact_of_few_values() -> None:
    [size, *_] = column_summaries(table(5000, 1))
    assert len(size["values"]) == 200 and size["shares"][-1] == 1.0
    [whole, *_] = column_summaries(table(100, 1, size=lambda values, rng: np.array([1.0] * 25 + [2.0] * 75, object)))
    assert whole["values"] == [1.0, 2.0] and whole["shares"] == [0.25, 1.0]
    assert column_drift(column_summaries(table(9, 1)), ()) == ()


def test_texts_drift_by_their_number_of_words() -> None:
    def said(words: int) -> Any:
        return lambda _, rng: np.array([" ".join(["word"] * int(number)) for number in rng.integers(1, words, 400)], object)

    same = drift(table(400, 1, said=said(9)), table(400, 2, said=said(9)))["said"]
    assert same.kind == "text" and not same.why
    longer = drift(table(400, 1, said=said(9)), table(400, 2, said=said(30)))["said"]
    assert longer.usual[0].endswith(" words") and longer.why == (f"{longer.usual[0]} in the middle, now {longer.usual[1]}",)

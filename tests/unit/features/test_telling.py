"""Columns that tell the label by themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from cartograph.features.telling import telling_columns, telling_sentence
from cartograph.schema import FEATURES, DatasetInfo, Feature
from tests.training_sets import info_of, small_table, table

ROWS = 120
LABELS = np.arange(ROWS) % 3


def made(kind: str, values: list[object], labels: np.ndarray = LABELS) -> pa.Table:
    info = replace(info_of("table"), labels=("a", "b", "c"), features=(Feature("column", kind),))  # type: ignore[arg-type]
    assert isinstance(info, DatasetInfo)
    return table(info, {FEATURES: ["x"] * len(labels), "values": [{"column": value} for value in values]}, labels.tolist())


@pytest.mark.parametrize(
    ("kind", "values", "tells"),
    [
        ("category", [f"grade {label}" for label in LABELS], True),
        ("category", [f"grade {label} {row % 5}" for row, label in enumerate(LABELS)], True),
        ("category", [None if label == 1 else f"grade {label}" for label in LABELS], True),
        ("category", [f"row {row}" for row in range(ROWS)], False),
        ("category", [f"grade {min(label, 1)}" for label in LABELS], False),
        ("category", ["constant"] * ROWS, False),
        ("number", [float(label) for label in LABELS], True),
        ("number", [label + row / 1000 for row, label in enumerate(LABELS)], True),
        ("number", [float(row) for row in range(ROWS)], False),
        ("number", [float(row % 2) for row in range(ROWS)], False),
        ("number", [None] * ROWS, False),
    ],
)
def test_what_tells_the_label(kind: str, values: list[object], tells: bool) -> None:
    assert telling_columns(made(kind, values)) == (["column"] if tells else [])


def test_a_row_in_a_thousand_and_one_more_may_differ() -> None:
    labels = LABELS.copy()
    labels[0] = 1
    values: list[object] = [f"grade {label}" for label in LABELS]
    assert telling_columns(made("category", values, labels)) == ["column"]
    labels[3] = 2
    assert telling_columns(made("category", values, labels)) == []


def test_features_that_help_are_not_taken_for_labels_and_few_rows_say_nothing() -> None:
    assert telling_columns(small_table(400)) == []
    few: list[object] = [f"grade {label}" for label in LABELS[:40]]
    assert telling_columns(made("category", few, LABELS[:40])) == []


def test_the_sentence_names_three_and_counts_the_rest() -> None:
    assert telling_sentence([]) == ""
    assert telling_sentence(list("abcde")).startswith("`a`, `b` and `c` (and 2 more) alone each predict the label of (nearly) every row:")

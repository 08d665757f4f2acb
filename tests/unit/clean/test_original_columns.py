"""Cleaned rows in the columns of their file, where the label is not one of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cartograph.clean.original_columns import kept_rows
from cartograph.ingest.canonical import RawSet, ingest
from cartograph.ingest.columns import Columns, File
from cartograph.ingest.labels import Labelling
from cartograph.read.source import Batch


def test_a_majority_stands_in_a_column_of_its_own_beside_the_votes() -> None:
    table = pa.table(
        {"text": ["one", "two", "three", "four"], "a": ["x", "y", "x", "y"], "b": ["x", "y", "y", "x"], "c": ["y", "y", "x", ""]}
    )
    file = File("rows.csv", Batch(table, pa.array([1, 2, 3, 4], pa.int64())))
    columns = Columns((("text",),), (), ("a+b+c",))
    [train] = ingest([RawSet("train", "train", (file,))], columns, Labelling())
    assert train.reasons == {"no majority label": 1}
    kept = np.array([True, False, True])
    [rows] = kept_rows([file], columns, Labelling(), train.examples, kept, np.array([1, 1, 0], np.int32))
    assert not rows.own_column
    assert rows.column == "label"
    assert rows.table().select(["text", "c", "label"]).to_pylist() == [
        {"text": "one", "c": "y", "label": "y"},
        {"text": "three", "c": "x", "label": "x"},
    ]

"""Records that could not be used, as a table."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from cartograph.ingest.columns import File
from cartograph.ingest.quarantine import quarantined
from cartograph.read.source import Batch, Rejected
from cartograph.schema import QUARANTINE


def test_records_stand_in_the_order_of_the_files_with_what_is_wrong_with_them() -> None:
    one = pa.table({"said": ["a", "", "c"], "more": ["x", "y", "z"]})
    rejected = (Rejected(3, "two fields", "1 field", "raw"),)
    batches = [Batch(one, pa.array([1, 2, 4], pa.int64()), rejected), Batch(one, pa.array([1, 2, 3], pa.int64()))]
    files = [File("second.csv", batches[0]), File("first.csv", batches[1])]
    selected = pa.table({"text": ["a", "", "c"] * 2, "row": pa.array([1, 2, 4, 1, 2, 3], pa.int64())})
    found = quarantined("train", files, selected, np.array([0, 1, 0, 0, 0, 2]), [("empty text", "text"), ("unknown", "text")])
    assert found.schema.equals(QUARANTINE)
    rows = [(row["file"], row["row"], row["column"], row["value"], row["reason"]) for row in found.to_pylist()]
    assert rows == [
        ("second.csv", 2, "text", "", "empty text"),
        ("second.csv", 3, None, "1 field", "two fields"),
        ("first.csv", 3, "text", "c", "unknown"),
    ]
    assert json.loads(found["record"][2].as_py()) == {"said": "c", "more": "z"}

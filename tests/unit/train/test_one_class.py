from __future__ import annotations

import pyarrow as pa

from cartograph.schema import COORDINATES
from cartograph.train.one_class import certain_map, nothing_learnt


def test_one_class_is_named_for_certain_and_its_training_has_failed() -> None:
    found = certain_map(pa.chunked_array([["a", "b"]]))
    assert found.schema == COORDINATES
    assert [list(row.values())[1:] for row in found.to_pylist()] == [[1.0, 0.0, 1.0]] * 2
    training, metrics = nothing_learnt("spam", 1200, "the label column")
    assert training["learning"]["state"] == "one class" and training["model"] is None
    assert "all 1,200 rows have the label `spam`" in training["learning"]["sentence"]
    assert (metrics["rows"], metrics["train.failed"], metrics["train.learnt"]) == (1200, 1, 0)

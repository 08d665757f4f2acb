"""The noise experiment in numbers."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.suspects.detector import choose_detector
from cartograph.suspects.listing import choose_suggestions, suspects_table
from cartograph.suspects.record import noise_metrics, noise_record
from tests.label_errors import planted_set


def test_the_record_has_the_detector_and_the_confidence_at_its_threshold() -> None:
    original, noised, flips, _ = planted_set()
    choice = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3), asked="confidence")
    suggestions = choose_suggestions(original, noised, flips)
    uids = np.array([f"u{row:03d}" for row in range(600)], dtype=object)
    table = suspects_table(uids, choice.chosen, original, suggestions.probabilities, threshold=0.7)
    record = noise_record(
        flips, choice, suggestions, table, original.committee.doubt, asked={"detector": "confidence", "threshold": 0.7}, assumption=None
    )
    flagged = table["flagged"].to_numpy(zero_copy_only=False)
    assert record["suspects"] == flagged.sum()
    np.testing.assert_array_equal(flagged, original.measures.confidence <= record["confidence_below"])
    assert (record["detector"], record["flips"], record["rows"]) == ("confidence", 30, 600)
    metrics = noise_metrics(record)
    assert all(isinstance(value, int | float) for value in metrics.values())
    assert metrics["suspects.share"] == pytest.approx(flagged.mean(), abs=1e-6)
    assert {"f1.confidence", "f1.variability", "f1.committee", "average_precision.measures", "suggestions.in-sample"} <= set(metrics)
    assert metrics["assumed"] == 0 and "indistinct" not in record
    assert record["wrong"]["pairs"] and all(pair["low"] <= pair["expected"] <= pair["high"] for pair in record["wrong"]["pairs"])
    assert metrics["wrong.low"] <= metrics["wrong.expected"] <= metrics["wrong.high"] and record["calibrated"] is False
    ends = noise_metrics(record | {"wrong": None, "between": {"low": 0.5, "high": 30.0, "most": 90.0}})
    assert (ends["wrong.low"], ends["wrong.high"], ends["wrong.most"]) == (0.5, 30.0, 90.0) and "wrong.expected" not in ends
    assert not any(name.startswith("wrong.") for name in noise_metrics(record | {"wrong": None, "between": None}))

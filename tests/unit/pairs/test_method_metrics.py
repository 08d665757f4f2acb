from __future__ import annotations

import numpy as np
import pytest

from cartograph.pairs.comparison import RoundResult, summary
from cartograph.pairs.method_metrics import corrected_metrics, method_metrics

NUMBERS = {"labels": 10.0, "positive": 4.0, "test.precision_at_recall_20": 0.5}


def result(method: str, number: int, precision: float, labels: float = 10.0, **more: float) -> RoundResult:
    numbers = NUMBERS | {"labels": labels, "test.average_precision": precision} | {f"test.{name}": value for name, value in more.items()}
    return RoundResult(method, 1, number, numbers, np.tile([precision, 0.5], (20, 1)))


def test_the_last_round_counts_and_labels_are_those_that_reach_static_retrieval() -> None:
    rounds = [result("static-retrieval", 1, 0.2), result("static-retrieval", 2, 0.3, 25.0)]
    rounds += [
        result("uncertainty", 1, 0.35),
        result("uncertainty", 2, 0.6, 25.0),
        result("random", 1, 0.1),
        result("random", 2, 0.1, 25.0),
    ]
    metrics = method_metrics(summary(rounds, 0), [one for one in rounds if one.round == 2], 0)
    assert metrics["uncertainty.average_precision"] == pytest.approx(0.6)
    assert metrics["uncertainty.labels"] == 25
    assert {name: value for name, value in metrics.items() if name.endswith("labels_to_static")} == {
        "static-retrieval.labels_to_static": 25,
        "uncertainty.labels_to_static": 10,
    }


def test_judgements_of_false_positives_correct_the_precision() -> None:
    counts = {"true_positives": 10.0, "false_positives.near": 10.0, "false_positives.random": 0.0}
    last = [result("uncertainty", 1, 0.5, **counts), result("random", 1, 0.5, **counts)]
    asked = {"uncertainty": {"near": [1, 2], "random": []}, "random": {"near": [7], "random": []}}
    metrics = corrected_metrics(asked, {1: 1, 2: 0}, last)
    assert metrics["uncertainty.judged_near"] == 2 and metrics["uncertainty.real_near"] == 0.5
    low, value, high = (metrics[f"uncertainty.precision_at_recall_20.corrected{end}"] for end in (".low", "", ".high"))
    assert low < value < high and value == pytest.approx(0.75)  # ten found, five more by people, of twenty
    assert metrics["uncertainty.precision_at_recall_20.published"] == pytest.approx(2 / 3)
    assert not any(name.startswith("random.") for name in metrics)
    assert corrected_metrics(asked, {}, last) == {}

from __future__ import annotations

import numpy as np
import pytest

from cartograph.pairs.comparison import MEASURES, RoundResult, differences, summary


def test_an_interval_of_a_share_stays_one_where_seeds_differ_much() -> None:
    draws = np.random.default_rng(0).uniform(0.0, 0.2, (100, 2))
    numbers = [{"test.average_precision": share, "test.precision_at_recall_20": share, "labels": 5, "positive": 1} for share in (0.0, 0.6)]
    arms = [RoundResult("random", seed, 1, number, draws) for seed, number in enumerate(numbers)]
    for row in summary(arms, 0).to_pylist():
        assert row["mean"] == pytest.approx(0.3)
        assert (row["low"], row["high"]) == (0.0, 1.0)


def test_methods_are_compared_seed_by_seed_and_draw_by_draw() -> None:
    draws = [np.random.default_rng(seed).uniform(0.2, 0.6, (100, 2)) for seed in (1, 2, 3)]

    def arms(method: str, more: float, number: int = 2) -> list[RoundResult]:
        numbers = [{f"test.{name}": 0.3 + seed / 10 + more for name in MEASURES} for seed in range(3)]
        return [RoundResult(method, seed, number, numbers[seed], draws[seed] + more) for seed in range(3)]

    table = differences([*arms("random", 0.9, number=1), *arms("random", 0.0), *arms("stated", 0.05), *arms("uncertainty", 0.15)], 0)
    assert [(row["method"], row["against"]) for row in table.to_pylist()[::2]] == [("uncertainty", "random"), ("uncertainty", "stated")]
    for row, wanted in zip(table.to_pylist(), (0.15, 0.15, 0.1, 0.1), strict=True):
        assert [row["difference"], row["low"], row["high"]] == pytest.approx([wanted] * 3)

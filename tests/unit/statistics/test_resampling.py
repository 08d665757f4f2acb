from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from cartograph.statistics.metrics import accuracy, macro_f1
from cartograph.statistics.resampling import METRICS, interval, paired_test, resampled_scores, scores


def test_p_is_what_the_rounds_say() -> None:
    rng = np.random.default_rng(1)
    rounds = rng.normal(1.0, 1.0, (20_000, 1))
    found = paired_test(np.array([1.0]), rounds, rng)
    assert found["p"] == pytest.approx(2 * 0.1587, abs=0.02)
    assert found["low"] == pytest.approx(1 - 1.96, abs=0.05)
    assert paired_test(np.array([0.0]), np.zeros((99, 1)), rng)["p"] == 1.0
    assert paired_test(np.array([1.0]), np.ones((99, 1)), rng)["p"] == pytest.approx(2 / 100)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 5))
def test_scores_are_those_of_the_metrics(seed: int, rows: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    gold, predicted = rng.integers(0, classes, rows), rng.integers(0, classes, (3, rows))
    draw = rng.integers(0, rows, rows)
    weights = np.stack([np.ones(rows), np.bincount(draw, minlength=rows)], axis=1).astype(np.float32)
    found = scores(gold, predicted, weights, METRICS)
    for model, labels in enumerate(predicted):
        logits, occur = np.eye(classes)[labels], np.union1d(gold, labels)
        of_class = dict(zip(occur, f1_score(gold, labels, labels=occur, average=None, zero_division=0.0), strict=True))
        assert found["macro_f1"][0, model] == pytest.approx(macro_f1(logits, gold), abs=1e-12)
        drawn = np.union1d(gold[draw], labels[draw])
        of_class |= dict(zip(drawn, f1_score(gold[draw], labels[draw], labels=drawn, average=None, zero_division=0.0), strict=True))
        assert found["macro_f1"][1, model] == pytest.approx(np.mean(list(of_class.values())), abs=1e-12)
        for weighting, index in enumerate((np.arange(rows), draw)):
            assert found["accuracy"][weighting, model] == accuracy(logits[index], gold[index])


def test_a_rare_class_that_is_never_recognised_is_in_the_interval_too() -> None:
    gold = np.append(np.arange(200) % 4, 4)
    predicted = np.append(np.where(np.arange(200) % 10, np.arange(200) % 4, 0), 0)[None]
    value = scores(gold, predicted, np.ones((201, 1), np.float32), ["macro_f1"])["macro_f1"][0, 0]
    rounds = resampled_scores(gold, predicted, ["macro_f1"], 400, np.random.default_rng(0))["macro_f1"][:, 0]
    assert np.quantile(rounds, 0.025) < value < np.quantile(rounds, 0.975) < value + 0.08


def test_the_interval_covers_seeds_as_well_as_rows() -> None:
    """Rows that no draw can change, seeds that differ: what is left is the t interval of a mean over seeds."""
    of_seeds = np.array([0.1, 0.4, 0.2, 0.5, 0.3, 0.6, 0.35, 0.15])
    rng = np.random.default_rng(0)
    found = interval(of_seeds, np.repeat(of_seeds[None, :], 40_000, axis=0), rng)
    t_of_7 = 2.364624
    assert (found["high"] - found["low"]) / (2 * t_of_7) == pytest.approx(of_seeds.std(ddof=1) / math.sqrt(8), rel=0.03)
    assert interval(of_seeds[:1], np.full((500, 1), 0.25), rng) == {"low": 0.25, "high": 0.25}


def test_blocks_of_draws_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    gold = np.arange(50) % 3
    predicted = np.stack([np.roll(gold, 1), gold])
    monkeypatch.setattr("cartograph.statistics.resampling._CELLS", 1)
    one_at_a_time = resampled_scores(gold, predicted, METRICS, 400, np.random.default_rng(0))
    monkeypatch.undo()
    at_once = resampled_scores(gold, predicted, METRICS, 400, np.random.default_rng(1))
    for metric in METRICS:
        assert one_at_a_time[metric].shape == at_once[metric].shape == (400, 2)
        assert one_at_a_time[metric][:, 0].mean() == pytest.approx(at_once[metric][:, 0].mean(), abs=0.02)

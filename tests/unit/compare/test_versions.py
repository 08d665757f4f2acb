from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from cartograph.compare import markdown as comparison_text
from cartograph.compare.markdown import differences_line, markdown
from cartograph.compare.versions import DIFFERENCES, SUMMARY, EvaluationSet, compare_versions
from cartograph.schema import EVALUATION
from cartograph.statistics.resampling import METRICS, resampled_scores, scores

RUNS = [(subset, seed) for subset in ("original", "cleaned", "random") for seed in (1, 2, 3)]
NONE_FAILED = dict.fromkeys(RUNS, False)


def noisy(rng: np.random.Generator, gold: np.ndarray, right: float, classes: int = 3) -> np.ndarray:
    """Predictions of which about this share is right."""
    wrong = (gold + rng.integers(1, classes, len(gold))) % classes
    return np.where(rng.random(len(gold)) < right, gold, wrong)


def evaluation_set(rows: int = 400, better: float = 0.0, name: str = "dev", seed: int = 0) -> EvaluationSet:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 3, rows)
    predicted = {run: noisy(rng, gold, 0.6 + better * (run[0] == "cleaned")) for run in RUNS}
    return EvaluationSet(name, "ood", gold, predicted)


def rows_of(table: pa.Table, **wanted: object) -> list[dict[str, object]]:
    return [row for row in table.to_pylist() if all(row[key] == value for key, value in wanted.items())]


def test_numbers_have_a_name_each_and_unknown_ones_are_left_out() -> None:
    gold = np.array([0, 0, 1])
    predicted = {("original", 1): np.array([0, 1, 1]), ("cleaned", 1): np.array([0, 0, 1])}
    sets = [EvaluationSet("dev", "id", gold, predicted)]
    found = compare_versions(sets, dict.fromkeys(predicted, False), ("accuracy",), resamples=200, seed=0).numbers()
    assert found["original.dev.accuracy.mean"] == 2 / 3
    assert found["cleaned_minus_original.dev.accuracy"] == pytest.approx(1 / 3)
    assert found["cleaned_minus_original.dev.accuracy.low"] <= 1 / 3 <= found["cleaned_minus_original.dev.accuracy.high"]
    assert "original.dev.accuracy.sd" not in found, "one seed has no spread"


def test_the_numbers_of_three_rows_are_as_worked_out_by_hand() -> None:
    gold = np.array([0, 0, 1])
    predicted = {("original", 1): np.array([0, 1, 1]), ("cleaned", 1): np.array([0, 0, 1])}
    found = compare_versions([EvaluationSet("dev", "id", gold, predicted)], dict.fromkeys(predicted, False), METRICS, resamples=200, seed=0)
    assert (found.evaluation.schema, found.summary.schema, found.differences.schema) == (EVALUATION, SUMMARY, DIFFERENCES)
    values = {(row["subset"], row["metric"]): row["value"] for row in found.evaluation.to_pylist()}
    assert values == {
        ("original", "accuracy"): 2 / 3,
        ("original", "macro_f1"): 2 / 3,
        ("cleaned", "accuracy"): 1.0,
        ("cleaned", "macro_f1"): 1.0,
    }
    [difference] = rows_of(found.differences, metric="accuracy")
    assert (difference["subset"], difference["against"], difference["seeds"]) == ("cleaned", "original", 1)
    assert difference["difference"] == pytest.approx(1 / 3)
    assert (difference["low"], difference["high"]) == (0, 1), "in 200 draws the middle row comes never, and always"
    [one_seed] = rows_of(found.summary, subset="original", metric="accuracy")
    assert one_seed["sd"] is None


def test_the_interval_of_one_seed_has_the_closed_form_error() -> None:
    """The difference of two accuracies on the same rows is a mean of n numbers in {-1, 0, 1}: s.e. = s.d. / sqrt(n)."""
    rng = np.random.default_rng(3)
    gold = rng.integers(0, 3, 2000)
    one, other = noisy(rng, gold, 0.75), noisy(rng, gold, 0.6)
    predicted = {("cleaned", 7): one, ("original", 7): other}
    found = compare_versions(
        [EvaluationSet("dev", "id", gold, predicted)], dict.fromkeys(predicted, False), ("accuracy",), resamples=4000, seed=1
    )
    [row] = found.differences.to_pylist()
    each = (one == gold).astype(float) - (other == gold)
    error = each.std() / math.sqrt(len(each))
    assert row["difference"] == pytest.approx(each.mean())
    assert (row["high"] - row["low"]) / (2 * 1.959964) == pytest.approx(error, rel=0.05)
    assert (row["high"] + row["low"]) / 2 == pytest.approx(each.mean(), abs=0.15 * error)


def test_pairing_makes_the_interval_narrow_where_models_err_on_the_same_rows() -> None:
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 3, 1000)
    original = noisy(rng, gold, 0.5)
    cleaned = np.where(rng.random(1000) < 0.03, gold, original)
    predicted = {("cleaned", 1): cleaned, ("original", 1): original}
    found = compare_versions(
        [EvaluationSet("dev", "id", gold, predicted)], dict.fromkeys(predicted, False), ("accuracy",), resamples=1000, seed=1
    )
    [row] = found.differences.to_pylist()
    [alone] = rows_of(found.summary, subset="cleaned")
    assert row["low"] > 0
    assert row["high"] - row["low"] < (alone["high"] - alone["low"]) / 3


def test_seeds_that_differ_by_chance_alone_add_nothing() -> None:
    """Every seed errs on rows of its own: the mean over S seeds of n rows is one of S n independent numbers."""
    rng = np.random.default_rng(2)
    gold = rng.integers(0, 3, 1500)
    predicted = {("original", seed): noisy(rng, gold, 0.6) for seed in range(8)}
    found = compare_versions(
        [EvaluationSet("dev", "id", gold, predicted)], dict.fromkeys(predicted, False), ("accuracy",), resamples=2000, seed=1
    )
    [row] = found.summary.to_pylist()
    expected = math.sqrt(0.6 * 0.4 / (8 * 1500))
    assert (row["high"] - row["low"]) / (2 * 1.959964) == pytest.approx(expected, rel=0.25)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """True difference 0.1 between two recipes whose seeds differ too: 95 % intervals miss it in about 5 % of 200 evaluations."""
    rng = np.random.default_rng(11)
    missed = 0
    for trial in range(200):
        gold = rng.integers(0, 2, 300)
        predicted = {}
        for seed in range(6):
            for subset, right in (("cleaned", 0.7), ("original", 0.6)):
                predicted[subset, seed] = noisy(rng, gold, right + rng.normal(scale=0.03), classes=2)
        found = compare_versions(
            [EvaluationSet("dev", "id", gold, predicted)], dict.fromkeys(predicted, False), ("accuracy",), resamples=200, seed=trial
        )
        [row] = found.differences.to_pylist()
        missed += not row["low"] <= 0.1 <= row["high"]
    assert 2 <= missed <= 24


@pytest.mark.parametrize("seeds", [2, 3])
def test_few_seeds_of_three_versions_pool_what_they_show(seeds: int) -> None:
    """With no true difference, seeds that matter and 300 rows, about 5 % of 150 intervals miss 0, and none is of a useless width."""
    rng = np.random.default_rng(seeds)
    missed, widths = 0, []
    for trial in range(150):
        gold = rng.integers(0, 2, 300)
        runs = [(subset, seed) for subset in ("original", "cleaned", "random") for seed in range(seeds)]
        predicted = {run: noisy(rng, gold, 0.75 + rng.normal(scale=0.02), classes=2) for run in runs}
        sets = [EvaluationSet("dev", "id", gold, predicted)]
        found = compare_versions(sets, dict.fromkeys(predicted, False), ("accuracy",), resamples=1000, seed=trial)
        [row] = rows_of(found.differences, subset="cleaned", against="original")
        missed += not row["low"] <= 0 <= row["high"]
        widths.append(row["high"] - row["low"])
    assert 1 <= missed <= 17
    assert np.median(widths) < 0.2


def test_models_with_the_same_predictions_do_not_differ() -> None:
    one = evaluation_set()
    same = EvaluationSet("dev", "ood", one.gold, {run: one.predicted["original", run[1]] for run in RUNS})
    for row in compare_versions([same], NONE_FAILED, METRICS, resamples=100, seed=0).differences.to_pylist():
        assert (row["difference"], row["low"], row["high"]) == (0, 0, 0)


def test_swapping_two_versions_turns_the_difference_round() -> None:
    whole = evaluation_set(better=0.1)
    one = EvaluationSet("dev", "ood", whole.gold, {run: labels for run, labels in whole.predicted.items() if run[1] == 1})
    other = {"original": "cleaned", "cleaned": "original", "random": "random"}
    swapped = EvaluationSet("dev", "ood", one.gold, {(subset, seed): one.predicted[other[subset], seed] for subset, seed in one.predicted})
    found, turned = (
        compare_versions([each], NONE_FAILED, ("accuracy",), resamples=500, seed=0).differences.to_pylist()[0] for each in (one, swapped)
    )
    assert found["low"] > 0
    assert turned["difference"] == -found["difference"]
    assert (turned["low"], turned["high"]) == (pytest.approx(-found["high"]), pytest.approx(-found["low"]))


def test_all_models_are_scored_on_the_same_draws() -> None:
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 3, 500)
    labels = noisy(rng, gold, 0.5)
    drawn = resampled_scores(gold, np.stack([labels, labels, gold]), METRICS, 300, rng)
    for values in drawn.values():
        assert values.shape == (300, 3)
        assert np.array_equal(values[:, 0], values[:, 1])
        assert (values[:, 2] == 1).all()
        assert values[:, 0].std() > 0


def test_a_set_is_drawn_alike_whatever_the_others_are() -> None:
    one, other = evaluation_set(name="dev"), evaluation_set(name="challenge", seed=4)
    alone = compare_versions([one], NONE_FAILED, METRICS, resamples=100, seed=0)
    both = compare_versions([other, one], NONE_FAILED, METRICS, resamples=100, seed=0)
    assert rows_of(both.differences, set="dev") == alone.differences.to_pylist()
    assert rows_of(both.summary, set="dev") == alone.summary.to_pylist()
    assert compare_versions([one], NONE_FAILED, METRICS, resamples=100, seed=1).differences != alone.differences


def test_a_failed_training_is_marked_and_in_no_mean() -> None:
    one = evaluation_set()
    failed = NONE_FAILED | {("cleaned", 2): True}
    found = compare_versions([one], failed, ("accuracy",), resamples=100, seed=0)
    assert [(row["subset"], row["seed"]) for row in rows_of(found.evaluation, failed=True)] == [("cleaned", 2)]
    assert found.evaluation.num_rows == 9
    values = {(row["subset"], row["seed"]): row["value"] for row in found.evaluation.to_pylist()}
    [cleaned] = rows_of(found.summary, subset="cleaned")
    assert (cleaned["seeds"], cleaned["failed"]) == (2, 1)
    assert cleaned["mean"] == pytest.approx((values["cleaned", 1] + values["cleaned", 3]) / 2)
    pairs = {(row["subset"], row["against"]): row for row in found.differences.to_pylist()}
    assert pairs["cleaned", "original"]["seeds"] == 2
    expected = np.mean([values["cleaned", seed] - values["original", seed] for seed in (1, 3)])
    assert pairs["cleaned", "original"]["difference"] == pytest.approx(expected), "over the seeds with which both learnt something"
    assert pairs["random", "original"]["seeds"] == 3


def test_the_interval_of_a_mean_stays_between_none_and_all() -> None:
    gold = np.zeros(30, int)
    predicted = {("original", seed): np.where(np.arange(30) < wrong, 1, gold) for seed, wrong in ((1, 0), (2, 20))}
    found = compare_versions([EvaluationSet("dev", "id", gold, predicted)], dict.fromkeys(predicted, False), METRICS, resamples=300, seed=0)
    for row in found.summary.to_pylist():
        assert (row["low"], row["high"]) == (0, 1), "two seeds that far apart say nothing"


def test_where_all_failed_there_is_no_mean_and_no_difference() -> None:
    failed = NONE_FAILED | {("cleaned", seed): True for seed in (1, 2, 3)}
    found = compare_versions([evaluation_set()], failed, ("accuracy",), resamples=100, seed=0)
    [cleaned] = rows_of(found.summary, subset="cleaned")
    assert (cleaned["seeds"], cleaned["failed"], cleaned["mean"], cleaned["sd"], cleaned["low"]) == (0, 3, None, None, None)
    assert [(row["subset"], row["against"]) for row in found.differences.to_pylist()] == [("random", "original")]
    assert "| cleaned | 7 | failed |" in markdown(found, {"original": 8, "cleaned": 7, "random": 7})


def test_what_cannot_be_compared_is_refused() -> None:
    gold = np.array([0, 1])
    with pytest.raises(ValueError, match="dev has 2 rows, but 3 predictions of cleaned seed 4"):
        compare_versions(
            [EvaluationSet("dev", "id", gold, {("cleaned", 4): np.zeros(3, int)})], {("cleaned", 4): False}, METRICS, resamples=9, seed=0
        )
    with pytest.raises(ValueError, match="dev has no rows"):
        compare_versions(
            [EvaluationSet("dev", "id", gold[:0], {("cleaned", 4): gold[:0]})], {("cleaned", 4): False}, METRICS, resamples=9, seed=0
        )
    with pytest.raises(ValueError, match="unknown metric 'f1'; known: accuracy, macro_f1"):
        scores(gold, gold[None], np.ones((2, 1), np.float32), ("f1",))


def test_nothing_to_compare_is_empty_tables() -> None:
    found = compare_versions([], {}, METRICS, resamples=10, seed=0)
    assert (found.evaluation.schema, found.evaluation.num_rows, found.differences.num_rows) == (EVALUATION, 0, 0)


def test_the_page_has_means_and_differences() -> None:
    row = {"set": "dev", "domain": "ood", "rows": 100, "metric": "accuracy", "seeds": 3}
    summary = [row | {"subset": "original", "failed": 0, "mean": 0.5, "sd": 0.011, "low": 0.4, "high": 0.6}]
    summary.append(row | {"subset": "cleaned", "failed": 1, "seeds": 2, "mean": 0.514, "sd": None, "low": 0.4, "high": 0.6})
    differences = [row | {"subset": "cleaned", "against": "original", "difference": 0.0136, "low": 0.0061, "high": 0.0219}]
    tables = (pa.Table.from_pylist(rows, schema=schema) for rows, schema in ((summary, SUMMARY), (differences, DIFFERENCES)))
    text = markdown(comparison_text.Comparison(EVALUATION.empty_table(), *tables), {"original": 6000, "cleaned": 5820})
    assert "| Trained on | Rows | dev (out of distribution), accuracy |" in text
    assert "| original | 6,000 | 50.0 ± 1.1 |" in text
    assert "| cleaned | 5,820 | 51.4 (1 of 3 failed) |" in text
    assert "| cleaned − original | dev (out of distribution) | accuracy | +1.4 | +0.6 to +2.2 | 3 |" in text
    assert differences_line(differences, "accuracy") == "cleaned − original: dev +1.4 ± 0.8 points"
    assert differences_line(differences, "macro_f1") == ""

"""The estimator over all pairs against enumeration; balanced scores; calibration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score

from cartograph.errors import InputError
from cartograph.pairs.balanced import accuracy_and_f1, balanced_draws, clean_map
from cartograph.pairs.candidates import nearest
from cartograph.pairs.comparison import MEASURES, RoundResult, differences, summary
from cartograph.pairs.estimate import NEAR, POSITIVE, RANDOM, Sample, bootstrap_scores, curve, draw_sample
from cartograph.pairs.manual_correction import corrected_precision, draw_false_positives, share_of_real
from cartograph.pairs.models.calibration import Calibration, calibrate
from cartograph.pairs.pair_space import PairSpace
from cartograph.pairs.task import Task


def small_task(n: int = 60) -> Task:
    """Twenty groups of three that mean the same; all in the test split."""
    first = np.concatenate([np.arange(0, n, 3), np.arange(1, n, 3)])
    texts = [f"t{number}" for number in range(n)]
    return Task(texts, texts, np.full(n, 2, np.int8), True, True, first, first + 1, np.ones(len(first), np.int8))


def vectors_of(task: Task, noise: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    meaning = np.repeat(rng.normal(size=(len(task.left) // 3, 12)), 3, axis=0)
    found = (meaning + noise * rng.normal(size=meaning.shape)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def all_pairs(task: Task) -> np.ndarray:
    space = task.space("test")
    one, other = np.triu_indices(len(space.left), 1)
    return space.keys(one, other)


def test_with_all_negatives_drawn_the_estimate_is_the_truth() -> None:
    task = small_task()
    vectors = vectors_of(task, 1.0)
    space = task.space("test")
    sample = draw_sample(task, "test", nearest(space, vectors, vectors, 4), 10_000, np.random.default_rng(0))
    assert (sample.weight == 1).all()
    assert sorted(sample.keys.tolist()) == sorted(all_pairs(task).tolist())
    score = (vectors[sample.keys // 60] * vectors[sample.keys % 60]).sum(axis=1)
    found = curve(sample, score)
    assert found.average_precision == pytest.approx(average_precision_score(sample.kind == POSITIVE, score))


def test_the_estimate_is_unbiased_and_less_spread_than_plain_sampling() -> None:
    task = small_task()
    vectors, scorer = vectors_of(task, 1.0), vectors_of(task, 0.8, seed=0)
    space, near = task.space("test"), nearest(task.space("test"), vectors, vectors, 4)
    keys = all_pairs(task)
    label = task.labels(keys)

    def scored(keys: np.ndarray) -> np.ndarray:
        return (scorer[keys // 60] * scorer[keys % 60]).sum(axis=1)

    threshold = float(np.quantile(scored(keys)[label == 1], 0.3))
    truth = np.count_nonzero((scored(keys) >= threshold) & (label == 0))
    ours, plain = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        sample = draw_sample(task, "test", near, 100, rng)
        ours.append(sample.weight[(sample.kind != POSITIVE) & (scored(sample.keys) >= threshold)].sum())
        negatives = space.draw(100 + int((sample.kind == NEAR).sum()), np.sort(keys[label == 1]), rng)
        plain.append((space.size - (label == 1).sum()) / len(negatives) * np.count_nonzero(scored(negatives) >= threshold))
    error = np.std(ours) / len(ours) ** 0.5
    assert truth > 20
    assert abs(np.mean(ours) - truth) < 3 * error
    assert np.std(ours) < 0.8 * np.std(plain)


def test_a_near_negative_counts_once_in_whichever_order_it_was_found() -> None:
    task = small_task()
    vectors = vectors_of(task, 1.0)
    near = nearest(task.space("test"), vectors, vectors, 4)
    sample = draw_sample(task, "test", near, 50, np.random.default_rng(0))
    assert (sample.weight[sample.kind == NEAR] == 1).all()
    assert sample.weight.sum() == pytest.approx(60 * 59 / 2)
    legacy = draw_sample(task, "test", near, 50, np.random.default_rng(0), legacy=True)
    assert set(legacy.weight[legacy.kind == NEAR].tolist()) == {1.0, 2.0}
    assert legacy.weight.sum() == pytest.approx(60 * 59 / 2)
    crowded = draw_sample(task, "test", nearest(task.space("test"), vectors, vectors, 45), 500, np.random.default_rng(0), legacy=True)
    assert (crowded.kind == RANDOM).any()
    assert crowded.weight.min() == 0


def test_a_split_without_positives_is_refused() -> None:
    task = small_task()
    vectors = vectors_of(task, 1.0)
    with pytest.raises(
        InputError, match=r"^the dev split has no positive pair among its 0, so it has no precision or recall; give it some\.$"
    ):
        draw_sample(task, "dev", nearest(task.space("test"), vectors, vectors, 4), 10, np.random.default_rng(0))


def literal() -> tuple[Sample, np.ndarray]:
    kind = np.array([POSITIVE, POSITIVE, NEAR, NEAR, RANDOM], np.int8)
    return Sample(np.arange(5), kind, np.array([1.0, 1.0, 1.0, 1.0, 10.0]), 100), np.array([0.9, 0.5, 0.7, 0.5, 0.6])


def test_precision_and_recall_by_hand() -> None:
    sample, score = literal()
    found = curve(sample, score)
    assert found.score.tolist() == [0.9, 0.7, 0.6, 0.5]
    assert found.recall.tolist() == [0.5, 0.5, 0.5, 1.0]
    assert found.precision.tolist() == [1.0, 0.5, 1 / 12, 2 / 14]
    assert found.average_precision == pytest.approx(0.5 + 0.5 * 2 / 14)
    assert found.precision_at(0.2) == 1.0
    assert found.precision_at(0.8) == 2 / 14


def test_only_false_positives_above_the_threshold_are_drawn_to_be_judged() -> None:
    sample, score = literal()
    drawn = draw_false_positives(sample, score, 0.55, np.random.default_rng(0))
    assert {name: keys.tolist() for name, keys in drawn.items()} == {"near": [2], "random": [4]}
    assert len(draw_false_positives(sample, score, 0.0, np.random.default_rng(0), most=1)["near"]) == 1


def test_judged_false_positives_correct_the_precision_as_the_paper_does() -> None:
    # Section 3.3: of 50 near and 50 random false positives 72 % and 92 % are real; 8.2 % precision becomes 9.5 %.
    near = share_of_real(range(50), {key: int(key >= 36) for key in range(50)})
    random = share_of_real(range(50), {key: int(key >= 46) for key in range(50)})
    assert (near.judged, near.real, random.real) == (50, 0.72, 0.92)
    assert near.low == pytest.approx(0.583, abs=0.001)
    assert near.high == pytest.approx(0.825, abs=0.001)
    true = 100.0
    false = true / 0.082 - true
    # Which part of the false positives is near, the paper does not say; a third makes its number.
    assert corrected_precision(true, 0.345 * false, 0.655 * false, near.real, random.real) == pytest.approx(0.095, abs=0.0005)


def test_what_nobody_judged_counts_as_real() -> None:
    share = share_of_real([1, 2], {1: -1, 7: 0})
    assert (share.judged, share.real, share.low, share.high) == (0, 1.0, 1.0, 1.0)
    assert corrected_precision(0, 0, 0, 1, 1) == 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=3, max_size=40))
def test_the_curve_is_scikit_learns_with_weights(rows: list[tuple[int, int]]) -> None:
    kind = np.array([POSITIVE, *(row[0] for row in rows)], np.int8)
    score = np.array([3, *(row[1] for row in rows)], float)
    weight = np.where(kind == RANDOM, 7.5, 1.0)
    found = curve(Sample(np.arange(len(kind)), kind, weight, 100), score)
    assert found.average_precision == pytest.approx(average_precision_score(kind == POSITIVE, score, sample_weight=weight))


def test_draws_spread_around_the_estimate_and_are_the_same_for_every_scoring() -> None:
    task = small_task(120)
    vectors = vectors_of(task, 0.9)
    space = task.space("test")
    sample = draw_sample(task, "test", nearest(space, vectors, vectors, 4), 300, np.random.default_rng(0))
    score = (vectors[sample.keys // 120] * vectors[sample.keys % 120]).sum(axis=1)
    first, second = bootstrap_scores(sample, space, [score, score], 300, np.random.default_rng(1))
    assert np.array_equal(first, second)
    value = curve(sample, score).average_precision
    low, high = np.quantile(first[:, 0], [0.025, 0.975])
    assert low < value < high
    assert 0 < first[:, 1].std() < 0.4


def test_a_draw_is_the_curve_of_the_pairs_as_often_as_their_utterances_were_drawn() -> None:
    task = small_task()
    vectors = vectors_of(task, 1.0)
    space = task.space("test")
    sample = draw_sample(task, "test", nearest(space, vectors, vectors, 4), 10_000, np.random.default_rng(0))
    score = np.round((vectors[sample.keys // 60] * vectors[sample.keys % 60]).sum(axis=1), 2)
    [draws] = bootstrap_scores(sample, space, [score], 5, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    for found in draws:
        times = np.bincount(rng.integers(0, 60, 60), minlength=60)
        weight = sample.weight * times[sample.keys // 60] * times[sample.keys % 60]
        drawn = weight > 0
        whole = curve(Sample(sample.keys[drawn], sample.kind[drawn], weight[drawn], sample.pairs), score[drawn])
        assert found.tolist() == pytest.approx([whole.average_precision, whole.precision_at()])


def test_balanced_scores() -> None:
    label = np.array([1, 0, 1, 0, 1, 1])
    probability = np.array([0.9, 0.8, 0.4, 0.1, 0.7, 0.6])
    accuracy, f1 = accuracy_and_f1(label, probability)
    assert accuracy == pytest.approx(4 / 6)
    assert f1 == pytest.approx(f1_score(label, probability >= 0.5))
    # Query 2 has positives alone and is not clean.
    assert clean_map(np.array([0, 0, 1, 1, 2, 2]), label, probability) == pytest.approx(1.0)
    assert clean_map(np.array([0, 0, 0, 0, 2, 2]), label, probability) == pytest.approx((1 + 2 / 3) / 2)
    assert clean_map(np.array([0, 1]), np.array([1, 0]), np.array([0.1, 0.2])) is None


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_draw_of_the_balanced_test_is_the_scores_of_the_pairs_as_often_as_they_were_drawn(symmetric: bool) -> None:
    n, rng = 30, np.random.default_rng(5)
    space = PairSpace(np.arange(n), np.arange(n), n, symmetric)
    keys = space.draw(80, np.empty(0, np.int64), rng)
    label, probability = rng.integers(0, 2, 80), rng.uniform(size=80).round(2)
    draws = balanced_draws(space, keys, label, probability, 6, np.random.default_rng(3))
    assert np.isnan(draws[:, 2]).all() == symmetric
    again = np.random.default_rng(3)
    left, right = space.pairs(keys)
    for found in draws:
        times = np.bincount(again.integers(0, n, n), minlength=n)
        rows = np.repeat(np.arange(80), times[left] * (times[right] if symmetric else 1))
        assert found[:2].tolist() == pytest.approx(accuracy_and_f1(label[rows], probability[rows]))
        if not symmetric:
            # Each drawn query as a query of its own.
            queries = np.repeat(np.arange(n), times)
            parts = [np.flatnonzero(left == query) for query in queries]
            names = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
            whole = np.concatenate(parts)
            assert found[2] == pytest.approx(clean_map(names, label[whole], probability[whole]))


def test_calibration_is_logistic_regression_and_rises() -> None:
    rng = np.random.default_rng(0)
    cosine = rng.uniform(-1, 1, 5000)
    label = (rng.uniform(size=5000) < 1 / (1 + np.exp(-(6 * cosine - 2)))).astype(int)
    fitted = calibrate(cosine, label)
    assert fitted.w / fitted.deviation == pytest.approx(6, rel=0.1)
    assert (fitted.probability(cosine) - label).sum() == pytest.approx(0, abs=1e-4)
    assert np.all(np.diff(fitted.probability(np.linspace(-1, 1, 50))) > 0)


@pytest.mark.parametrize("label", [[0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
def test_calibration_stays_finite_and_rising_whatever_the_labels(label: list[int]) -> None:
    fitted = calibrate(np.array([0.1, 0.2, 0.3, 0.4]), np.array(label))
    probability = fitted.probability(np.array([0.1, 0.4]))
    assert np.isfinite(probability).all()
    assert 0 < fitted.w < 1000
    assert probability[1] >= probability[0]


def test_calibration_survives_a_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    fitted = calibrate(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 1, 0, 1]))
    fitted.save(tmp_path / "calibration.json")
    assert Calibration.load(tmp_path / "calibration.json") == fitted


def test_an_interval_of_a_share_stays_one_where_seeds_differ_much() -> None:
    draws = np.random.default_rng(0).uniform(0.0, 0.2, (100, 2))
    numbers = [{"test.average_precision": share, "test.precision_at_recall_20": share, "labels": 5, "positive": 1} for share in (0.0, 0.6)]
    arms = [RoundResult("random", seed, 1, number, draws) for seed, number in enumerate(numbers)]
    for row in summary(arms, 0).to_pylist():
        assert row["mean"] == pytest.approx(0.3)
        assert (row["low"], row["high"]) == (0.0, 1.0)


def test_draws_vary_as_the_sampled_negatives_do() -> None:
    """One left utterance, so that nothing else varies: of 100 sampled negatives that stand for ten each, 40 are above the positive."""
    space = PairSpace(np.arange(1), np.arange(2000), 2000, False)
    kind = np.repeat(np.array([POSITIVE, RANDOM], np.int8), [1, 100])
    sample = Sample(np.arange(101), kind, np.where(kind == POSITIVE, 1.0, 10.0), 1001)
    score = np.concatenate([[0.5], np.repeat([0.9, 0.1], [40, 60])])
    [draws] = bootstrap_scores(sample, space, [score], 4000, np.random.default_rng(0))
    above = (1 / draws[:, 0] - 1) / 10
    assert above.mean() == pytest.approx(40, abs=0.5)
    assert above.var() == pytest.approx(40, rel=0.1)


def test_methods_are_compared_seed_by_seed_and_draw_by_draw() -> None:
    draws = [np.random.default_rng(seed).uniform(0.2, 0.6, (100, 2)) for seed in (1, 2, 3)]

    def arms(method: str, more: float, number: int = 2) -> list[RoundResult]:
        numbers = [{f"test.{name}": 0.3 + seed / 10 + more for name in MEASURES} for seed in range(3)]
        return [RoundResult(method, seed, number, numbers[seed], draws[seed] + more) for seed in range(3)]

    table = differences([*arms("random", 0.9, number=1), *arms("random", 0.0), *arms("stated", 0.05), *arms("uncertainty", 0.15)], 0)
    assert [(row["method"], row["against"]) for row in table.to_pylist()[::2]] == [("uncertainty", "random"), ("uncertainty", "stated")]
    for row, wanted in zip(table.to_pylist(), (0.15, 0.15, 0.1, 0.1), strict=True):
        assert [row["difference"], row["low"], row["high"]] == pytest.approx([wanted] * 3)

"""The estimator over all pairs against enumeration; balanced scores; calibration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from cartograph.errors import InputError
from cartograph.pairs.candidates import nearest
from cartograph.pairs.estimate import NEAR, POSITIVE, RANDOM, Sample, bootstrap_scores, curve, draw_sample
from cartograph.pairs.manual_correction import draw_false_positives
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
        assert found[0] == pytest.approx(whole.average_precision)
        # P@R20 has, besides, false positives that such a sample may have missed.
        missed = rng.poisson(rng.gamma(0.5, size=2))[0]
        hits = whole.recall[int(np.argmax(whole.recall >= 0.2))] * weight[sample.kind == POSITIVE].sum()
        assert found[1] == pytest.approx(hits / (hits / whole.precision_at() + missed))


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


def test_at_the_ceiling_the_interval_of_precision_covers_what_all_pairs_enumerated_have() -> None:
    """Of 44,850 pairs 150 random negatives are scored: most samples have no false positive above the threshold, all pairs have some."""
    task = small_task(300)
    start, model = vectors_of(task, 1.6), vectors_of(task, 0.32, seed=9)
    space, keys = task.space("test"), all_pairs(task)
    near = nearest(space, start, start, 1)

    def scored(keys: np.ndarray) -> np.ndarray:
        found: np.ndarray = (model[keys // 300] * model[keys % 300]).sum(axis=1)
        return found

    label = task.labels(keys)
    # A model that holds a few unlike pairs the surest, as one that has learnt a wrong rule does.
    wrong = set(np.random.default_rng(4).choice(keys[label == 0], 12, replace=False).tolist())

    def score_of(keys: np.ndarray) -> np.ndarray:
        return scored(keys) + 2.0 * np.isin(keys, list(wrong))

    truth = curve(Sample(keys, np.where(label == 1, POSITIVE, RANDOM).astype(np.int8), np.ones(len(keys)), len(keys)), score_of(keys))
    at_ceiling = covered = plain = 0
    for seed in range(60):
        sample = draw_sample(task, "test", near, 150, np.random.default_rng(seed))
        score = score_of(sample.keys)
        if curve(sample, score).precision_at() < 1.0:
            continue
        at_ceiling += 1
        [draws] = bootstrap_scores(sample, space, [score], 120, np.random.default_rng(seed))
        low, high = np.nanquantile(draws[:, 1], [0.025, 0.975])
        covered += low <= truth.precision_at() <= high
        plain += truth.precision_at() == 1.0
        assert high == 1.0
    assert truth.precision_at() < 0.9
    assert at_ceiling > 30
    assert plain == 0
    assert covered >= 0.9 * at_ceiling


def test_negatives_that_blocking_never_proposes_do_not_widen_the_interval_of_precision() -> None:
    space = PairSpace(np.arange(40), np.arange(100), 100, False)
    kind = np.repeat(np.array([POSITIVE, RANDOM], np.int8), [40, 100])
    sample = Sample(np.arange(140) * 20, kind, np.where(kind == POSITIVE, 1.0, 30.0), 4000)
    low = []
    for floor in (np.full(100, -9.0), np.linspace(-9.0, -1.0, 100)):
        [draws] = bootstrap_scores(sample, space, [np.concatenate([np.linspace(1, 2, 40), floor])], 400, np.random.default_rng(0))
        low.append(float(np.quantile(draws[:, 1], 0.025)))
    assert low[0] > 0.6
    assert low[1] < 0.3

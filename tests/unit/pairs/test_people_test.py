"""Test pairs that people answer: drawn with known chances, and unbiased against all pairs enumerated."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.pairs.estimate import NEAR, POSITIVE, RANDOM, Sample, curve
from cartograph.pairs.people_test import answered_sample, draw_questions

PAIRS = 2000
RNG = np.random.default_rng(5)
TRUE = np.sort(RNG.choice(PAIRS, 60, replace=False))
SCORE = RNG.normal(size=PAIRS) + 3.0 * np.isin(np.arange(PAIRS), TRUE)
MODEL = SCORE + 0.7 * RNG.normal(size=PAIRS)
STATED = TRUE[:25]


def sample_of() -> Sample:
    """All pairs, 25 of whose 60 positives are stated: the others count as negatives, near ones once, one in four of the rest four times."""
    negative = np.setdiff1d(np.arange(PAIRS), STATED)
    near = negative[SCORE[negative] > 1.0]
    rest = np.setdiff1d(negative, near)
    drawn = np.sort(np.random.default_rng(1).permutation(rest)[: len(rest) // 4])
    keys = np.concatenate([STATED, near, drawn])
    kind = np.repeat(np.array([POSITIVE, NEAR, RANDOM], np.int8), [len(STATED), len(near), len(drawn)])
    weight = np.where(kind == RANDOM, len(rest) / len(drawn), 1.0)
    return Sample(keys, kind, weight, PAIRS)


def answers_to(keys: np.ndarray) -> dict[int, int]:
    return {key: int(key in set(TRUE.tolist())) for key in keys.tolist()}


def test_as_many_are_drawn_as_are_asked_for_and_they_represent_all_that_is_not_known() -> None:
    sample = sample_of()
    whole = sample.weight[sample.kind != POSITIVE].sum()
    sums = []
    for seed in range(200):
        found = draw_questions(sample, SCORE[sample.keys], 80, np.random.default_rng(seed))
        assert len(found.rows) == len(set(found.rows.tolist())) == 80
        assert (sample.kind[found.rows] != POSITIVE).all()
        assert (found.weight >= 1 - 1e-9).all()
        sums.append(found.weight.sum())
    assert np.mean(sums) == pytest.approx(whole, rel=0.05)
    all_of_them = draw_questions(sample, SCORE[sample.keys], 10_000, np.random.default_rng(0))
    assert all_of_them.weight.tolist() == sample.weight[sample.kind != POSITIVE].tolist()


def test_the_likeliest_are_asked_about_more_often() -> None:
    sample = sample_of()
    found = draw_questions(sample, SCORE[sample.keys], 80, np.random.default_rng(0))
    frame = np.flatnonzero(sample.kind != POSITIVE)
    assert SCORE[sample.keys[found.rows]].mean() > SCORE[sample.keys[frame]].mean() + 0.3
    order = np.argsort(-SCORE[sample.keys[found.rows]])
    assert found.weight[order[:10]].mean() < found.weight[order[-10:]].mean() / 3


def test_answers_show_what_nobody_had_stated_without_bias() -> None:
    """Positives above a threshold, all positives, and average precision, against all 2,000 pairs with their true labels."""
    everything = Sample(
        np.arange(PAIRS), np.where(np.isin(np.arange(PAIRS), TRUE), POSITIVE, RANDOM).astype(np.int8), np.ones(PAIRS), PAIRS
    )
    truth = curve(everything, MODEL).average_precision
    sample = sample_of()
    old = curve(sample, MODEL[sample.keys]).average_precision
    threshold = float(np.quantile(MODEL[TRUE], 0.5))
    above, positives, precisions = [], [], []
    for seed in range(300):
        questions = draw_questions(sample, SCORE[sample.keys], 80, np.random.default_rng(seed))
        found, rows = answered_sample(sample, questions, answers_to(sample.keys[questions.rows]))
        score = MODEL[sample.keys[rows]]
        positive = found.kind == POSITIVE
        above.append(found.weight[positive & (score >= threshold)].sum())
        positives.append(found.weight[positive].sum())
        precisions.append(curve(found, score).average_precision)
    # What one first draw of the random pairs holds is what answers can show: its own positives, weighted.
    label = np.isin(sample.keys, TRUE)
    for values, expected in (
        (above, sample.weight[label & (MODEL[sample.keys] >= threshold)].sum()),
        (positives, sample.weight[label].sum()),
    ):
        assert abs(np.mean(values) - expected) < 3 * np.std(values) / len(values) ** 0.5
    assert old < truth - 0.15
    assert np.mean(precisions) == pytest.approx(truth, abs=0.06)


def test_skipped_pairs_are_represented_by_the_others_and_unasked_answers_do_not_count() -> None:
    sample = sample_of()
    questions = draw_questions(sample, SCORE[sample.keys], 50, np.random.default_rng(3))
    answers = answers_to(sample.keys[questions.rows])
    skipped = dict.fromkeys(list(answers)[:10], -1)
    whole, _ = answered_sample(sample, questions, answers)
    part, rows = answered_sample(sample, questions, {**answers, **skipped, int(STATED[0]): 0, 1_999_999: 1})
    assert len(part.keys) == len(whole.keys) - 10
    assert part.weight.sum() == pytest.approx(whole.weight.sum())
    assert part.keys.tolist() == sample.keys[rows].tolist()
    assert (part.kind[: len(STATED)] == POSITIVE).all()

"""Average precision by answers to some test pairs: intervals against all pairs with their true labels."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.data.arrays import Floats
from cartograph.pairs.answered_test import answered_draws
from cartograph.pairs.estimate import NEAR, POSITIVE, RANDOM, Sample, curve
from cartograph.pairs.people_test import Questions, draw_questions

PAIRS, POSITIVES, STATED = 20_000, 80, 12


def split(tail: float, seed: int) -> tuple[Sample, Sample, Floats, Floats]:
    """The sample as it is known and with all true labels; scores before and after training. A part of the positives is far down."""
    rng = np.random.default_rng(seed)
    positive = np.arange(PAIRS) < POSITIVES
    hard = positive & (rng.random(PAIRS) < tail)
    before = rng.normal(size=PAIRS) + 6.0 * (positive & ~hard) + 1.5 * hard
    after = before + 0.5 * rng.normal(size=PAIRS) + 1.0 * positive
    stated = np.argsort(-before * positive, kind="stable")[:STATED]
    known = np.full(PAIRS, NEAR, np.int8)
    known[stated] = POSITIVE
    order = np.argsort(known, kind="stable")
    truth = np.where(positive, POSITIVE, RANDOM).astype(np.int8)
    weight = np.ones(PAIRS)
    return Sample(order, known[order], weight, PAIRS), Sample(order, truth[order], weight, PAIRS), before[order], after[order]


def asked(sample: Sample, truth: Sample, score: Floats, number: int, seed: int) -> tuple[Questions, dict[int, int]]:
    questions = draw_questions(sample, score, number, np.random.default_rng(seed))
    return questions, {int(sample.keys[row]): int(truth.kind[row] == POSITIVE) for row in questions.rows}


@pytest.mark.parametrize("tail", [0.0, 0.25])
@pytest.mark.parametrize("number", [60, 240])
def test_intervals_hold_average_precision_whether_positives_are_far_down_or_not(tail: float, number: int) -> None:
    held = 0
    for seed in range(12):
        sample, truth, before, after = split(tail, seed)
        questions, answers = asked(sample, truth, before, number, seed)
        for score, draws in zip(
            (before, after), answered_draws(sample, questions, answers, (before, after), 80, np.random.default_rng(seed)), strict=True
        ):
            low, high = np.quantile(draws[:, 0], [0.025, 0.975])
            held += low - 0.015 <= curve(truth, score).average_precision <= high + 0.015
    assert held >= 22


def test_no_positive_among_few_answers_does_not_make_a_sure_number() -> None:
    sample, truth, before, _ = split(0.25, 3)
    questions, answers = asked(sample, truth, before, 60, 3)
    [draws] = answered_draws(sample, questions, answers, [before], 200, np.random.default_rng(1))
    low, high = np.quantile(draws[:, 0], [0.025, 0.975])
    assert high - low > 0.1
    assert ((draws >= 0) & (draws <= 1)).all()


@pytest.mark.slow
def test_all_answers_leave_nothing_open_and_skipped_ones_do() -> None:
    sample, truth, before, after = split(0.25, 4)
    questions, answers = asked(sample, truth, before, PAIRS, 4)
    [draws] = answered_draws(sample, questions, answers, [after], 5, np.random.default_rng(1))
    exact = curve(truth, after)
    np.testing.assert_allclose(draws, [[exact.average_precision, exact.precision_at()]] * 5)
    some = {key: answer if place % 2 else -1 for place, (key, answer) in enumerate(answers.items())}
    [skipped] = answered_draws(sample, questions, some, [after], 20, np.random.default_rng(1))
    assert np.ptp(skipped[:, 0]) > 0
    assert np.quantile(skipped[:, 0], 0.05) - 0.05 < exact.average_precision < np.quantile(skipped[:, 0], 0.95) + 0.05


def test_the_same_seed_gives_the_same_draws_and_ties_are_taken_together() -> None:
    sample, truth, before, _ = split(0.0, 5)
    questions, answers = asked(sample, truth, before, 60, 5)
    tied = np.maximum(before, 1.0)
    first, again = (np.stack([*answered_draws(sample, questions, answers, (before, tied), 10, np.random.default_rng(2))]) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    mixed = np.random.default_rng(6).permutation(PAIRS)
    other = Sample(sample.keys[mixed], sample.kind[mixed], sample.weight[mixed], PAIRS)
    place = np.argsort(mixed)
    moved = Questions(np.sort(place[questions.rows]), np.ones(len(questions.rows)))
    [draws] = answered_draws(other, moved, answers, [tied[mixed]], 200, np.random.default_rng(2))
    [same] = answered_draws(sample, questions, answers, [tied], 200, np.random.default_rng(2))
    assert np.median(draws[:, 0]) == pytest.approx(np.median(same[:, 0]), abs=0.1)

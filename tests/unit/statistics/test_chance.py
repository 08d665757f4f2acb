from __future__ import annotations

import numpy as np
import pytest

from cartograph.statistics.chance import beats_chance, chance_agreement


def test_chance_agreement_of_one_class_is_its_share() -> None:
    assert chance_agreement(np.array([2, 2, 2]), np.array([2, 0, 1])) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("counts", "tends"), [((628, 639), 0.5), ((950, 50), 0.05), ((100, 90, 110), 0.4), ((9, 3), 0.5)])
def test_predictions_by_chance_pass_in_less_than_one_of_a_hundred(counts: tuple[int, ...], tends: float) -> None:
    rng = np.random.default_rng(20)
    gold = np.repeat(np.arange(len(counts)), counts)
    others = np.arange(1, len(counts))
    passed = 0
    for _ in range(4_000):
        predicted = np.where(rng.random(len(gold)) < tends, rng.choice(others, len(gold)), 0)
        passed += beats_chance(predicted, gold)
    assert passed / 4_000 < 0.01


def test_a_model_that_knows_a_little_of_a_rare_class_beats_chance_though_not_the_largest_class() -> None:
    gold = np.repeat([0, 1], [950, 50])
    predicted = gold.copy()
    predicted[:60], predicted[-20:] = 1, 0
    assert np.mean(predicted == gold) < 0.95
    assert beats_chance(predicted, gold)
    assert not beats_chance(np.zeros(1_000, int), gold)


def test_labels_that_no_prediction_names_count() -> None:
    assert not beats_chance(np.zeros(40, int), np.repeat([0, 5], 20))

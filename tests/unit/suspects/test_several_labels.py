"""The doubt about rows that have several labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cartograph.data.arrays import Integers
from cartograph.errors import InputError
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.committee import Reading
from cartograph.suspects.label_listing import known_labels
from cartograph.suspects.several_labels import several_doubts
from tests.label_sets import WORDS, films


def reading(labels: Integers, noise: float, seed: int = 1) -> Reading:
    rng = np.random.default_rng(seed)
    return Reading(None, (2.0 * labels - 1.0 + rng.normal(0, noise, labels.shape)).astype(np.float32), None)


def planted(labels: Integers, share: float, seed: int = 2) -> Integers:
    turned = np.random.default_rng(seed).random(labels.shape) < share
    return np.where(turned, 1 - labels, labels)


def test_wrong_labels_come_first_and_their_number_is_within_the_interval() -> None:
    truth = films(800)[1]
    given = planted(truth, 0.05)
    found = several_doubts(reading(truth, 0.7), given, WORDS, 13)
    wrong = given != truth
    assert average_precision(wrong.ravel(), found.score.ravel()) > 0.85
    assert found.together.wrong is not None and found.together.wrong.low <= wrong.sum() <= found.together.wrong.scattered
    assert found.together.wrong.expected == pytest.approx(found.score.sum())


def test_a_label_that_only_the_others_give_away_is_doubted_by_them() -> None:
    rng = np.random.default_rng(5)
    first = rng.integers(0, 2, 800)
    truth = np.stack([first, 1 - first, rng.integers(0, 2, 800)], axis=1)
    vectors = np.asarray(reading(truth, 3.0).vectors)
    given = planted(truth, 0.05)
    together = several_doubts(Reading(None, vectors, None), given, ["a", "b", "c"], 13)
    alone = several_doubts(Reading(None, vectors, None), given[:, :1], ["a"], 13)
    wrong = (given != truth)[:, 0]
    assert average_precision(wrong, together.score[:, 0]) > average_precision(wrong, alone.score[:, 0]) + 0.2


def test_a_rare_label_is_doubted_by_how_labels_go_wrong_in_all_of_them() -> None:
    truth = films(1000)[1]
    truth[:, 3] = 0
    truth[:12, 3] = 1
    given = planted(truth, 0.05)
    found = several_doubts(reading(truth, 0.5), given, WORDS, 13)
    assert found.labels[3].wrong is None, "its own rows show too little"
    wrong = given != truth
    assert found.score[wrong[:, 3], 3].mean() > 0.6 and average_precision(wrong.ravel(), found.score.ravel()) > 0.85


def test_labels_that_the_rows_say_nothing_of_give_no_number() -> None:
    rng = np.random.default_rng(6)
    given = (rng.random((600, 3)) < 0.3).astype(np.int64)
    found = several_doubts(Reading(None, rng.normal(size=(600, 4)).astype(np.float32), None), given, ["a", "b", "c"], 13)
    assert found.together.wrong is None and all(doubt.wrong is None for doubt in found.labels)
    assert found.score.mean() <= 0.1 + 1e-6


def test_of_few_rows_no_number_is_told_however_many_labels_they_have() -> None:
    truth = films(300)[1]
    assert several_doubts(reading(truth, 0.5), planted(truth, 0.05), WORDS, 13).together.unknown == "few rows"


def test_the_same_seed_gives_the_same_doubts() -> None:
    truth = films(200)[1]
    one, other = (several_doubts(reading(truth, 0.7), planted(truth, 0.1), WORDS, 13).score for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_a_label_with_fewer_rows_than_folds_is_refused() -> None:
    given = np.zeros((40, 2), dtype=np.int64)
    given[:20, 0], given[:4, 1] = 1, 1
    with pytest.raises(InputError, match="label 'b' has 4 rows of yes or of no; 5 of both are needed"):
        several_doubts(reading(given, 0.5), given, ["a", "b"], 13)


def test_of_a_label_that_models_tell_little_about_the_number_of_all_does_not_help() -> None:
    truth = films(800)[1]
    found = several_doubts(reading(truth, 0.7), planted(truth, 0.1), WORDS, 13)
    assert found.together.wrong is not None
    own = [replace(found.labels[0], wrong=None, unknown=why) for why in ("little explained", "hard rows", "much noise", "few rows")]
    known = known_labels(replace(found, labels=(*own, found.labels[0])))
    assert known.tolist() == [False, False, True, True, True]
    alone = replace(found, labels=(*own, found.labels[0]), together=replace(found.together, wrong=None))
    assert known_labels(alone).tolist() == [False] * 4 + [found.labels[0].wrong is not None]

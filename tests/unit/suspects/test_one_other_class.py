"""Errors by which rows of a class are called one other class, and hard rows that look like them."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.data.arrays import Floats, Integers
from cartograph.suspects.given_labels import GivenLabels
from cartograph.suspects.hard_classes import calm_transition, even_errors
from cartograph.suspects.label_doubt import label_doubt
from cartograph.suspects.one_other_class import one_other_class

CLASSES, ROWS = 30, 3000


def learnt(rng: np.random.Generator, share: float, called: Integers) -> tuple[Floats, Integers, Integers]:
    """Probabilities of models that have learnt which share of each class is called which other; given labels, and true classes."""
    true = rng.integers(0, CLASSES, ROWS)
    known = rng.dirichlet(np.full(CLASSES, 0.3), ROWS) * 0.15
    sure = rng.uniform(0.6, 0.85, ROWS)
    taken = np.where(rng.random(ROWS) < 0.85, true, rng.integers(0, CLASSES, ROWS))
    known[np.arange(ROWS), taken] += sure * (1.0 - share)
    known[np.arange(ROWS), called[taken]] += sure * share
    known += (1.0 - known.sum(axis=1, keepdims=True)) / CLASSES
    return known, np.where(rng.random(ROWS) < share, called[true], true), true


NEXT = (np.arange(CLASSES) + 1) % CLASSES


def test_a_class_s_one_other_label_is_found_of_all_classes_together() -> None:
    known, given, _ = learnt(np.random.default_rng(1), 0.2, NEXT)
    found = one_other_class(known, given)
    assert found is not None
    classes, others = np.nonzero(found)
    assert (others == NEXT[classes]).mean() > 0.9 and len(classes) > 0.7 * CLASSES
    assert found[found > 0].mean() == pytest.approx(0.2, abs=0.05)
    few = even_errors(known, given, 0.1)
    assert few is not None and few[0] / few[1] < 0.15, "by which the others would be hard rows"
    calm = calm_transition(GivenLabels(given, known, 20.0), 0.1)
    assert calm is not None and calm[0][np.arange(CLASSES), NEXT].mean() > 0.15 and few[0] / few[1] < calm[1][0] / calm[1][1] < 0.35


@pytest.mark.slow
def test_such_errors_come_earlier_and_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    known, given, true = learnt(np.random.default_rng(1), 0.2, NEXT)
    wrong = given != true

    def found() -> tuple[float, float]:
        doubt = label_doubt(known, given)
        first = wrong[np.argsort(-doubt.score, kind="stable")[: wrong.sum()]].mean()
        return float(first), float(doubt.score[wrong].sum())

    asked = found()
    monkeypatch.setattr("cartograph.suspects.hard_classes.one_other_class", lambda *_: None)
    without = found()
    assert asked[0] > without[0] and asked[1] > 1.2 * without[1]


@pytest.mark.parametrize("kind", ["right", "at random", "for each other", "several"])
def test_hard_rows_and_other_errors_are_not_such(kind: str) -> None:
    rng = np.random.default_rng(2)
    if kind == "for each other":
        known, given, _ = learnt(rng, 0.2, np.arange(CLASSES) ^ 1)
        assert one_other_class(known, given) is None
        return
    known, given, _ = learnt(rng, 0.0, NEXT)
    if kind == "at random":
        given = np.where(rng.random(ROWS) < 0.2, rng.integers(0, CLASSES, ROWS), given)
    if kind == "several":
        given = np.where(rng.random(ROWS) < 0.2, (given + rng.integers(1, 8, ROWS)) % CLASSES, given)
    assert one_other_class(known, given) is None

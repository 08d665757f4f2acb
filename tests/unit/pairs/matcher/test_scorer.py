from __future__ import annotations

import numpy as np

from cartograph.pairs.estimate import POSITIVE, RANDOM, Sample, curve
from cartograph.pairs.matcher.model import Gain
from cartograph.pairs.matcher.scorer import choose
from cartograph.pairs.pair_space import PairSpace

SPACE = PairSpace(np.arange(60), np.arange(60), 60, False)
KEYS = np.arange(3600)
KINDS = np.where(KEYS // 60 == KEYS % 60, POSITIVE, RANDOM).astype(np.int8)
SAMPLE = Sample(KEYS, KINDS, np.ones(3600), 3600)


def scores(quality: float, seed: int) -> np.ndarray:
    return quality * (KINDS == POSITIVE) + np.random.default_rng(seed).normal(size=3600)


def test_labels_that_make_it_worse_are_not_used() -> None:
    good, bad = scores(3.0, 0), scores(2.0, 1)
    name, dev = choose({"untrained": good, "new": bad}, SPACE, SAMPLE)
    assert name == "untrained"
    assert dev["untrained"] > dev["new"]


def test_a_gain_that_chance_explains_is_no_gain() -> None:
    before = scores(3.0, 0)
    others = (before + 0.1 * np.random.default_rng(seed).normal(size=3600) for seed in range(100))
    after = next(other for other in others if curve(SAMPLE, other).average_precision > curve(SAMPLE, before).average_precision)
    name, dev = choose({"untrained": before, "new": after}, SPACE, SAMPLE)
    assert dev["new"] > dev["untrained"]
    assert name == "untrained"


def test_the_best_trained_one_stays() -> None:
    found = {"untrained": scores(2.0, 0), "earlier": scores(4.0, 1), "new": scores(3.0, 2)}
    assert choose(found, SPACE, SAMPLE)[0] == "earlier"
    assert choose(found | {"new": scores(5.0, 2)}, SPACE, SAMPLE)[0] == "new"


def test_one_that_was_taken_before_is_not_given_up_for_the_label_free_score() -> None:
    found = {"untrained": scores(3.0, 0), "earlier": scores(2.9, 1), "new": scores(2.0, 2)}
    assert choose(found, SPACE, SAMPLE)[0] == "earlier"
    assert choose(found, SPACE, SAMPLE, Gain(0.0, 0.03), partly_stated=True)[0] == "untrained", "unless its reason, the answers, is gone"


def test_where_dev_does_not_tell_answers_decide() -> None:
    before = scores(3.0, 0)
    as_good = before + 0.1 * np.random.default_rng(1).normal(size=3600)
    both = {"untrained": before, "new": as_good}
    assert choose(both, SPACE, SAMPLE)[0] == "untrained"
    assert choose(both, SPACE, SAMPLE, Gain(0.09, 0.03))[0] == "new"
    assert choose(both, SPACE, SAMPLE, Gain(0.05, 0.03))[0] == "untrained"
    assert choose(both, SPACE, SAMPLE, Gain(0.09, 0.03), partly_stated=True)[0] == "new"
    worse = {"untrained": before, "new": scores(2.0, 1)}
    assert choose(worse, SPACE, SAMPLE, Gain(0.09, 0.03))[0] == "untrained", "dev does tell"


def test_where_dev_is_partly_stated_answers_decide() -> None:
    good, bad = scores(3.0, 0), scores(2.0, 1)
    both = {"untrained": good, "new": bad}
    assert choose(both, SPACE, SAMPLE, Gain(0.09, 0.03), partly_stated=True)[0] == "new"
    assert choose(both, SPACE, SAMPLE, Gain(0.02, 0.03), partly_stated=True)[0] == "untrained"

"""Vectors learnt from labels: texts that share no word are found once labels say what means the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cartograph.pairs.matcher.blocked import block
from cartograph.pairs.matcher.features import Features
from cartograph.pairs.matcher.records import Records
from cartograph.pairs.matcher.scorer import MatcherScorer, MatcherTask
from cartograph.pairs.models.learner import Learner
from cartograph.pairs.models.untrained import save_untrained_bow
from cartograph.pairs.task import Task

THINGS = ["mirror", "kettle", "ladder", "carpet", "drill", "stove", "lamp", "fence"]
OTHER = ["spiegel", "teapot", "steps", "rug", "borer", "cooker", "lantern", "railing"]
PLACES = [f"town{n}" for n in range(30)]


@pytest.fixture(scope="module")
def task() -> Task:
    left = [f"where to buy a {thing} in {place}" for place in PLACES for thing in THINGS]
    right = [f"shops selling {thing} near {place}" for place in PLACES for thing in OTHER]
    split = np.repeat(np.array([0, 1, 2], np.int8), 80)
    rows = np.arange(240)
    return Task(left, right, split, False, False, rows, rows, np.ones(240, np.int8))


def test_learnt_vectors_find_what_likeness_cannot(task: Task, tmp_path: Path) -> None:
    features = Features(Records(task.left, task.right))
    own = MatcherTask({split: block(task.space(split), 240, features, 3) for split in ("train", "dev", "test")}, lambda: features)
    save_untrained_bow(task, 0, tmp_path, 64)
    learner = Learner("cosine-bow", task, str(tmp_path))
    rng, space = np.random.default_rng(0), task.space("train")
    keys = np.concatenate([task.positives("train"), space.draw(120, task.positives("train"), rng)])
    # Another thing of the same place is the nearest wrong answer.
    left = rng.integers(0, 80, 160)
    near = space.keys(left, left // 8 * 8 + (left + rng.integers(1, 8, 160)) % 8)
    keys = np.unique(np.concatenate([keys, near]))
    label = task.labels(keys)
    plain, stacked = own.fit(keys, label, "combined", 1), own.fit(keys, label, "combined", 1, learner)
    positives = task.positives("test")

    def rank(scorer: MatcherScorer) -> float:
        found = scorer.candidates(task.space("test"))
        place = {key: place for place, key in enumerate(found.keys[np.argsort(-found.similarity, kind="stable")].tolist())}
        return float(np.mean([place.get(key, len(place) + 1000) for key in positives.tolist()]))

    assert stacked.matcher.learnt > 0 == plain.matcher.learnt
    assert rank(stacked) < rank(plain) / 2

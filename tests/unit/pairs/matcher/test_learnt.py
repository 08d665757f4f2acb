"""Vectors learnt from labels: texts that share no word are found once labels say what means the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cartograph.pairs.estimate import curve, draw_sample
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


def labelled(task: Task, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys of labelled train pairs, and their labels: all positives, pairs at random, and wrong ones of the same place."""
    rng, space = np.random.default_rng(seed), task.space("train")
    keys = np.concatenate([task.positives("train"), space.draw(120, task.positives("train"), rng)])
    left = rng.integers(0, 80, 160)
    near = space.keys(left, left // 8 * 8 + (left + rng.integers(1, 8, 160)) % 8)
    keys = np.unique(np.concatenate([keys, near]))
    return keys, task.labels(keys)


def matcher_task(task: Task) -> MatcherTask:
    features = Features(Records(task.left, task.right))
    return MatcherTask({split: block(task.space(split), 240, features, 3) for split in ("train", "dev", "test")}, lambda: features)


def learner_of(task: Task, folder: Path) -> Learner:
    save_untrained_bow(task, 0, folder, 64)
    return Learner("cosine-bow", task, str(folder))


@pytest.mark.slow
def test_learnt_vectors_find_what_likeness_cannot(task: Task, tmp_path: Path) -> None:
    own, learner, (keys, label) = matcher_task(task), learner_of(task, tmp_path), labelled(task, 0)
    plain, stacked = own.fit(keys, label, "combined", 1), own.fit(keys, label, "combined", 1, learner)
    positives = task.positives("test")

    def rank(scorer: MatcherScorer) -> float:
        found = scorer.candidates(task.space("test"))
        place = {key: place for place, key in enumerate(found.keys[np.argsort(-found.similarity, kind="stable")].tolist())}
        return float(np.mean([place.get(key, len(place) + 1000) for key in positives.tolist()]))

    assert stacked.matcher.learnt > 0 == plain.matcher.learnt
    assert rank(stacked) < rank(plain) / 2
    dev = draw_sample(task, "dev", own.calibrated(keys, label, "combined").candidates(task.space("dev")), 500, np.random.default_rng(0))
    assert own.better(stacked, keys, label, "combined", 1, dev) is stacked
    assert own.better(plain, keys, label, "combined", 1, dev) is plain


@pytest.mark.slow
def test_where_likeness_tells_all_vectors_of_few_labels_are_left_out(task: Task, tmp_path: Path) -> None:
    names = [f"{thing} no {place[4:]} of {other}" for place in PLACES for thing, other in zip(THINGS, OTHER, strict=True)]
    task = replace(task, left=names, right=[f"the {name.replace(' of', ',')}" for name in names])
    own, learner, (keys, label) = matcher_task(task), learner_of(task, tmp_path), labelled(task, 0)
    few = np.sort(np.random.default_rng(0).permutation(len(keys))[:40])
    fitted = own.fit(keys[few], label[few], "combined", 1, learner)
    dev = draw_sample(task, "dev", own.calibrated(keys, label, "combined").candidates(task.space("dev")), 500, np.random.default_rng(0))
    found = own.better(fitted, keys[few], label[few], "combined", 1, dev)

    def on_dev(scorer: MatcherScorer) -> float:
        return curve(dev, scorer.score(task.space("dev"), dev.keys)).average_precision

    assert fitted.matcher.learnt > 0 == found.matcher.learnt
    assert on_dev(found) >= on_dev(fitted)

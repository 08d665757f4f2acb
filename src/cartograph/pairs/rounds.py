"""One round of a collection: the pairs to ask about, and the score of the model trained on all labels so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cartograph.data.arrays import Array, Floats
from cartograph.errors import InputError
from cartograph.pairs import methods
from cartograph.pairs.balanced import accuracy_and_f1, clean_map
from cartograph.pairs.candidates import Candidates
from cartograph.pairs.estimate import NEAR, POSITIVE, RANDOM, Sample, curve
from cartograph.pairs.manual_correction import draw_false_positives
from cartograph.pairs.pair_space import Keys
from cartograph.pairs.scorer import Scorer
from cartograph.pairs.task import Task

SeedSet = Literal["similar", "spread", "stated", "random"]
_BINS = 10
_SHOWN = 25


@dataclass(frozen=True)
class Method:
    """How one arm of a collection chooses pairs.

    Attributes:
        name: of ``methods.METHODS``.
        seed: of everything drawn at random.
        seed_set: where an adaptive method begins.
    """

    name: str
    seed: int
    seed_set: SeedSet = "similar"


def require_budget(task: Task, sizes: list[int]) -> None:
    """Check that there are as many pairs as a collection asks about.

    Raises:
        InputError: there are fewer.
    """
    size = task.space("train").size
    if sum(sizes) > size:
        raise InputError(
            f"the budget is {sum(sizes):,} labels, but the train split has only {size:,} pairs; "
            "lower `collect.first_round` or `collect.rounds`."
        )


def next_batch(
    method: Method,
    task: Task,
    number: int,
    size: int,
    asked: Keys,
    similar: Candidates,
    model: Scorer | None,
    found_by_uncertainty: int = 0,
) -> Keys:
    """Return the pairs that a round asks about, none of which was asked before.

    Args:
        method: who chooses.
        task: whose train split.
        number: of the round, from 1.
        size: how many pairs; ``stated`` may give fewer.
        asked: ascending keys of all earlier rounds.
        similar: candidates under the encoder before any training, for ``static-retrieval`` and seed sets.
        model: after the earlier rounds; needed by adaptive methods from round 2 on.
        found_by_uncertainty: positives among the pairs that uncertainty sampling has asked about by the end of this round; for
            ``stratified-match``.

    Raises:
        InputError: fewer candidates are left.
    """
    space, rng = task.space("train"), np.random.default_rng((method.seed, number))
    name = method.name
    if name in methods.ADAPTIVE and number == 1:
        if method.seed_set == "spread":
            return methods.spread_out(similar, size, asked, rng)
        name = {"similar": "static-retrieval", "stated": "stated", "random": "random"}[method.seed_set]
    if name == "random":
        return methods.random_pairs(space, size, asked, rng)
    if name == "stated":
        return methods.random_stated_pairs(task.stated("train")[0], size, asked, rng)
    if name == "static-retrieval":
        return methods.most_similar(similar, size, asked)
    if name in methods.STRATIFIED:
        had = int(task.labels(asked).sum())
        wanted = size if name == "stratified-all-positives" else max(found_by_uncertainty - had, 0)
        return methods.stratified_pairs(space, task.positives("train"), wanted, size, asked, rng)
    if model is None:
        raise InputError(f"`{name}` chooses by a model, and there is no model yet.")
    near = model.candidates(space)
    if name == "adaptive-retrieval":
        return methods.most_similar(near, size, asked)
    return methods.least_certain(near, model.probability(near.similarity), size, asked)


@dataclass(frozen=True)
class RoundScore:
    """How good a model is on one split.

    Attributes:
        numbers: flat, by name.
        reliability: per tenth of probability: its mean, the share of positives, and how many pairs there are; over all pairs.
        mistakes: keys of the negatives that score highest, the highest first.
        mistake_probabilities: theirs.
        score: (n_sample,) of the sample.
        false_positives: ``near`` and ``random`` -> keys of false positives at recall 20 %, a few drawn for people to judge.
    """

    numbers: dict[str, float]
    reliability: list[dict[str, float]]
    mistakes: Keys
    mistake_probabilities: Floats
    score: Floats
    false_positives: dict[str, Keys]


def score(task: Task, split: str, sample: Sample, model: Scorer) -> RoundScore:
    """Score a model on all pairs of a split, by its sample, and on the split's stated pairs."""
    space = task.space(split)
    found = np.asarray(model.score(space, sample.keys), np.float64)
    precision_recall = curve(sample, found)
    probability = model.probability(found)
    threshold = precision_recall.threshold_at()
    above = found >= threshold
    numbers = {
        "average_precision": precision_recall.average_precision,
        "precision_at_recall_20": precision_recall.precision_at(),
        "pairs": float(sample.pairs),
        "positives": float(sample.positives),
        "near_negatives": float(np.count_nonzero(sample.kind == NEAR)),
        "random_negatives": float(np.count_nonzero(sample.kind == RANDOM)),
        "true_positives": float(sample.weight[above & (sample.kind == POSITIVE)].sum()),
        "false_positives.near": float(sample.weight[above & (sample.kind == NEAR)].sum()),
        "false_positives.random": float(sample.weight[above & (sample.kind == RANDOM)].sum()),
        **_balanced(task, split, model),
    }
    negative = np.flatnonzero(sample.kind != POSITIVE)
    worst = negative[np.lexsort((sample.keys[negative], -found[negative]))[:_SHOWN]]
    drawn = draw_false_positives(sample, found, threshold, np.random.default_rng(0))
    return RoundScore(numbers, _reliability(sample, probability), sample.keys[worst], probability[worst], found, drawn)


def balanced_pairs(task: Task, split: str) -> Keys | None:
    """Return the keys of the balanced test: a split's stated pairs and all its positives; None where no negative pair is stated."""
    stated, label = task.stated(split)
    return np.union1d(stated, task.positives(split)) if (label == 0).any() else None


def _balanced(task: Task, split: str, model: Scorer) -> dict[str, float]:
    space = task.space(split)
    keys = balanced_pairs(task, split)
    if keys is None:
        return {}
    labels = task.labels(keys)
    probability = model.probability(model.score(space, keys))
    accuracy, f1 = accuracy_and_f1(labels, probability)
    numbers = {"stated.pairs": float(len(keys)), "stated.positives": float(labels.sum()), "stated.accuracy": accuracy, "stated.f1": f1}
    mean = None if task.symmetric else clean_map(space.pairs(keys)[0], labels, probability)
    return numbers if mean is None else numbers | {"stated.clean_map": mean}


def _reliability(sample: Sample, probability: Array) -> list[dict[str, float]]:
    bins = np.minimum((probability * _BINS).astype(int), _BINS - 1)
    weight = np.bincount(bins, sample.weight, _BINS)
    mean = np.bincount(bins, sample.weight * probability, _BINS)
    positive = np.bincount(bins, sample.weight * (sample.kind == POSITIVE), _BINS)
    return [
        {"mean": float(mean[place] / weight[place]), "share": float(positive[place] / weight[place]), "pairs": float(weight[place])}
        for place in range(_BINS)
        if weight[place] > 0
    ]

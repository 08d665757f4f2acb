"""Classifiers scored on many weightings of the same rows at once: the bootstrap's arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Bools, Ids, Reals

METRICS = ("accuracy", "macro_f1")

_CELLS = 4_000_000
_LEVEL = (0.025, 0.975)


def scores(gold: Ids, predicted: Ids, weights: Reals, metrics: Sequence[str]) -> dict[str, Reals]:
    """Return each metric of each model under each weighting of the rows, all in [0, 1], higher = better.

    ``macro_f1`` is the unweighted mean of F1 over the classes that occur as gold or as predicted labels. A class none of whose rows a
    weighting has counts with its F1 on all rows: left out, a rare one that is never recognised would leave a mean that is too high.

    Args:
        gold: (n_examples,) label ids.
        predicted: (n_models, n_examples) label ids.
        weights: (n_examples, n_weightings), how often each row counts.
        metrics: of ``METRICS``.

    Returns:
        metric -> (n_weightings, n_models).

    Raises:
        ValueError: an unknown metric.
    """
    from scipy.sparse import csr_array

    unknown = set(metrics) - set(METRICS)
    if unknown:
        raise ValueError(f"unknown metric {min(unknown)!r}; known: {', '.join(METRICS)}")
    n_examples, classes = len(gold), int(max(gold.max(), predicted.max())) + 1
    columns = np.arange(n_examples)

    def counted(labels: Ids, rows: Bools | None = None) -> Reals:
        kept = columns if rows is None else columns[rows]
        one_hot = csr_array((np.ones(len(kept), weights.dtype), (labels[kept], kept)), shape=(classes, n_examples))
        counts: Reals = np.asarray(one_hot @ weights, dtype=np.float64)
        return counts

    total = weights.sum(axis=0, dtype=np.float64)
    expected = counted(gold) if "macro_f1" in metrics else None
    found: dict[str, list[Reals]] = {metric: [] for metric in metrics}
    for row in predicted:
        hits = counted(gold, row == gold)
        if "accuracy" in found:
            found["accuracy"].append(hits.sum(axis=0) / total)
        if expected is not None:
            both = expected + counted(row)
            whole = np.bincount(gold, minlength=classes) + np.bincount(row, minlength=classes)
            on_all = 2 * np.bincount(gold[row == gold], minlength=classes) / np.maximum(whole, 1)
            f1 = np.divide(2 * hits, both, out=np.broadcast_to(on_all[:, None], hits.shape).copy(), where=both > 0)
            found["macro_f1"].append(f1.sum(axis=0) / np.count_nonzero(whole))
    return {metric: np.stack(values, axis=1) for metric, values in found.items()}


def resampled_scores(gold: Ids, predicted: Ids, metrics: Sequence[str], resamples: int, rng: np.random.Generator) -> dict[str, Reals]:
    """Return each metric of each model on ``resamples`` draws of the rows with replacement; a draw is the same for all models.

    Takes memory for four million counts at a time, or one draw.

    Returns:
        metric -> (resamples, n_models).
    """
    n_examples = len(gold)
    at_once = max(1, min(resamples, _CELLS // n_examples))
    parts: list[dict[str, Reals]] = []
    for start in range(0, resamples, at_once):
        number = min(at_once, resamples - start)
        cells = rng.integers(0, n_examples, size=(n_examples, number)) * number + np.arange(number)
        weights = np.bincount(cells.reshape(-1), minlength=n_examples * number).reshape(n_examples, number)
        parts.append(scores(gold, predicted, weights.astype(np.float32), metrics))
    return {metric: np.concatenate([part[metric] for part in parts]) for metric in metrics}


@dataclass(frozen=True)
class SeedVariance:
    """What seeds differ by beyond what rows explain.

    Attributes:
        value: the variance of a number over seeds (ddof = 1), less the variance that drawing rows gives to a seed's departure from the
            mean of all; below 0 by chance where seeds hardly matter.
        freedom: its degrees of freedom; 0 = nothing is known.
    """

    value: float = 0.0
    freedom: float = 0.0


def seed_variance(values: Reals, rounds: Reals) -> SeedVariance:
    """Return what seeds differ by beyond rows.

    Args:
        values: (n_seeds,), n_seeds >= 1: a number of each model, or of each pair of models, on the rows as they are.
        rounds: (resamples, n_seeds): the same on each draw of the rows.
    """
    seeds = len(values)
    if seeds < 2:
        return SeedVariance()
    by_rows = (rounds - rounds.mean(axis=1)[:, None]).var(axis=0).sum() / (seeds - 1)
    return SeedVariance(float(values.var(ddof=1) - by_rows), seeds - 1)


def pooled(own: SeedVariance, others: Sequence[SeedVariance], most: float, shared: float = 1.0) -> SeedVariance:
    """Return what seeds do to a number, as itself and others of its kind show it: the mean, weighted by degrees of freedom.

    So a few repeats of many numbers are used together (Smyth 2004, Linear models and empirical Bayes methods).

    Args:
        own: of the number.
        others: of the others.
        most: degrees of freedom that the others count for at most, so that many do not drown the number's own.
        shared: part of the others' degrees of freedom that is news: they may be made of the same models.
    """
    freedom = sum(one.freedom for one in others)
    counted = min(freedom, most / shared)
    if not own.freedom + counted:
        return SeedVariance()
    mean = sum(one.value * one.freedom for one in others) / freedom if freedom else 0.0
    value = (own.value * own.freedom + mean * counted) / (own.freedom + counted)
    return SeedVariance(value, own.freedom + shared * counted)


def interval(values: Reals, rounds: Reals, rng: np.random.Generator, by_seeds: SeedVariance | None = None) -> dict[str, float]:
    """Return ``low`` and ``high``: the 95 % interval of a mean over seeds, for other rows of the same kind and other seeds.

    The middle 95 % of the rounds, each averaged over the seeds and moved by sqrt(σ²/n_seeds) times a draw of Student's t. σ² is what the
    seeds differ by beyond what rows explain, 0 or more, and t has its degrees of freedom. Two or three seeds say little of σ² by themselves
    (with one degree of freedom t goes to 12.7): ``pooled`` adds what others show. (To draw seeds with replacement as well would count the
    variance that row and seed have together three times: Owen 2007, The pigeonhole bootstrap.) With one seed, and nothing known from
    others, the interval is for other rows alone.

    Args:
        values: (n_seeds,), n_seeds >= 1: a number of each model, or of each pair of models, on the rows as they are.
        rounds: (resamples, n_seeds): the same on each draw of the rows.
        rng: of the draws of t.
        by_seeds: what seeds do; None: as these values alone show it.
    """
    return _ends(_moved(values, rounds, rng, by_seeds))


def paired_test(values: Reals, rounds: Reals, rng: np.random.Generator, by_seeds: SeedVariance | None = None) -> dict[str, float]:
    """Return ``low`` and ``high`` of the mean of a difference as ``interval`` does, and ``p`` of the test that there is no difference.

    ``p`` is twice the share of the moved rounds on the rarer side of 0, the difference as it is counted among them: in (0, 1], two-sided
    (Davison and Hinkley 1997, ch. 4). The interval leaves 0 out where p is below .05, but for rounding.

    Args:
        values: (n_seeds,), n_seeds >= 1: a difference of each pair of models, on the rows as they are.
        rounds: (resamples, n_seeds): the same on each draw of the rows.
        rng: of the draws of t.
        by_seeds: what seeds do; None: as these values alone show it.
    """
    means = _moved(values, rounds, rng, by_seeds)
    rarer = min(int(np.count_nonzero(means <= 0)), int(np.count_nonzero(means >= 0)))
    return {**_ends(means), "p": min(1.0, 2 * (rarer + 1) / (len(means) + 1))}


def _ends(means: Reals) -> dict[str, float]:
    low, high = np.quantile(means, _LEVEL)
    return {"low": float(low), "high": float(high)}


def _moved(values: Reals, rounds: Reals, rng: np.random.Generator, by_seeds: SeedVariance | None) -> Reals:
    resamples, seeds = rounds.shape
    means: Reals = rounds.mean(axis=1)
    known = seed_variance(values, rounds) if by_seeds is None else by_seeds
    # Models that predict alike with every seed are one model: nothing that others show is about them.
    if known.freedom and (rounds.any() or values.any()):
        means = means + math.sqrt(max(known.value, 0.0) / seeds) * rng.standard_t(known.freedom, resamples)
    return means

"""Classifiers scored on many weightings of the same rows at once: the bootstrap's arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cartograph.data.arrays import Bools, Ids, Reals

METRICS = ("accuracy", "macro_f1")

_CELLS = 4_000_000
_LEVEL = (0.025, 0.975)


def scores(gold: Ids, predicted: Ids, weights: Reals, metrics: Sequence[str]) -> dict[str, Reals]:
    """Return each metric of each model under each weighting of the rows, all in [0, 1], higher = better.

    ``macro_f1`` is the unweighted mean of F1 over the classes that occur, under the weighting, as gold or as predicted labels.

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
            f1 = np.divide(2 * hits, both, out=np.zeros_like(hits), where=both > 0)
            found["macro_f1"].append(f1.sum(axis=0) / (both > 0).sum(axis=0))
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


def interval(values: Reals, rounds: Reals, rng: np.random.Generator) -> dict[str, float]:
    """Return ``low`` and ``high``: the 95 % interval of a mean over seeds, for other rows of the same kind and other seeds.

    The middle 95 % of the rounds, each averaged over the seeds and moved by sqrt(σ²/n_seeds) times a draw of Student's t with
    n_seeds − 1 degrees of freedom. σ² is what the seeds differ by beyond what rows explain, 0 or more: the variance of ``values`` over
    the seeds (ddof = 1), less the variance that drawing rows gives to a seed's departure from the mean of all. (To draw seeds with
    replacement as well would count the variance that row and seed have together three times: Owen 2007, The
    pigeonhole bootstrap.) With one seed the interval is for other rows alone.

    Args:
        values: (n_seeds,), n_seeds >= 1: a number of each model, or of each pair of models, on the rows as they are.
        rounds: (resamples, n_seeds): the same on each draw of the rows.
        rng: of the draws of t.
    """
    return _ends(_moved(values, rounds, rng))


def paired_test(values: Reals, rounds: Reals, rng: np.random.Generator) -> dict[str, float]:
    """Return ``low`` and ``high`` of the mean of a difference as ``interval`` does, and ``p`` of the test that there is no difference.

    ``p`` is twice the share of the moved rounds on the rarer side of 0, the difference as it is counted among them: in (0, 1], two-sided
    (Davison and Hinkley 1997, ch. 4). The interval leaves 0 out where p is below .05, but for rounding.

    Args:
        values: (n_seeds,), n_seeds >= 1: a difference of each pair of models, on the rows as they are.
        rounds: (resamples, n_seeds): the same on each draw of the rows.
        rng: of the draws of t.
    """
    means = _moved(values, rounds, rng)
    rarer = min(int(np.count_nonzero(means <= 0)), int(np.count_nonzero(means >= 0)))
    return {**_ends(means), "p": min(1.0, 2 * (rarer + 1) / (len(means) + 1))}


def _ends(means: Reals) -> dict[str, float]:
    low, high = np.quantile(means, _LEVEL)
    return {"low": float(low), "high": float(high)}


def _moved(values: Reals, rounds: Reals, rng: np.random.Generator) -> Reals:
    resamples, seeds = rounds.shape
    means: Reals = rounds.mean(axis=1)
    if seeds > 1:
        by_rows = (rounds - means[:, None]).var(axis=0).sum() / (seeds - 1)
        by_seeds = max(float(values.var(ddof=1) - by_rows), 0.0)
        means = means + math.sqrt(by_seeds / seeds) * rng.standard_t(seeds - 1, resamples)
    return means

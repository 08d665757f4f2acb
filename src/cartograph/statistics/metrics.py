"""How good a classifier or a ranking is: what an audit reports as numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cartograph.data.arrays import Array, Bools, Floats, Ids, Reals
from cartograph.data.given import flags_of, numbers_of
from cartograph.errors import InputError

_BLOCK_ELEMENTS = 2**21


def accuracy(logits: Reals, gold: Ids) -> float:
    """Return the share of rows whose largest logit is the gold label's, in [0, 1].

    Args:
        logits: (n_examples, n_classes).
        gold: (n_examples,) label ids.

    Raises:
        ValueError: no rows, or arrays of different lengths.

    >>> accuracy(np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 1.0], [0.0, 9.0]]), np.array([0, 1, 1, 1]))
    0.75
    """
    _require_rows(logits, gold)
    return float(np.mean(logits.argmax(axis=1) == gold))


def cross_entropy(logits: Reals, gold: Ids) -> float:
    """Return the mean over rows of −log softmax(logits)[gold], in nats, ≥ 0.

    Args:
        logits: (n_examples, n_classes).
        gold: (n_examples,) label ids.

    Raises:
        ValueError: no rows, or arrays of different lengths.

    >>> round(cross_entropy(np.array([[0.0, 0.0]]), np.array([1])), 6)
    0.693147
    """
    _require_rows(logits, gold)
    size = max(1, _BLOCK_ELEMENTS // logits.shape[1])
    parts = [losses(logits[start : start + size], gold[start : start + size]) for start in range(0, len(gold), size)]
    return float(np.mean(np.concatenate(parts)))


def losses(logits: Reals, gold: Ids) -> Floats:
    """Return −log softmax(logits)[gold] of each row, in nats, ≥ 0; arguments as above."""
    wide = logits.astype(np.float64)
    top = wide.max(axis=1)
    total = top + np.log(np.exp(wide - top[:, None]).sum(axis=1))
    each: Floats = total - wide[np.arange(len(gold)), gold]
    return each


def macro_f1(logits: Reals, gold: Ids) -> float:
    """Return the unweighted mean of F1, in [0, 1], over the classes that occur as gold or as predicted labels.

    Args:
        logits: (n_examples, n_classes).
        gold: (n_examples,) label ids.

    Raises:
        ValueError: no rows, or arrays of different lengths.

    >>> round(macro_f1(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([0, 0, 1])), 4)
    0.6667
    """
    from sklearn.metrics import f1_score

    _require_rows(logits, gold)
    return float(f1_score(gold, logits.argmax(axis=1), average="macro", zero_division=0.0))


def average_precision(relevant: npt.ArrayLike, score: npt.ArrayLike) -> float:
    """Return the average precision of ranking by ``score``, highest first, in (0, 1].

    The mean over the relevant rows of the precision at each one's rank; rows of equal score share the last one's rank.
    A random ranking is expected to have the share of relevant rows.

    Args:
        relevant: (n_examples,) which rows are looked for.
        score: (n_examples,) higher = ranked before.

    Raises:
        InputError: no relevant row, arrays of different lengths, or a score that is no finite number.

    >>> round(average_precision(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])), 4)
    0.8333
    """
    from sklearn.metrics import average_precision_score

    wanted, ranked = flags_of(relevant, "relevant"), numbers_of(score, "score")
    if wanted.ndim != 1 or wanted.shape != ranked.shape or not len(wanted):
        raise InputError(f"`relevant` and `score` must have one entry per row, but have the shapes {wanted.shape} and {ranked.shape}.")
    if not np.isfinite(ranked).all():
        row = int(np.flatnonzero(~np.isfinite(ranked))[0])
        raise InputError(f"row {row + 1} has the score {ranked[row]}, where a finite number is needed to rank by; leave such rows out.")
    if not wanted.any():
        raise InputError("no row is relevant, so a ranking cannot be scored; mark those that are looked for in `relevant`.")
    return float(average_precision_score(wanted, ranked))


def precision_recall_at(relevant: Bools, rank: Ids, k: int) -> tuple[float, float]:
    """Return precision and recall of the first ``k`` rows of a ranking, each in [0, 1].

    With ``k`` = the number of relevant rows the two are equal.

    Args:
        relevant: (n_examples,) which rows are looked for.
        rank: (n_examples,) 1 = first.
        k: number of rows taken, from 1 to n_examples.

    Raises:
        ValueError: no relevant row, ``k`` out of range, or arrays of different lengths.

    >>> precision_recall_at(np.array([True, False, True]), np.array([1, 2, 3]), k=1)
    (1.0, 0.5)
    """
    _require_rows(relevant, rank)
    if not relevant.any():
        raise ValueError("no row is relevant, so a ranking cannot be scored")
    if not 1 <= k <= len(rank):
        raise ValueError(f"k must be from 1 to {len(rank)}, not {k}")
    found = int(np.count_nonzero(relevant & (rank <= k)))
    return found / k, found / int(np.count_nonzero(relevant))


def _require_rows(one: Array, other: Array) -> None:
    if len(one) != len(other):
        raise ValueError(f"both arrays must have one entry per row, but have {len(one)} and {len(other)}")
    if len(one) == 0:
        raise ValueError("there are no rows to score")

"""Measures of training dynamics: where each example lies on the data map, and how hard it was to learn.

Sources: Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), §2.1 and App. A.1; Toneva et al. (ICLR 2019), forgetting;
Chang et al. (NeurIPS 2017), threshold closeness; Pleiss et al. (NeurIPS 2020), area under the margin; Paul et al. (NeurIPS
2021), EL2N.

Logits are float32; everything after them is float64. Against a softmax in float32, as reference implementations have it,
a mean or deviation moves by about 1e-7, so maps published from such code come out the same to 1e-6; but a probability near 1
keeps its distance from 1, equal probabilities have variability 0 exactly, and processors whose vector units round
differently agree to far more digits than are shown. Sums run epoch by epoch and class by class in a written order, never
through BLAS: the numbers depend neither on the number of threads nor on the size of the blocks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cartograph.data.arrays import Array, Bools, Floats, Ids, Integers32, Objects
from cartograph.data.given import label_ids, numbers_of
from cartograph.data.kept_logits import KeptLogits, Logits
from cartograph.errors import InputError
from cartograph.wording import counted

Uids = Sequence[str] | Objects

NEVER_LEARNT = -1
"""The value of ``forgetting`` for an example that was right in no epoch: it was never learnt, so it was never forgotten."""

# Small enough for a processor's cache, long enough for numpy to pay where there are many classes.
_BLOCK_ELEMENTS, _LEAST_ROWS = 2**15, 2**10
_MOST_THREADS = 8


@dataclass(frozen=True)
class Measures:
    """The measures of n examples, each of shape ``(n_examples,)``, in the order of the rows given.

    Attributes:
        confidence: mean over epochs of the gold label's probability; [0, 1], higher = easier (§2.1).
        variability: standard deviation over epochs of that probability, divided by E (ddof = 0); [0, 0.5], higher = more
            ambiguous; 0 throughout where there is one epoch only (§2.1). With ``include_ci`` it may reach 0.56.
        correctness: fraction of epochs in which the gold label scored highest; [0, 1], higher = easier.
        predicted: the class with the highest mean probability; the lowest id where several tie.
        forgetting: how often the prediction went from right to wrong between consecutive epochs; ``NEVER_LEARNT`` where it
            was never right.
        aum: mean over epochs of the gold logit minus the largest other logit; any real number, low = suspect.
        el2n: mean over epochs of the Euclidean distance between probabilities and one-hot gold; [0, √2], higher = harder.
        loss: mean over epochs of the cross-entropy in nats; ≥ 0, higher = harder.

        out_of_fold_confidence: as confidence, by models that were not trained on the row.
        out_of_fold_variability: as variability, by these models.
        out_of_fold_margin: as aum, by these models: the area under the margin out of fold; low = suspect.

    ``predicted`` and all that follow are None where only coordinates were given; the last three are None without K-fold training.
    """

    confidence: Floats
    variability: Floats
    correctness: Floats
    predicted: Integers32 | None = None
    forgetting: Integers32 | None = None
    aum: Floats | None = None
    el2n: Floats | None = None
    loss: Floats | None = None
    out_of_fold_confidence: Floats | None = None
    out_of_fold_variability: Floats | None = None
    out_of_fold_margin: Floats | None = None

    def by_name(self) -> dict[str, Any]:
        """Return those that are known as arrays by their names.

        Raises:
            InputError: one holds no numbers, or they differ in their number of rows.
        """
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        found = {name: numbers_of(values, f"`{name}`") for name, values in given.items() if values is not None}
        for name, values in found.items():
            if values.ndim != 1 or len(values) != len(found["confidence"]):
                raise InputError(
                    f"`{name}` must have one entry per row of the measures ({len(found['confidence']):,}), but has the shape "
                    f"{values.shape}."
                )
        return found

    def with_out_of_fold(self, other: Measures) -> Measures:
        """Return these measures together with those of K-fold training on the same rows."""
        return replace(
            self,
            out_of_fold_confidence=other.confidence,
            out_of_fold_variability=other.variability,
            out_of_fold_margin=other.aum,
        )

    @property
    def threshold_closeness(self) -> Floats:
        """Confidence · (1 − confidence): [0, 0.25], highest where the mean probability is one half (Chang et al. 2017)."""
        return self.confidence * (1.0 - self.confidence)

    @property
    def never_learnt(self) -> Bools | None:
        """Whether an example was right in no epoch."""
        return None if self.forgetting is None else self.forgetting == NEVER_LEARNT


def epoch_window(n_epochs: int, burn_in: int = 0, epochs: int | None = None) -> slice:
    """Return the epochs that are used: ``burn_in`` skipped at the front, then the next ``epochs`` (all where None).

    Raises:
        InputError: there are not that many epochs, or none is asked for.
    """
    if burn_in < 0 or (epochs is not None and epochs < 1):
        raise InputError(f"`burn_in` must be 0 or more and `epochs` 1 or more, but they are {burn_in} and {epochs}.")
    if burn_in >= n_epochs:
        raise InputError(
            f"`burn_in` skips {counted(burn_in, 'epoch')} and the dynamics have {n_epochs}: none is left; "
            f"set it to {n_epochs - 1} or less, or train longer."
        )
    stop = n_epochs if epochs is None else burn_in + epochs
    if stop > n_epochs:
        left = f"{n_epochs - burn_in} after a `burn_in` of {burn_in}" if burn_in else f"{n_epochs}"
        raise InputError(f"`epochs` asks for {counted(stop - burn_in, 'epoch')} and the dynamics have {left}; lower it, or write `all`.")
    return slice(burn_in, stop)


def compute_measures(
    uids: Uids,
    logits: Logits | npt.ArrayLike,
    gold: npt.ArrayLike,
    *,
    burn_in: int = 0,
    epochs: int | None = None,
    include_ci: bool = False,
    block: int | None = None,
) -> Measures:
    """Return every measure of every example: confidence, variability, correctness and more (Swayamdipta et al., EMNLP 2020, §2.1).

    Args:
        uids: names of the rows, for error messages; length n_examples.
        logits: unnormalised scores, ``(n_examples, n_epochs, n_classes)``.
        gold: given label ids, ``(n_examples,)``, in [0, n_classes).
        burn_in: epochs left out at the front.
        epochs: epochs used after those; all where None.
        include_ci: widen variability to sqrt(var + var² / (E − 1)); needs two epochs.
        block: rows worked on at a time; changes the memory used, never the result.

    Raises:
        InputError: shapes that do not fit, a label that is no integer or outside the classes, a logit that is no finite number (naming
            uid and epoch), or an epoch window that does not fit.

    >>> logits = np.array([[[0.0, 0.0], [0.0, 4.0]]], dtype=np.float32)
    >>> measures = compute_measures(["a"], logits, np.array([1]))
    >>> measures.confidence.round(3), measures.correctness
    (array([0.741]), array([0.5]))
    """
    scores, labels = _read_in(logits), label_ids(gold, "gold labels")
    _check_shapes(uids, scores, labels)
    window = epoch_window(scores.shape[1], burn_in, epochs)
    n_epochs = window.stop - window.start
    if include_ci and n_epochs < 2:
        raise InputError("`include_ci` divides by the number of epochs less one and one epoch is used; use two or more, or switch it off.")

    def measured(rows: slice) -> tuple[Array, ...]:
        found = _measure([_read(uids, scores, labels, rows, epoch) for epoch in range(window.start, window.stop)], include_ci)
        if isinstance(scores, KeptLogits):
            return (*found[:3], scores[rows, window].mean_shares().classes[:, 0], *found[4:])
        return found

    # NumPy lets go of the interpreter while it computes; the parts come back in order, so threads change nothing but the time.
    with ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS)) as pool:
        parts = list(pool.map(measured, _blocks(scores.shape, block)))
    return Measures(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def gold_probabilities(uids: Uids, logits: Logits, gold: Ids) -> Floats:
    """Return the gold label's probability in each epoch, ``(n_examples, n_epochs)``, each in [0, 1].

    Raises:
        InputError: as ``compute_measures`` does.
    """
    _check_shapes(uids, logits, gold)
    probabilities = np.empty(logits.shape[:2], dtype=np.float64)
    for rows in _blocks(logits.shape, None):
        for epoch in range(logits.shape[1]):
            probabilities[rows, epoch] = _read(uids, logits, gold, rows, epoch).probability
    return probabilities


def mean_and_deviation(epochs: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return mean and standard deviation (ddof = 0) over epochs of probabilities, one array of shape ``(n_examples,)`` an epoch."""
    # Around the first epoch, so that equal probabilities have exactly that mean and exactly no deviation.
    shifted = [epoch - epochs[0] for epoch in epochs]
    shift = _sum(shifted) / len(epochs)
    variance = _sum([(value - shift) ** 2 for value in shifted]) / len(epochs)
    return np.clip(epochs[0] + shift, 0.0, 1.0), np.minimum(np.sqrt(variance), 0.5)


class _Reading(NamedTuple):
    """One epoch of one block of b rows."""

    probabilities: Floats  # (n_classes, b)
    probability: Floats  # of the gold label, (b,) as all below
    correct: Bools
    margin: Floats
    distance: Floats
    loss: Floats


def _read(uids: Uids, logits: Logits, gold: Ids, rows: slice, epoch: int) -> _Reading:
    given = gold[rows].astype(np.intp)
    # Classes first: reductions over a handful of classes then run along the rows, which is many times faster.
    if isinstance(logits, KeptLogits):
        scores, number = logits.against(given, rows, epoch)
        read = np.concatenate([logits.values[rows, epoch].T, logits.rest[rows, epoch][None]])
        ids = np.concatenate([logits.classes[rows, epoch].T, np.full((1, len(given)), logits.n_classes), given[None]])
        place = np.full(len(given), len(scores) - 1)
    else:
        scores = np.ascontiguousarray(logits[rows, epoch].T, dtype=np.float64)
        number, ids, place, read = None, None, given, scores
    if not np.isfinite(read).all():
        raise _not_finite(uids, read, rows, epoch)
    at_gold = place * len(given) + np.arange(len(given))
    own = scores.ravel()[at_gold]
    scores.ravel()[at_gold] = -np.inf
    rival = scores.max(axis=0)
    scores.ravel()[at_gold] = own
    margin, top = own - rival, np.maximum(own, rival)
    correct = margin > 0
    tied = np.flatnonzero(margin == 0)
    if ids is None:
        correct[tied] = scores[:, tied].argmax(axis=0) == given[tied]
    else:
        correct[tied] = np.where(scores[:, tied] == top[tied], ids[:, tied], logits.shape[2]).min(axis=0) == given[tied]
    probabilities = np.exp(scores - top)
    if number is not None:
        probabilities[-2] *= number
    total = _sum(probabilities)
    probabilities /= total
    probability = probabilities.ravel()[at_gold]
    residual = probabilities * probabilities
    residual.ravel()[at_gold] = (1.0 - probability) ** 2
    if number is not None:
        residual[-2] /= number
    return _Reading(probabilities, probability, correct, margin, np.sqrt(_sum(residual)), np.log(total) + (top - own))


def _measure(readings: Sequence[_Reading], include_ci: bool) -> tuple[Array, ...]:
    n_epochs = len(readings)
    confidence, variability = mean_and_deviation([reading.probability for reading in readings])
    if include_ci:
        variance = variability * variability
        variability = np.sqrt(variance + variance * variance / (n_epochs - 1))
    correct = np.stack([reading.correct for reading in readings])
    hits = correct.sum(axis=0)
    forgotten = (correct[:-1] & ~correct[1:]).sum(axis=0)
    return (
        confidence,
        variability,
        hits / n_epochs,
        _sum([reading.probabilities for reading in readings]).argmax(axis=0).astype(np.int32),
        np.where(hits == 0, NEVER_LEARNT, forgotten).astype(np.int32),
        _sum([reading.margin for reading in readings]) / n_epochs,
        _sum([reading.distance for reading in readings]) / n_epochs,
        _sum([reading.loss for reading in readings]) / n_epochs,
    )


def _read_in(logits: Logits | npt.ArrayLike) -> Logits:
    return logits if isinstance(logits, KeptLogits) else numbers_of(logits, "logits")


def _sum(terms: Sequence[Floats] | Floats) -> Floats:
    # In the order given: numpy's own order depends on the memory layout, hence on the size of the block.
    total = terms[0].copy()
    for term in terms[1:]:
        total += term
    return total


def _blocks(shape: tuple[int, ...], block: int | None) -> Iterator[slice]:
    n_examples, _, n_classes = shape
    size = block or max(_LEAST_ROWS, _BLOCK_ELEMENTS // n_classes)
    # An empty table still makes one block, of no rows.
    return (slice(start, min(start + size, n_examples)) for start in range(0, max(n_examples, 1), size))


def _check_shapes(uids: Uids, logits: Logits, gold: Ids) -> None:
    if logits.ndim != 3 or logits.shape[1] < 1 or logits.shape[2] < 2 or gold.shape != logits.shape[:1] or len(uids) != len(gold):
        raise InputError(
            "logits of shape (examples, epochs ≥ 1, classes ≥ 2) with one gold label and one uid per example are needed, but logits "
            f"have shape {logits.shape}, gold {gold.shape}, and there are {len(uids)} uids; check the dynamics files."
        )
    outside = np.flatnonzero((gold < 0) | (gold >= logits.shape[2]))
    if len(outside):
        raise InputError(
            f"uid {uids[outside[0]]!r} has gold label {gold[outside[0]]}, but the logits have classes 0 to {logits.shape[2] - 1} "
            f"({counted(len(outside), 'such row')}); the dynamics were recorded with other labels than the data's."
        )


def _not_finite(uids: Uids, scores: Floats, rows: slice, epoch: int) -> InputError:
    bad = np.flatnonzero(~np.isfinite(scores).all(axis=0))
    column = scores[:, bad[0]]
    value = column[~np.isfinite(column)][0]
    return InputError(
        f"epoch {epoch} has the logit {value} for uid {uids[rows.start + bad[0]]!r}, where a finite number is needed; the training "
        "diverged: lower the learning rate, or skip or leave out such epochs with `burn_in` and `epochs`."
    )

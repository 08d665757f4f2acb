"""Logits and probabilities of many classes: of each row those classes that count, and what all others have together.

With three classes a row's logits are three numbers; with a thousand they are a thousand in every epoch, of which nearly all are near
nothing. Above ``WHOLE`` classes a row keeps its own label's logit, the ``KEPT`` highest of the others, and one number for the rest: the
logit that each of them would have if all had the same and weighed as much together as they do. Probabilities of kept classes, confidence,
margin and loss are thus exact; what is shared out evenly is only who among the rest has how much.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from cartograph.data.arrays import Array, Floats, Floats32, Ids, Integers, Integers32, Reals

WHOLE, KEPT = 128, 16
"""Most classes of which every logit is kept; above, the number of others that a row keeps beside its own label's."""

_BLOCK = 20_000


def keep(logits: Reals, gold: Ids) -> tuple[Integers32, Floats32, Floats32]:
    """Return what a row keeps of its logits: classes (n, k), its own label first, their logits (n, k), and the rest's (n,).

    Args:
        logits: (n_examples, n_classes), of more than ``WHOLE`` classes; rows with a number that is not finite keep it.
        gold: (n_examples,) label ids.
    """
    rows = np.arange(len(logits))
    others = np.array(logits, dtype=np.float32)
    own = others[rows, gold]
    others[rows, gold] = -np.inf
    others[np.isnan(others)] = np.inf
    top = np.argpartition(others, -KEPT, axis=1)[:, -KEPT:]
    top = np.take_along_axis(top, np.argsort(-np.take_along_axis(others, top, axis=1), axis=1, kind="stable"), axis=1)
    classes = np.concatenate([np.asarray(gold)[:, None], top], axis=1).astype(np.int32)
    values = np.concatenate([own[:, None], np.take_along_axis(np.asarray(logits, dtype=np.float32), top, axis=1)], axis=1)
    np.put_along_axis(others, top, -np.inf, axis=1)
    highest = others.max(axis=1)
    mean = np.exp(others - highest[:, None]).sum(axis=1, dtype=np.float64) / (logits.shape[1] - KEPT - 1)
    # Rounding must not put the rest above a class that is kept because it is higher than each of them.
    return classes, values, np.minimum((highest + np.log(mean)).astype(np.float32), highest)


def spread(classes: Integers32, values: Reals, rest: Reals, n_classes: int) -> Floats32:
    """Return the whole rows (n, n_classes) that ``keep`` kept these numbers of; all classes that were not kept are alike."""
    whole = np.repeat(rest.astype(np.float32)[:, None], n_classes, axis=1)
    np.put_along_axis(whole, classes.astype(np.int64), values.astype(np.float32), axis=1)
    return whole


@dataclass(frozen=True, repr=False)
class KeptShares:
    """Class probabilities of n rows.

    Attributes:
        classes: (n_examples, k) class ids, the most probable first.
        values: (n_examples, k) their probabilities; all other classes have the same, so that a row sums to 1.
        n_classes: number of classes, above k.
    """

    classes: Integers32
    values: Floats
    n_classes: int

    def __repr__(self) -> str:
        return f"KeptShares({len(self.classes):,} rows, {self.classes.shape[1]} of {self.n_classes:,} classes each)"

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of classes."""
        return len(self.classes), self.n_classes

    @property
    def rest(self) -> Floats:
        """What each class that is not kept has, (n_examples,)."""
        left = np.maximum(1.0 - self.values.sum(axis=1), 0.0)
        return np.asarray(left / (self.n_classes - self.classes.shape[1]), dtype=np.float64)

    def of(self, labels: Ids) -> Floats:
        """Return the probability of one class a row, (n_examples,)."""
        own = self.classes == np.asarray(labels)[:, None]
        return np.where(own.any(axis=1), np.where(own, self.values, 0.0).sum(axis=1), self.rest)

    def other_than(self, labels: Ids) -> Integers32:
        """Return each row's most probable class other than the given one, (n_examples,)."""
        second = self.classes[:, 0] == labels
        return np.where(second, self.classes[:, 1], self.classes[:, 0]).astype(np.int32)

    def take(self, rows: Ids) -> KeptShares:
        """Return some rows."""
        return KeptShares(self.classes[rows], self.values[rows], self.n_classes)

    def dense(self) -> Floats:
        """Return the probabilities of all classes, (n_examples, n_classes)."""
        whole = np.repeat(self.rest[:, None], self.n_classes, axis=1)
        np.put_along_axis(whole, self.classes.astype(np.int64), self.values, axis=1)
        return whole


@dataclass(frozen=True, repr=False, eq=False)
class KeptLogits:
    """Logits of n rows in E epochs; ``np.asarray`` makes the whole array of them.

    Attributes:
        classes: (n_examples, n_epochs, k) class ids, each once.
        values: (n_examples, n_epochs, k) their logits.
        rest: (n_examples, n_epochs) the logit that every other class is taken to have.
        n_classes: number of classes, above k.
    """

    classes: Integers32
    values: Floats32
    rest: Floats32
    n_classes: int

    ndim = 3

    def __repr__(self) -> str:
        return f"KeptLogits(shape={self.shape}, {self.classes.shape[2]} classes kept)"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of examples, epochs and classes."""
        return (*self.rest.shape, self.n_classes)

    @overload
    def __getitem__(self, key: tuple[slice, int]) -> Floats32: ...
    @overload
    def __getitem__(self, key: tuple[slice, slice]) -> KeptLogits: ...
    def __getitem__(self, key: tuple[slice, Any]) -> Floats32 | KeptLogits:
        """Return some rows in some epochs; of one epoch, by its number, as an array (n, n_classes)."""
        parts = self.classes[key], self.values[key], self.rest[key]
        return spread(*parts, self.n_classes) if parts[2].ndim == 1 else KeptLogits(*parts, self.n_classes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return all logits, (n_examples, n_epochs, n_classes)."""
        whole: Array = np.stack([self[:, epoch] for epoch in range(self.shape[1])], axis=1)
        return whole if dtype is None else whole.astype(dtype)

    def renamed(self, ids: Ids) -> KeptLogits:
        """Return the same logits with each class id replaced by ``ids[id]``."""
        return KeptLogits(np.asarray(ids)[self.classes].astype(np.int32), self.values, self.rest, self.n_classes)

    def against(self, labels: Ids, rows: slice, epoch: int) -> tuple[Floats, Floats]:
        """Return the logits of these rows in an epoch, a label's apart from the others'.

        Args:
            labels: label id of each of the rows, ``(n_rows,)``.
            rows: of all rows, those that are wanted.
            epoch: from 0 on.

        Returns:
            logits of the classes kept (-inf in place of the label's), of each of the rest, and of the label, ``(n_kept + 2, n_rows)``;
            and how many classes the rest is, ``(n_rows,)``.
        """
        classes, values = self.classes[rows, epoch], self.values[rows, epoch].astype(np.float64)
        rest = self.rest[rows, epoch].astype(np.float64)
        same = classes == labels[:, None]
        kept = same.any(axis=1)
        own = np.where(kept, np.where(same, values, 0.0).sum(axis=1), rest)
        number = self.n_classes - classes.shape[1] - np.where(kept, 0.0, 1.0)
        scores = np.empty((classes.shape[1] + 2, len(labels)))
        scores[:-2], scores[-2], scores[-1] = np.where(same, -np.inf, values).T, rest, own
        return scores, number

    def mean_shares(self) -> KeptShares:
        """Return the mean over epochs of the class probabilities; of each row the most probable classes."""
        parts = [self._mean_shares(slice(start, start + _BLOCK)) for start in range(0, max(len(self.rest), 1), _BLOCK)]
        classes, values = zip(*parts, strict=True)
        return KeptShares(np.concatenate(classes), np.concatenate(values), self.n_classes)

    def _mean_shares(self, rows: slice) -> tuple[Integers32, Floats]:
        n_epochs, kept = self.classes.shape[1:]
        values, rest = self.values[rows].astype(np.float64), self.rest[rows].astype(np.float64)
        top = np.maximum(values.max(axis=2), rest)
        values, rest = np.exp(values - top[:, :, None]), np.exp(rest - top)
        total = values.sum(axis=2) + (self.n_classes - kept) * rest
        values, rest = values / total[:, :, None], rest / total
        # A class has its own probability where it was kept, and the rest's in the other epochs.
        above = (values - rest[:, :, None]).reshape(len(rest), -1) / n_epochs
        classes, above = _summed(self.classes[rows].reshape(len(rest), -1), above)
        order = np.argsort(-above, axis=1, kind="stable")[:, :KEPT]
        shares = np.take_along_axis(above, order, axis=1) + rest.mean(axis=1, keepdims=True)
        return np.take_along_axis(classes, order, axis=1), np.clip(shares, 0.0, 1.0)


def _summed(classes: Integers32, values: Floats) -> tuple[Integers32, Floats]:
    """Return each row's classes once, with the sums of their values; in the places of repetitions minus infinity."""
    order = np.argsort(classes, axis=1, kind="stable")
    classes, values = np.take_along_axis(classes, order, axis=1), np.take_along_axis(values, order, axis=1)
    first = np.ones(classes.shape, bool)
    first[:, 1:] = classes[:, 1:] != classes[:, :-1]
    group = np.cumsum(first.ravel()) - 1
    sums = np.bincount(group, weights=values.ravel())
    return classes, np.where(first, sums[group].reshape(values.shape), -np.inf)


def most_probable(shares: Reals, labels: Ids) -> tuple[Integers32, Floats]:
    """Return what ``KeptShares`` keeps of whole rows (n, n_classes): each one's most probable classes, its own label among them."""
    top = np.argpartition(shares, -KEPT, axis=1)[:, -KEPT:].astype(np.int64)
    values = np.take_along_axis(shares, top, axis=1)
    rows, given = np.arange(len(shares)), np.asarray(labels)
    lacking = ~(top == given[:, None]).any(axis=1)
    least = values.argmin(axis=1)
    top[rows[lacking], least[lacking]] = given[lacking]
    values[rows[lacking], least[lacking]] = shares[rows[lacking], given[lacking]]
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(top, order, axis=1).astype(np.int32), np.take_along_axis(values, order, axis=1).astype(np.float64)


def in_blocks(number: int, n_classes: int, elements: int = 2**22) -> Iterator[slice]:
    """Yield the rows in blocks of about so many elements each."""
    size = max(1, elements // n_classes)
    return (slice(start, min(start + size, number)) for start in range(0, number, size))


Logits = Floats32 | KeptLogits
Shares = Floats | KeptShares


def share_of(shares: Shares, labels: Ids) -> Floats:
    """Return the probability of one class a row, (n_examples,)."""
    if isinstance(shares, KeptShares):
        return shares.of(labels)
    own: Floats = shares[np.arange(len(labels)), labels]
    return own


def first_of(shares: Shares) -> tuple[Integers, Floats]:
    """Return each row's most probable class and its probability, both (n_examples,)."""
    if isinstance(shares, KeptShares):
        return shares.classes[:, 0].astype(np.int64), shares.values[:, 0]
    return shares.argmax(axis=1), shares.max(axis=1)

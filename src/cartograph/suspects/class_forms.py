"""Labels doubted as if classes that differ in their form only were one, so that no label is wrong for how it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cartograph.data.arrays import Bools, Ids, Integers
from cartograph.data.kept_logits import KeptShares, Shares
from cartograph.ingest.label_forms import other_forms
from cartograph.suspects.committee import Committee


@dataclass(frozen=True)
class ClassForms:
    """Which classes are another form of which.

    Attributes:
        first: (n_classes,) id of the class that each is another form of; its own id where it is no other form.
    """

    first: Integers

    @property
    def alone(self) -> bool:
        """Whether all labels are forms of one class, so that none can be doubted."""
        return len(self.first) > 1 and len(np.unique(self.first)) == 1

    @property
    def classes(self) -> Integers:
        """Ids of the classes that are left when forms are put together, ``(n_left,)``; all where only one would be."""
        number = np.arange(len(self.first))
        return number if self.alone else number[self.first == number]

    def committee(self, of: Callable[[Ids, Integers], Committee], labels: Ids) -> Committee:
        """Return what a committee says of rows under the classes that are left, in terms of all classes.

        Args:
            of: makes the committee of label ids, ``(n_examples,)``, each the place of one of the classes that it is given.
            labels: ids of all classes, ``(n_examples,)``.
        """
        left = self.classes
        if len(left) == len(self.first):
            return of(labels, left)
        found = of(np.searchsorted(left, self.first[labels]).astype(np.int32), left)
        doubt = found.doubt
        pairs = tuple(replace(pair, given=int(left[pair.given]), true=int(left[pair.true])) for pair in doubt.pairs)
        transition = None
        if doubt.transition is not None:
            transition = np.eye(len(self.first))
            transition[np.ix_(left, left)] = doubt.transition
        shares = self.named(self._spread(found.probabilities), labels)
        return replace(found, probabilities=shares, doubt=replace(doubt, transition=transition, pairs=pairs))

    def together(self, shares: Shares) -> Shares:
        """Return class probabilities ``(n_examples, n_classes)`` with those of other forms added to the class that they are forms of."""
        others = np.flatnonzero(self.first != np.arange(len(self.first)))
        if self.alone or not len(others):
            return shares
        if isinstance(shares, KeptShares):
            return self._kept_together(shares)
        summed = shares.copy()
        np.add.at(summed.T, self.first[others], shares.T[others])
        summed[:, others] = 0.0
        return summed

    def named(self, shares: Shares, labels: Ids) -> Shares:
        """Return class probabilities, ``together``, in which a row labelled with another form has its class's under that name."""
        given = np.asarray(labels, dtype=np.int64)
        meant = self.first[given]
        rows = np.flatnonzero(meant != given)
        if self.alone or not len(rows):
            return shares
        if isinstance(shares, KeptShares):
            kept, own, other = shares.classes, given[:, None], meant[:, None]
            swapped = np.where(kept == other, own, np.where(kept == own, other, kept)).astype(np.int32)
            return KeptShares(swapped, shares.values, shares.n_classes)
        renamed = shares.copy()
        renamed[rows, given[rows]], renamed[rows, meant[rows]] = shares[rows, meant[rows]], shares[rows, given[rows]]
        return renamed

    def same(self, labels: Ids, others: Ids) -> Bools:
        """Return of each row whether its two labels are forms of one class, ``(n_examples,)``."""
        same: Bools = self.first[labels] == self.first[others]
        return same

    def of_left(self, shares: Shares) -> Shares:
        """Return class probabilities of the classes that are left, ``(n_examples, n_left)``, each with those of its forms."""
        left, summed = self.classes, self.together(shares)
        if len(left) == len(self.first):
            return shares
        if not isinstance(summed, KeptShares):
            return summed[:, left]
        classes = summed.classes.copy()
        # Of a form nothing is left: in its place stands a class that was not kept.
        gone = self.first[classes] != classes
        for row in np.flatnonzero(gone.any(axis=1)).tolist():
            free = np.setdiff1d(left, classes[row])
            classes[row, gone[row]] = free[: int(gone[row].sum())]
        return KeptShares(np.searchsorted(left, classes).astype(np.int32), summed.values, len(left))

    def _spread(self, shares: Shares) -> Shares:
        """Return probabilities of the classes that are left as those of all classes."""
        if isinstance(shares, KeptShares):
            return KeptShares(self.classes[shares.classes].astype(np.int32), shares.values, len(self.first))
        whole = np.zeros((len(shares), len(self.first)))
        whole[:, self.classes] = shares
        return whole

    def _kept_together(self, shares: KeptShares) -> KeptShares:
        classes, values = shares.classes, shares.values
        meant = self.first[classes]
        # A class stands before its other forms, and equal classes side by side; then the first of each has what all have together.
        order = np.lexsort((meant != classes, meant), axis=1)
        classes, values = np.take_along_axis(classes, order, axis=1), np.take_along_axis(values, order, axis=1)
        meant = np.take_along_axis(meant, order, axis=1)
        begins = np.ones(meant.shape, bool)
        begins[:, 1:] = meant[:, 1:] != meant[:, :-1]
        group = np.cumsum(begins.ravel()) - 1
        sums = np.bincount(group, weights=values.ravel())[group].reshape(values.shape)
        classes, values = np.where(begins, meant, classes).astype(np.int32), np.where(begins, sums, 0.0)
        order = np.argsort(-values, axis=1, kind="stable")
        return KeptShares(np.take_along_axis(classes, order, axis=1), np.take_along_axis(values, order, axis=1), shares.n_classes)


def class_forms(names: Sequence[str], labels: Ids) -> ClassForms:
    """Return which of the classes are another form of which (``ingest.label_forms.other_forms``).

    Args:
        names: (n_classes,) by id.
        labels: (n_examples,) ids of all rows.

    >>> class_forms(["pos", "Pos ", "neg"], np.array([0, 0, 1, 2])).first.tolist()
    [0, 0, 2]
    """
    counts = np.bincount(labels, minlength=len(names)).tolist()
    ids = {name: number for number, name in enumerate(names)}
    first = np.arange(len(names))
    for name, most in other_forms(dict(zip(names, counts, strict=True))).items():
        first[ids[name]] = ids[most]
    return ClassForms(first)

"""The rows that are left after each round: of the pool, and of evaluation sets that are filtered with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cartograph.adversarial_filter.classifiers import Classifier, Rows
from cartograph.adversarial_filter.forecast import Report
from cartograph.adversarial_filter.result import FilteredSet, Result, Round
from cartograph.adversarial_filter.slices import choose_alike
from cartograph.adversarial_filter.splits import random_splits
from cartograph.data.arrays import Array, Bools, Floats, Integers


class _Remaining:
    """The rows of a set that are left, and what is known of all of them."""

    def __init__(self, features: Any, labels: Array) -> None:
        self._features, self._labels = features, labels
        self.rows = np.arange(len(labels), dtype=np.int64)
        self._removed_in_round = np.zeros(len(labels), np.int32)
        self._first, self._last = np.full(len(labels), np.nan), np.full(len(labels), np.nan)

    def note(self, predictability: Floats) -> None:
        """Store this round's predictability of the rows that are left, NaN where a row was never held out."""
        known = ~np.isnan(predictability)
        fresh = known & np.isnan(self._first[self.rows])
        self._first[self.rows[fresh]] = predictability[fresh]
        self._last[self.rows[known]] = predictability[known]

    def drop(self, gone: Bools, number: int) -> None:
        """Remove some of the rows that are left in a round."""
        self._removed_in_round[self.rows[gone]] = number
        self.rows = self.rows[~gone]

    def filtered(self) -> FilteredSet:
        """Return the result of all rounds."""
        return FilteredSet(self._removed_in_round == 0, self._removed_in_round, self._first, self._last)


class EvaluationPool(_Remaining):
    """An evaluation set that is filtered with the pool."""

    def rows_of(self, names: Array) -> Rows:
        """Return the rows that are left, labels as places in ``names``."""
        own = self._labels[self.rows]
        places = np.searchsorted(names, own).clip(max=len(names) - 1)
        return Rows(self._features, self.rows, np.where(names[places] == own, places, -1).astype(np.int64))

    def remove(self, pool: Floats, gone: Bools, number: int, rng: np.random.Generator) -> None:
        """Remove as large a share of the rows at each predictability as of the pool's."""
        self.drop(choose_alike(self._last[self.rows], pool, gone, rng), number)


class Pool(_Remaining):
    """The rows that are left, and the predictability of all rows so far."""

    def __init__(
        self,
        features: Any,
        labels: Array,
        groups: Array | None,
        classifier: Classifier,
        n_partitions: int,
        train_size: int,
        seed: int,
        evaluation: Mapping[str, tuple[Any, Array]],
    ) -> None:
        super().__init__(features, labels)
        self._groups = groups
        self._classifier, self._n_partitions, self._train_size, self._seed = classifier, n_partitions, train_size, seed
        self.number = 0
        self.history: list[Round] = []
        self._n_predictions = np.zeros(len(labels), np.int32)
        self._others = {name: EvaluationPool(others, np.asarray(theirs)) for name, (others, theirs) in evaluation.items()}

    @property
    def one_class(self) -> bool:
        """Whether all rows that are left have the same label."""
        own = self._labels[self.rows]
        return bool((own == own[0]).all())

    @property
    def one_group(self) -> bool:
        """Whether all rows that are left are of one group, so that none can be held out."""
        if self._groups is None:
            return False
        own = self._groups[self.rows]
        return bool((own == own[0]).all())

    def measure(self, report: Report) -> None:
        """Split, fit and predict: set the predictability of the rows that are left, NaN where a row was never held out.

        Args:
            report: called with the share of this that is done, as ``Classifier.tally`` calls it.
        """
        self.number += 1
        names, labels = np.unique(self._labels[self.rows], return_inverse=True)
        groups = None if self._groups is None else self._groups[self.rows]
        train = random_splits(len(self.rows), self._train_size, self._n_partitions, (self._seed, 0, self.number), groups)
        counts = (self._n_partitions - train.sum(axis=1)).astype(np.int32)
        own = Rows(self._features, self.rows, labels.astype(np.int64))
        others = [other.rows_of(names) for other in self._others.values()]
        right, theirs = self._classifier.tally(own, train, others, self._seed, report)
        self.predictability = np.divide(right, counts, out=np.full(len(right), np.nan), where=counts > 0)
        self._accuracy = float(right.sum() / max(int(counts.sum()), 1))
        self.note(self.predictability)
        self._n_predictions[self.rows] = counts
        for other, tally in zip(self._others.values(), theirs, strict=True):
            other.note(tally / self._n_partitions)

    def remove(self, chosen: Integers, threshold: float) -> None:
        """Remove the rows at these places, and record the round."""
        known = self.predictability[~np.isnan(self.predictability)]
        self.history.append(
            Round(
                number=self.number,
                size=len(self.rows),
                bias=float(known.mean()) if len(known) else float("nan"),
                accuracy=self._accuracy,
                eligible=int((known >= threshold).sum()),
                removed=len(chosen),
                never_held_out=len(self.rows) - len(known),
            )
        )
        gone = np.zeros(len(self.rows), bool)
        gone[chosen] = True
        for place, other in enumerate(self._others.values()):
            other.remove(self.predictability, gone, self.number, np.random.default_rng([self._seed, 2, self.number, place]))
        self.drop(gone, self.number)

    def result(self, stop_reason: str) -> Result:
        """Return the result of all rounds."""
        return Result(
            **vars(self.filtered()),
            n_predictions=self._n_predictions,
            history=tuple(self.history),
            stop_reason=stop_reason,
            evaluation={name: other.filtered() for name, other in self._others.items()},
        )

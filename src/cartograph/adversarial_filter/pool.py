"""The rows that are left after each round: of the pool, and of evaluation sets that are filtered with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cartograph.adversarial_filter.classifiers import Classifier, Rows
from cartograph.adversarial_filter.result import FilteredSet, Result, Round
from cartograph.adversarial_filter.slices import choose_alike
from cartograph.adversarial_filter.splits import random_splits
from cartograph.data.arrays import Array, Bools, Floats, Integers, Integers32


class Pool:
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
        self._features, self._labels, self._groups = features, labels, groups
        self._classifier, self._n_partitions, self._train_size, self._seed = classifier, n_partitions, train_size, seed
        self.rows = np.arange(len(labels), dtype=np.int64)
        self.number = 0
        self.history: list[Round] = []
        self._removed_in_round = np.zeros(len(labels), np.int32)
        self._first, self._last = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
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

    def measure(self) -> None:
        """Split, fit and predict: set the predictability of the rows that are left, NaN where a row was never held out."""
        self.number += 1
        names, labels = np.unique(self._labels[self.rows], return_inverse=True)
        groups = None if self._groups is None else self._groups[self.rows]
        train = random_splits(len(self.rows), self._train_size, self._n_partitions, (self._seed, 0, self.number), groups)
        counts = (self._n_partitions - train.sum(axis=1)).astype(np.int32)
        own = Rows(self._features, self.rows, labels.astype(np.int64))
        right, theirs = self._classifier.tally(own, train, [other.rows_of(names) for other in self._others.values()], self._seed)
        self.predictability = np.divide(right, counts, out=np.full(len(right), np.nan), where=counts > 0)
        self._accuracy = float(right.sum() / max(int(counts.sum()), 1))
        self._note(self.rows, self.predictability, counts)
        for other, tally in zip(self._others.values(), theirs, strict=True):
            other.note(tally / self._n_partitions)

    def _note(self, rows: Integers, predictability: Floats, counts: Integers32) -> None:
        known = ~np.isnan(predictability)
        fresh = known & np.isnan(self._first[rows])
        self._first[rows[fresh]] = predictability[fresh]
        self._last[rows[known]] = predictability[known]
        self._n_predictions[rows] = counts

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
        self._removed_in_round[self.rows[chosen]] = self.number
        stays = np.ones(len(self.rows), bool)
        stays[chosen] = False
        for place, other in enumerate(self._others.values()):
            other.remove(self.predictability, ~stays, self.number, np.random.default_rng([self._seed, 2, self.number, place]))
        self.rows = self.rows[stays]

    def result(self, stop_reason: str) -> Result:
        """Return the result of all rounds."""
        return Result(
            kept=self._removed_in_round == 0,
            removed_in_round=self._removed_in_round,
            predictability_first=self._first,
            predictability_last=self._last,
            n_predictions=self._n_predictions,
            history=tuple(self.history),
            stop_reason=stop_reason,
            evaluation={name: other.filtered() for name, other in self._others.items()},
        )


class EvaluationPool:
    """An evaluation set that is filtered with the pool."""

    def __init__(self, features: Any, labels: Array) -> None:
        self._features, self._labels = features, labels
        self._rows = np.arange(len(labels), dtype=np.int64)
        self._removed_in_round = np.zeros(len(labels), np.int32)
        self._first, self._last = np.full(len(labels), np.nan), np.full(len(labels), np.nan)

    def rows_of(self, names: Array) -> Rows:
        """Return the rows that are left, labels as places in ``names``."""
        own = self._labels[self._rows]
        places = np.searchsorted(names, own).clip(max=len(names) - 1)
        return Rows(self._features, self._rows, np.where(names[places] == own, places, -1).astype(np.int64))

    def note(self, predictability: Floats) -> None:
        """Store this round's predictability of the rows that are left."""
        fresh = np.isnan(self._first[self._rows])
        self._first[self._rows[fresh]] = predictability[fresh]
        self._last[self._rows] = predictability

    def remove(self, pool: Floats, gone: Bools, number: int, rng: np.random.Generator) -> None:
        """Remove as large a share of the rows at each predictability as of the pool's."""
        chosen = choose_alike(self._last[self._rows], pool, gone, rng)
        self._removed_in_round[self._rows[chosen]] = number
        self._rows = self._rows[~chosen]

    def filtered(self) -> FilteredSet:
        """Return the result of all rounds."""
        return FilteredSet(self._removed_in_round == 0, self._removed_in_round, self._first, self._last)

"""The filter's classifiers: all partitions' logistic regressions at once, or any scikit-learn estimator, one partition after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from cartograph.adversarial_filter.forecast import Report, unheard
from cartograph.data.arrays import Bools, Integers, Integers32

if TYPE_CHECKING:
    from cartograph.adversarial_filter.solver.joint_fit import Weights
    from cartograph.adversarial_filter.solver.problem import Device, Problem


_FITTED = 0.9
"""About the share of a round's time that goes into the fits."""


class Rows(NamedTuple):
    """Some rows of a feature matrix.

    Attributes:
        features: (n_rows_in_all, d), an array or a memory map.
        places: (n_examples,) which of its rows, rising.
        labels: (n_examples,) label ids from 0 on; −1 for a label that the pool does not have.
    """

    features: Any
    places: Integers
    labels: Integers


class Classifier(Protocol):
    """Trains on each partition's rows and predicts the others."""

    def tally(
        self, pool: Rows, train: Bools, others: Sequence[Rows], seed: int, report: Report = unheard
    ) -> tuple[Integers32, list[Integers32]]:
        """Return how many out-of-sample predictions of each row are right: of the pool's rows, and of each other set's.

        Args:
            pool: the rows that are left, of at least two classes that all occur.
            train: (n_examples, n_partitions) which rows each partition trains on.
            others: sets that no partition trains on.
            seed: of everything that is random in it.
            report: called with how far it is.
        """
        ...


class JointLogistic:
    """Logistic regressions at scikit-learn's optimum (see ``solver``), each round started from the last one's mean weights.

    Args:
        penalty: scikit-learn's ``C``.
        device: ``auto``, ``cpu`` or ``cuda``.
        tolerance: how near to the optimum (``solver.fit``).
        keep_bytes: features of a round that take more are read in blocks at each pass; as much again may be gathered.
    """

    def __init__(self, penalty: float = 1.0, device: Device = "auto", tolerance: float = 3e-3, keep_bytes: int = 2**31) -> None:
        self._penalty, self._device, self._tolerance, self._keep_bytes = penalty, device, tolerance, keep_bytes
        self._start: Any = None

    def tally(
        self, pool: Rows, train: Bools, others: Sequence[Rows], seed: int, report: Report = unheard
    ) -> tuple[Integers32, list[Integers32]]:
        """See ``Classifier``."""
        right, theirs, weights = self.tally_from(pool, train, others, seed, report)
        self.go_on_from([] if weights is None else [weights])
        return right, theirs

    def tally_from(
        self, pool: Rows, train: Bools, others: Sequence[Rows], seed: int, report: Report = unheard
    ) -> tuple[Integers32, list[Integers32], Weights | None]:
        """Return what ``tally`` does, and the weights, None where each partition trains on one class; nothing is remembered of them."""
        # Torch is slow to import, and reading results does not need it.
        from cartograph.adversarial_filter.solver.joint_fit import correct_predictions
        from cartograph.adversarial_filter.solver.problem import problem

        report(0.0)
        single = single_class(pool.labels, train)
        several = train[:, single < 0]
        classes = int(pool.labels.max()) + 1
        given = problem(*pool, classes, self._device, keep_bytes=self._keep_bytes)
        weights = self._fit(given, several, seed, report) if several.shape[1] else None

        def right(of: Problem, trained_on: Bools) -> Integers32:
            count = np.zeros(len(of.rows), np.int32)
            if weights is not None:
                count += correct_predictions(of, trained_on[:, single < 0], weights)
            for number in np.flatnonzero(single >= 0):
                count += (of.labels == single[number]) & ~trained_on[:, number]
            return count

        unseen = [problem(*other, classes, self._device, keep_bytes=0) for other in others]
        theirs = [right(other, np.zeros((len(other.rows), train.shape[1]), bool)) for other in unseen]
        return right(given, train), theirs, weights

    def go_on_from(self, found: Sequence[Weights]) -> None:
        """Start the next round from the mean of these weights; from the last start without any."""
        if found:
            from cartograph.adversarial_filter.solver.joint_fit import mean_weights

            self._start = mean_weights(found)

    def _fit(self, given: Problem, train: Bools, seed: int, report: Report) -> Weights:
        from cartograph.adversarial_filter.solver.joint_fit import fit

        return fit(
            given,
            train,
            penalty=self._penalty,
            start=self._start if self._start is not None and self._start.shape[1] == given.columns else None,
            tolerance=self._tolerance,
            seed=seed,
            gather_bytes=self._keep_bytes,
            report=lambda share: report(_FITTED * share),
        )


class OneByOne:
    """Any scikit-learn classifier, cloned and fitted for each partition.

    Args:
        estimator: unfitted; where it, or a part of it, has a ``random_state`` that is None, each partition sets its own from the seed.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def tally(
        self, pool: Rows, train: Bools, others: Sequence[Rows], seed: int, report: Report = unheard
    ) -> tuple[Integers32, list[Integers32]]:
        """See ``Classifier``."""
        whole = np.asarray(pool.features[pool.places])
        unseen = [np.asarray(other.features[other.places]) for other in others]
        right = [np.zeros(len(part.places), np.int32) for part in (pool, *others)]
        single = single_class(pool.labels, train)
        for number in range(train.shape[1]):
            own, held_out = train[:, number], np.flatnonzero(~train[:, number])
            model = _Constant(single[number]) if single[number] >= 0 else self._clone(seed, number)
            model.fit(whole[own], pool.labels[own])
            right[0][held_out] += model.predict(whole[held_out]) == pool.labels[held_out]
            for count, block, other in zip(right[1:], unseen, others, strict=True):
                if len(block):
                    count += model.predict(block) == other.labels
            report((number + 1) / train.shape[1])
        return right[0], right[1:]

    def _clone(self, seed: int, number: int) -> Any:
        from sklearn.base import clone

        model = clone(self._estimator)
        known = model.get_params()
        random = [name for name in sorted(known) if name.rpartition("__")[2] == "random_state" and known[name] is None]
        drawn = np.random.default_rng([seed, number]).integers(2**31, size=len(random)).tolist()
        return model.set_params(**dict(zip(random, drawn, strict=True)))


class _Constant:
    def __init__(self, label: int) -> None:
        self._label = label

    def fit(self, features: Any, labels: Integers) -> None:
        """Learn nothing."""

    def predict(self, features: Any) -> Integers:
        """Return the one label."""
        return np.full(len(features), self._label, np.int64)


def single_class(labels: Integers, train: Bools) -> Integers:
    """Return the one class that a partition trains on, −1 where there are several, ``(n_partitions,)``."""
    seen = np.stack([train[labels == label].any(axis=0) for label in range(int(labels.max()) + 1)])
    return np.where(seen.sum(axis=0) > 1, -1, seen.argmax(axis=0)).astype(np.int64)

"""Given labels with what models say of their rows, and how each is weighed: through the noise, by copies, against its own class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cartograph.data.arrays import Floats, Integers
from cartograph.suspects.copies import Copies, once_for_all, updated_by_copies
from cartograph.suspects.through_noise import sharpen
from cartograph.suspects.transitions import likely_transition

FEW = 0.05
"""Share of the rows up to which copies that contradict each other are few: of 500 rows and more, more are held out together."""


@dataclass(frozen=True)
class GivenLabels:
    """The labels of n examples.

    Attributes:
        labels: their ids, ``(n_examples,)``.
        probabilities: of each class by models that did not see the row, ``(n_examples, n_classes)``; rows sum to 1.
        pseudo_rows: of even noise, added to each class's anchors (``transitions``).
        missed: whether a label is one of several that a row may have, of which any is easily missed.
        copies: of the rows, which the models scored without having met one another; None: their labels are not heard.
        met: copies whose labels differ, which the models scored having met one another; None: none.
    """

    labels: Integers
    probabilities: Floats
    pseudo_rows: float
    missed: bool = False
    copies: Copies | None = None
    met: Copies | None = None

    @cached_property
    def anchorable(self) -> tuple[Floats, Integers]:
        """Probabilities and labels of the rows that may show how often labels go wrong: without copies whose labels differ, if met.

        Models of one have read the other, and are surest that it is wrong. Where they are not few (``FEW``), their errors are many of all,
        and all rows are taken.
        """
        if self.met is None or len(self.met.rows) > FEW * len(self.labels):
            return self.probabilities, self.labels
        return np.delete(self.probabilities, self.met.rows, axis=0), np.delete(self.labels, self.met.rows)

    def transition(self, anchors: Floats) -> Floats:
        """Return how classes are labelled, ``(n_classes, n_classes)``, by the labels of the rows that the models are surest about."""
        return likely_transition(self.probabilities, self.labels, anchors, self.pseudo_rows, missed=self.missed)

    def true_classes(self, transition: Floats) -> Floats:
        """Return the probabilities of the true classes, seen through the noise, ``(n_examples, n_classes)``."""
        return sharpen(self.probabilities, self.labels, transition).probabilities(self.probabilities)

    def heard_copies(self, true_classes: Floats, transition: Floats) -> Floats:
        """Return them once the labels of copies are heard."""
        if self.met is not None:
            return once_for_all(true_classes, transition, self.labels, self.met)
        if self.copies is None:
            return true_classes
        return updated_by_copies(true_classes, transition, self.labels, self.copies, self.probabilities)


def posterior(true_classes: Floats, transition: Floats, labels: Integers) -> Floats:
    """Return the probability that each row's true class is another than its label, ``(n_examples,)``."""
    # A model may be certain, and yet no label is beyond doubt.
    joint = np.clip(true_classes, 1e-12, None) * transition.T[labels]
    rows = np.arange(len(labels))
    right = joint[rows, labels].copy()
    joint[rows, labels] = 0.0
    # Summed over the others rather than 1 − right, which would round the surest labels to one value.
    wrong: Floats = joint.sum(axis=1)
    return wrong / (wrong + right)

"""Dynamics of rows that have several labels: each label of a row is a decision of its own, between no (class 0) and yes (class 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cartograph.data.arrays import Integers, Objects

if TYPE_CHECKING:
    import torch

NO, YES = 0, 1
NAMES = ("no", "yes")


def decision_uids(uids: Objects, n_labels: int) -> Objects:
    """Return a name for each label of each row, ``(n_examples, n_labels)``: the row's uid, ``#`` and the label's number, from 0 on.

    >>> decision_uids(np.array(["a", "b"], dtype=object), 2).tolist()
    [['a#0', 'a#1'], ['b#0', 'b#1']]
    """
    named = [[f"{uid}#{label}" for label in range(n_labels)] for uid in uids]
    return np.array(named, dtype=object).reshape(len(uids), n_labels)


def recorded_uids(uids: Objects, labels: Integers) -> Objects:
    """Return the names under which dynamics are recorded: the uids, ``(n_examples,)``, or where rows have several labels
    ``decision_uids``.

    Args:
        uids: of the rows.
        labels: label ids, ``(n_examples,)``, or 0 and 1, ``(n_examples, n_labels)``.
    """
    return uids if labels.ndim == 1 else decision_uids(uids, labels.shape[1])


def decisions(logits: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logits of no and yes, ``(batch · n_labels, 2)``, and which of them is given, ``(batch · n_labels,)``; row by row.

    The softmax of ``(0, z)`` is the sigmoid of z, so every measure of the map holds for a decision as it stands.

    Args:
        logits: of yes, ``(batch, n_labels)``.
        labels: 0 and 1, ``(batch, n_labels)``.
    """
    import torch

    yes = logits.reshape(-1)
    return torch.stack([torch.zeros_like(yes), yes], dim=1), labels.reshape(-1)


def decision_places(uids: Objects, n_labels: int) -> Integers:
    """Return where each recorded decision stands among the rows and labels, ``(n_examples · n_labels,)``: row · n_labels + label.

    Dynamics are sorted by name, and so are these.
    """
    places: Integers = np.argsort(decision_uids(uids, n_labels).ravel(), kind="stable")
    return places

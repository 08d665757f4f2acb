"""Encoded rows, as arrays that a model's batches are cut from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Floats32, Ids, Integers, Objects, Pixels

_LEAST = 8
"""A row costs as much as one of so many tokens, at least: padding goes in steps."""


@dataclass(frozen=True)
class Ragged:
    """Rows of different length in one array: row i is ``values[offsets[i] : offsets[i + 1]]``."""

    values: Ids
    offsets: Integers

    @property
    def lengths(self) -> Integers:
        """(n_rows,) lengths."""
        return np.diff(self.offsets)

    def take(self, rows: Integers) -> Ragged:
        """Return these rows, in this order."""
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        index = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Ragged(self.values[index], offsets)

    def padded(self, fill: int, multiple: int = 1) -> Integers:
        """Return (n_rows, width) with ``fill`` behind each row; width is the longest row's, up to a ``multiple``."""
        lengths = self.lengths
        width = -(-max(int(lengths.max(initial=0)), 1) // multiple) * multiple
        matrix = np.full((len(lengths), width), fill, np.int64)
        matrix[np.arange(width) < lengths[:, None]] = self.values
        return matrix


@dataclass(frozen=True)
class Dense:
    """Rows of one shape: row i is ``values[i]``; vectors, the pixels of an image, or the ids of categories."""

    values: Floats32 | Pixels | Integers

    @property
    def lengths(self) -> Integers:
        """(n_rows,) ones: no row costs more than another."""
        return np.ones(len(self.values), np.int64)

    def take(self, rows: Integers) -> Dense:
        """Return these rows, in this order."""
        return Dense(self.values[rows])


@dataclass(frozen=True)
class Pictures:
    """Images as they are stored: row i is the PNG ``values[i]``, decoded when it is read."""

    values: Objects

    @property
    def lengths(self) -> Integers:
        """(n_rows,) ones: no row costs more than another."""
        return np.ones(len(self.values), np.int64)

    def take(self, rows: Integers) -> Pictures:
        """Return these rows, in this order."""
        return Pictures(self.values[rows])


Field = Ragged | Dense | Pictures


@dataclass(frozen=True, repr=False)
class Examples:
    """A set of examples, encoded once.

    Attributes:
        uids: (n_examples,) strings.
        labels: (n_examples,) label ids; (n_examples, n_labels) 0 and 1 where a row has several labels.
        fields: what the model reads, by name; example i owns rows ``i * options`` to ``(i + 1) * options``.
        options: rows per example: 1, or the number of options of a multiple-choice set.
        weights: (n_examples,) how much each counts in the loss; None: all alike.
    """

    uids: Objects
    labels: Integers
    fields: Mapping[str, Field]
    options: int = 1
    weights: Floats32 | None = None

    @property
    def decoded(self) -> bool:
        """Whether rows are decoded as they are read, which takes longer than to cut them out."""
        return any(isinstance(field, Pictures) for field in self.fields.values())

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Examples({len(self):,} rows, fields {', '.join(self.fields)})"

    @property
    def lengths(self) -> Integers:
        """(n_examples,) length of the longest row of each example, in its first field."""
        first = next(iter(self.fields.values()))
        longest: Integers = first.lengths.reshape(-1, self.options).max(axis=1)
        return longest

    def take(self, rows: Integers) -> dict[str, Field]:
        """Return the fields of these examples."""
        if self.options > 1:
            rows = (rows[:, None] * self.options + np.arange(self.options)).reshape(-1)
        return {name: field.take(rows) for name, field in self.fields.items()}


def read_batches(lengths: Integers, size: int, *, fill: bool) -> list[Integers]:
    """Return the rows of each batch of a pass that only reads: rows of like length together, the longest first.

    >>> [rows.tolist() for rows in read_batches(np.array([8, 16, 8, 8, 8]), 1, fill=True)]
    [[1], [0, 2], [3, 4]]

    Args:
        lengths: (n_rows,) of the rows; all alike where they are to come in their own order.
        size: rows of a batch.
        fill: whether batches of shorter rows have more of them: as many as take the room of ``size`` of the longest.
    """
    order = np.argsort(-lengths, kind="stable")
    cost = np.maximum(lengths[order], _LEAST)
    batches, start = [], 0
    while start < len(order):
        stop = start + (size * int(cost[0]) // int(cost[start]) if fill else size)
        batches.append(order[start:stop])
        start = stop
    return batches

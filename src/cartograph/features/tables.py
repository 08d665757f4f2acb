"""Rows of a table of features as numbers: an encoder that is fitted on one set and reads others by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from cartograph.data.arrays import Bools, Floats, Floats32, Integers
from cartograph.features.column_texts import ColumnTexts
from cartograph.schema import Feature, dataset_info, values_of

MISSING, OTHER = 0, 1
"""Ids of a category that is missing, and of one that was not seen, or seen once."""

MOST_CATEGORIES = 250
"""Categories of a feature that are kept apart, the most frequent; scikit-learn's trees take 255."""

MANY = 20
"""Equal rows from which on what is common to them shows, and what nobody recorded of each does not."""

SQUARED_NORM = 10.0
"""Mean squared length of a row of ``sparse_columns``, which suits the usual penalty of a logistic regression."""

_SOFT = 3.0
_BINS = 8
_DAY = 86_400.0
_PARTS = {"date": ("", " (month)", " (weekday)")}


@dataclass(frozen=True)
class Number:
    """How a column of numbers is read: ``(value - centre) · scale``, bent so that it stays within ±3; and where its bins end."""

    name: str
    centre: float
    scale: float
    edges: tuple[float, ...]
    missing: bool


@dataclass(frozen=True)
class TableEncoder:
    """How rows of a table are read, as fitted on a train set.

    A number is put to its median and the distance of its quartiles, and bent smoothly so that outliers stay within ±3 (Holzmüller et al.,
    *Better by Default*, NeurIPS 2024); a missing one is 0, and said so in a column of its own where the train set misses any. A date is
    three numbers: the day, the month, the day of the week. A category is an id; those that were not seen are one, and those that are
    missing another. A text is a few numbers (``ColumnTexts``), which stand behind the others as they are.

    Attributes:
        features: of the table.
        numbers: a column each.
        categories: of each feature that is one the names by id, from 2 on.
        texts: how each column of texts is read; none where they are not.
    """

    features: tuple[Feature, ...]
    numbers: tuple[Number, ...]
    categories: Mapping[str, tuple[str, ...]]
    texts: tuple[ColumnTexts, ...] = ()

    @classmethod
    def fit(cls, table: pa.Table, *, texts: bool = True) -> Self:
        """Return the encoder of a train set (``schema.examples_schema``); ``texts``: whether columns of texts are read, too."""
        features = dataset_info(table.schema).features
        values, names = _raw_numbers(table, features)
        numbers = [_number(name, values[:, place]) for place, name in enumerate(names)]
        known = {feature.name: _names(table, feature.name) for feature in features if feature.kind == "category"}
        read = tuple(ColumnTexts.fit(table, feature.name) for feature in features if texts and feature.kind == "text")
        numbers += [Number(f"{text.name} ({place})", 0.0, 1.0, (), False) for text in read for place in range(1, len(text.directions) + 1)]
        return cls(features, tuple(numbers), known, read)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return what ``to_json`` wrote."""
        numbers = tuple(Number(**{**entry, "edges": tuple(entry["edges"])}) for entry in content["numbers"])
        features = tuple(Feature(**entry) for entry in content["features"])
        texts = tuple(ColumnTexts.from_json(entry) for entry in content.get("texts", ()))
        return cls(features, numbers, {name: tuple(known) for name, known in content["categories"].items()}, texts)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many ids each feature that is a category has."""
        return tuple(len(known) + 2 for known in self.categories.values())

    def raw(self, table: pa.Table) -> Floats:
        """Return the numbers as they are, ``(n_rows, n_numbers)``; NaN where missing."""
        return np.concatenate([_raw_numbers(table, self.features)[0], *(text.numbers(table) for text in self.texts)], axis=1)

    def straight(self, table: pa.Table) -> Floats:
        """Return the numbers put to their median and scaled, not bent, ``(n_rows, n_numbers)``; NaN where missing."""
        centre, scale = (np.array([getattr(number, name) for number in self.numbers]) for name in ("centre", "scale"))
        straight: Floats = (self.raw(table) - centre) * scale
        return straight

    def scaled(self, table: pa.Table) -> Floats32:
        """Return the numbers within ±3, and a column of 0 and 1 for each that may be missing."""
        straight = self.straight(table)
        lost = np.isnan(straight)
        straight[lost] = 0.0
        bent = straight / np.sqrt(1.0 + (straight / _SOFT) ** 2)
        flags = lost[:, [number.missing for number in self.numbers]]
        return np.concatenate([bent, flags], axis=1).astype(np.float32)

    def ids(self, table: pa.Table) -> Integers:
        """Return the ids of the categories, ``(n_rows, n_categories)``."""
        columns = [_ids(table, name, known) for name, known in self.categories.items()]
        return np.stack(columns, axis=1) if columns else np.zeros((len(table), 0), np.int64)

    def dense(self, table: pa.Table) -> Floats32:
        """Return numbers and categories as one vector per row: ``scaled``, and 1 for the category that the row has; (n_rows, width)."""
        return np.concatenate([self.scaled(table), self._one_hot(self.ids(table), self.sizes)], axis=1)

    def bins(self, table: pa.Table) -> sparse.csr_array:
        """Return 1 for the bin of each number, its eighth of the train set or none, and for each category; (n_rows, width).

        Not of an encoder that reads texts: their numbers have no bins.
        """
        raw = self.raw(table)
        places = [
            np.where(np.isnan(column), 0, 1 + np.searchsorted(number.edges, column))
            for number, column in zip(self.numbers, raw.T, strict=True)
        ]
        sizes = [len(number.edges) + 2 for number in self.numbers]
        ids = np.concatenate([np.stack(places, axis=1) if places else np.zeros((len(table), 0), np.int64), self.ids(table)], axis=1)
        starts = np.concatenate([[0], np.cumsum((*sizes, *self.sizes))]).astype(np.int64)
        ends = np.arange(len(ids) + 1) * ids.shape[1]
        return sparse.csr_array((np.ones(ids.size, np.float32), (ids + starts[:-1]).ravel(), ends), shape=(len(ids), int(starts[-1])))

    @staticmethod
    def _one_hot(ids: Integers, sizes: Sequence[int]) -> Floats32:
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        found = np.zeros((len(ids), starts[-1]), np.float32)
        found[np.arange(len(ids))[:, None], ids + starts[:-1]] = 1.0
        return found


@dataclass(frozen=True, repr=False)
class TreeColumns:
    """What decision trees read of a table.

    Attributes:
        values: numbers as they are, then ids of categories, ``(n_rows, n_columns)``; NaN where missing.
        categorical: which columns are ids, ``(n_columns,)``.
    """

    values: Floats
    categorical: Bools

    def take(self, rows: Integers) -> TreeColumns:
        """Return what they read of some rows, ``(n_some,)`` places in their order."""
        return TreeColumns(self.values[rows], self.categorical)


def tree_columns(table: pa.Table) -> TreeColumns:
    """Return what decision trees read of a table (``schema.examples_schema``), texts apart."""
    encoder = TableEncoder.fit(table, texts=False)
    numbers, ids = encoder.raw(table), encoder.ids(table).astype(np.float64)
    ids = np.where(ids == MISSING, np.nan, ids)
    return TreeColumns(np.concatenate([numbers, ids], axis=1), np.arange(numbers.shape[1] + ids.shape[1]) >= numbers.shape[1])


def mostly_alike(columns: TreeColumns) -> bool:
    """Return whether more than half of the rows are equal to ``MANY`` others or more: few columns, each with a handful of values."""
    known = np.where(np.isnan(columns.values), np.inf, columns.values)
    _, kinds, counts = np.unique(known, axis=0, return_inverse=True, return_counts=True)
    return bool(np.mean(counts[kinds.ravel()] > MANY) > 0.5)


def sparse_columns(*tables: pa.Table) -> sparse.csr_array:
    """Return the rows of some tables, one under the other, as one matrix of features ≥ 0: each number's bin and each category, texts apart.

    Bins are those of the first table; rows have a mean squared length of ``SQUARED_NORM``.
    """
    encoder = TableEncoder.fit(tables[0], texts=False)
    rows = sparse.vstack([encoder.bins(table) for table in tables], format="csr")
    width = max(len(encoder.numbers) + len(encoder.categories), 1)
    return sparse.csr_array(rows * np.float32(np.sqrt(SQUARED_NORM / width)), dtype=np.float32)


def dense_columns(tables: Mapping[str, pa.Table], *, texts: bool = True) -> dict[str, Floats32]:
    """Return the rows of some tables as vectors by the encoder of ``train`` (``TableEncoder.dense``), scaled to a mean squared length of
    ``SQUARED_NORM`` there.

    Args:
        tables: tables of the same features by name, ``train`` among them.
        texts: whether columns of texts are read, too.
    """
    encoder = TableEncoder.fit(tables["train"], texts=texts)
    rows = {name: encoder.dense(table) for name, table in tables.items()}
    centre = rows["train"].mean(axis=0)
    scale = np.sqrt(SQUARED_NORM / max(float(np.mean(((rows["train"] - centre) ** 2).sum(axis=1))), 1e-12))
    return {name: ((values - centre) * scale).astype(np.float32) for name, values in rows.items()}


def _raw_numbers(table: pa.Table, features: Sequence[Feature]) -> tuple[Floats, list[str]]:
    columns: list[Floats] = []
    names: list[str] = []
    for feature in features:
        if feature.kind in ("category", "text"):
            continue
        column = values_of(table, feature.name)
        if feature.kind == "date":
            parts = [pc.divide(pc.cast(pc.cast(column, pa.int64()), pa.float64()), _DAY), pc.month(column), pc.day_of_week(column)]
        else:
            parts = [column]
        columns += [part.to_numpy(zero_copy_only=False).astype(np.float64) for part in parts]
        names += [feature.name + part for part in _PARTS.get(feature.kind, ("",))]
    return np.stack(columns, axis=1) if columns else np.zeros((len(table), 0)), names


def _number(name: str, values: Floats) -> Number:
    known = values[~np.isnan(values)]
    if not len(known):
        return Number(name, 0.0, 0.0, (), True)
    low, centre, high = np.quantile(known, [0.25, 0.5, 0.75])
    width = high - low or (known.max() - known.min()) / 2
    edges = np.unique(np.quantile(known, np.arange(1, _BINS) / _BINS))
    return Number(name, float(centre), float(1.0 / width) if width else 0.0, tuple(edges.tolist()), len(known) < len(values))


def _names(table: pa.Table, name: str) -> tuple[str, ...]:
    counts = Counter(value for value in values_of(table, name).to_pylist() if value is not None)
    frequent = sorted(((-count, value) for value, count in counts.items() if count > 1))
    return tuple(value for _, value in frequent[:MOST_CATEGORIES])


def _ids(table: pa.Table, name: str, known: Sequence[str]) -> Integers:
    column = values_of(table, name)
    places = pc.fill_null(pc.index_in(column, value_set=pa.array(known, pa.string())), -1).to_numpy().astype(np.int64)
    ids = np.where(places < 0, OTHER, places + 2)
    ids[np.asarray(pc.is_null(column))] = MISSING
    return ids

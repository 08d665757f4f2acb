"""A cleaned train set in the columns and the spelling of the files that it came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Bools, Floats32, Ids, Integers, Integers32
from cartograph.errors import InputError
from cartograph.ingest.columns import Columns, File, select
from cartograph.ingest.labels import Labelling
from cartograph.ingest.nested import column_at, outer_column, with_items
from cartograph.schema import LABEL, ROW, SOURCE, WEIGHT, dataset_info

_BLOCK = 50_000


@dataclass(frozen=True)
class KeptRows:
    """The rows of one file that stay.

    Attributes:
        file: as it was read.
        column: its own name for the label.
        places: positions of the rows that stay in the file's table, ascending.
        labels: the new label, as the file spells it, of each of these rows; None where it keeps its own.
        weights: of each of these rows; None where all count alike.
        own_column: whether the file itself has that column, or it stands inside another; else beside those that its labels were made of.
    """

    file: File
    column: str
    places: Integers
    labels: list[str | None]
    weights: Floats32 | None = None
    own_column: bool = True

    @property
    def by_number(self) -> dict[int, str | None]:
        """The number of each record that stays (``Batch.rows``) -> its new label, None where it keeps its own."""
        return dict(zip(self.file.batch.rows.take(pa.array(self.places)).to_pylist(), self.labels, strict=True))

    def table(self) -> pa.Table:
        """Return the rows that stay, with all columns of the file, under their new labels."""
        taken = self.file.batch.table.take(pa.array(self.places))
        if not any(label is not None for label in self.labels):
            return taken
        if (outer := outer_column([name for name in taken.column_names if name != self.column], self.column)) is not None:
            inside = with_items(taken[outer].to_pylist(), outer, self.column, self.labels)
            place = taken.schema.get_field_index(outer)
            taken = taken.set_column(place, outer, pa.array(inside, taken.schema.field(outer).type))
        before = taken[self.column].to_pylist()
        after = [old if label is None else label for old, label in zip(before, self.labels, strict=True)]
        return taken.set_column(taken.schema.get_field_index(self.column), self.column, pa.array(after, pa.string()))


def kept_rows(
    files: Sequence[File],
    columns: Columns,
    labelling: Labelling,
    examples: pa.Table,
    kept: Bools,
    labels: Integers32,
    weights: Floats32 | None = None,
) -> list[KeptRows]:
    """Return what stays of each file.

    Args:
        files: of the train set, as read again.
        columns: which of their columns are what.
        labelling: how their labels are read.
        examples: the train set (``schema.examples_schema``).
        kept: (n_examples,) whether a row stays.
        labels: (n_examples,) its label id afterwards.
        weights: (n_examples,) its weight; None where all count alike.

    Raises:
        InputError: a file is not what it was when it was ingested.
    """
    info = dataset_info(examples.schema)
    columns = replace(columns, kinds=info.features)
    found = []
    for file in files:
        own = np.flatnonzero(pc.equal(examples[SOURCE], file.name).to_numpy(zero_copy_only=False))
        places = _places(file, columns, examples, own)
        file, column, own_column = _with_one_label(file, columns)
        before = examples[LABEL].to_numpy()[own]
        spelled = _Spelling(file, column, columns, labelling, info.labels, places, before)
        new = [
            spelled.of(int(place), int(after)) if after != old else None
            for place, old, after, stays in zip(places, before, labels[own], kept[own], strict=True)
            if stays
        ]
        order = np.argsort(places[kept[own]], kind="stable")
        light = None if weights is None else weights[own][kept[own]][order]
        found.append(KeptRows(file, column, places[kept[own]][order], [new[index] for index in order], light, own_column))
    return found


def with_weights(table: pa.Table, kept: Sequence[KeptRows]) -> pa.Table:
    """Return the rows that stay, those of all files in order, with a column of their weights, where they have any.

    The column is ``WEIGHT``, or, where the data has one of that name, ``label_weight``, with underscores as needed (``weights_name``).
    """
    weights = [one.weights for one in kept if one.weights is not None]
    if not weights:
        return table
    return table.append_column(weights_name(table.column_names), pa.array(np.concatenate(weights)))


def weights_name(there: Sequence[str]) -> str:
    """Return the name of a column of weights beside others.

    >>> weights_name(["text", "label"]), weights_name(["weight", "label_weight"])
    ('weight', 'label_weight_')
    """
    name = WEIGHT if WEIGHT not in there else f"label_{WEIGHT}"
    while name in there:
        name += "_"
    return name


def _with_one_label(file: File, columns: Columns) -> tuple[File, str, bool]:
    """Return a file with a column that holds its labels, that column, and whether the file has it itself."""
    there = file.batch.table.column_names
    own = next((name for name in columns.label if name in there), None)
    if own is not None:
        return file, own, True
    for path in columns.label:
        inside = column_at(file.batch.table, path) if outer_column(there, path) is not None else None
        if inside is not None:
            return replace(file, batch=replace(file.batch, table=file.batch.table.append_column(path, inside))), path, True
    name = next(name for name in (LABEL, *(f"{LABEL} ({number})" for number in range(2, len(there) + 3))) if name not in there)
    table = file.batch.table.append_column(name, select([file], columns)[LABEL])
    return replace(file, batch=replace(file.batch, table=table)), name, False


def _places(file: File, columns: Columns, examples: pa.Table, own: Integers) -> Integers:
    """Return the position in a file's table of each of its rows among the examples."""
    places = pc.index_in(examples[ROW].take(pa.array(own)).combine_chunks(), value_set=file.batch.rows)
    changed = places.null_count > 0
    if not changed:
        texts, names = select([file], columns), dataset_info(examples.schema).fields
        for start in range(0, len(own), _BLOCK):
            there, here = texts.take(places[start : start + _BLOCK]), examples.take(pa.array(own[start : start + _BLOCK]))
            changed = changed or any(not pc.all(pc.equal(there[name], here[name])).as_py() for name in names)
    if changed:
        raise InputError(f"{file.name} is not what it was when it was ingested; run the audit again with `--force ingest`.")
    return np.asarray(places, dtype=np.int64)


class _Spelling:
    """How a file writes its labels: by the rows whose class is known."""

    def __init__(
        self,
        file: File,
        column: str,
        columns: Columns,
        labelling: Labelling,
        labels: Sequence[str],
        places: Integers,
        classes: Ids,
    ) -> None:
        raw = [(value or "").strip() for value in file.batch.table[column].take(pa.array(places)).to_pylist()]
        if labelling.separator:
            raw = [value.split(labelling.separator, 1)[0].strip() for value in raw]
        counts: dict[int, Counter[str]] = {}
        for value, number in zip(raw, classes.tolist(), strict=True):
            counts.setdefault(number, Counter())[value] += 1
        self._usual = {number: min(seen, key=lambda value: (-seen[value], value)) for number, seen in counts.items()}
        self._unseen = _unseen(labelling, labels)
        self._options = [_column(file, names) for names in columns.options]
        rows = zip(places.tolist(), classes.tolist(), raw, strict=True)
        pointed = sum(self._options[number][place] == value for place, number, value in rows) if self._options else 0
        self._by_text = pointed > len(raw) / 2

    def of(self, place: int, number: int) -> str:
        """Return how the file would write class ``number`` in the row at ``place``."""
        if self._by_text:
            return self._options[number][place]
        return self._usual.get(number, self._unseen[number])


def _unseen(labelling: Labelling, labels: Sequence[str]) -> list[str]:
    """Return how a class is written in a file that has no row of it."""
    given = {name: label for label, name in reversed([*labelling.names.items()])}
    return [given.get(name, name) for name in labels]


def _column(file: File, names: Sequence[str]) -> list[str]:
    name = next(name for name in names if name in file.batch.table.column_names)
    return [(value or "").strip() for value in file.batch.table[name].to_pylist()]

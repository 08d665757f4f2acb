"""Rows that have several labels, read from files: which labels each row has, which of them can be audited, and what is set aside."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Bools, Integers
from cartograph.errors import InputError
from cartograph.ingest.canonical import IngestedSet, RawSet, ingest
from cartograph.ingest.columns import Columns, File
from cartograph.ingest.label_sets import Fault, LabelSets, label_sets
from cartograph.ingest.labels import Labelling
from cartograph.schema import LABEL, LABEL_SET, LINKED, QUARANTINE, ROW, SOURCE, UID, dataset_info, examples_schema
from cartograph.wording import counted, cut, listing

FEWEST = 5
"""Rows that must have a label, and rows that must lack it, for it to be audited: one of either in each fold."""
MOST_LABELS, MOST_DECISIONS = 500, 3_000_000
"""Labels, and labels times rows, that are audited at once."""

_ONE = "row"


@dataclass(frozen=True)
class LabelledRows(ABC):
    """Rows and which labels they have.

    Attributes:
        columns: the label columns.
        sets: of every row as it was read.
        audited: numbers of the labels that can be audited.
        left_out: of each other label why it cannot.
    """

    columns: tuple[str, ...]
    sets: LabelSets
    audited: Integers
    left_out: dict[str, str]

    @property
    @abstractmethod
    def places(self) -> Integers:
        """The place among all rows as they were read of each row by uid."""

    @property
    def names(self) -> tuple[str, ...]:
        """The labels that are audited."""
        return tuple(self.sets.names[label] for label in self.audited)

    @property
    def given(self) -> Integers:
        """Which of the audited labels each row by uid has, 0 and 1, ``(n_examples, n_labels)``."""
        return self.sets.given[self.places][:, self.audited].astype(np.int64)

    @property
    def empty_sentence(self) -> str:
        """How many rows have an empty cell of labels; empty where none has."""
        empty = self.sets.empty
        return f"{counted(empty, 'row')} with an empty cell in `{self.columns[0]}`: read as having none of the labels" if empty else ""

    @property
    def one_each_sentence(self) -> str:
        """That every row has exactly one of several labels, and so may be read as rows of one label; empty where that is not so."""
        given = self.sets.given[self.places]
        if given.shape[1] < 2 or not len(given) or (given.sum(axis=1) != 1).any():
            return ""
        return "every row has exactly one label: with its name in a column of its own (--label), classes are compared and more is found"

    def left_out_sentence(self, most: int) -> str:
        """Return how many labels cannot be audited, at most so many by name, with the reason; empty where all can."""
        if not self.left_out:
            return ""
        named = listing([f"{cut(name, 40)} ({why})" for name, why in list(self.left_out.items())[:most]])
        more = f", and {len(self.left_out) - most:,} more" if len(self.left_out) > most else ""
        return f"{counted(len(self.left_out), 'label')} cannot be audited: {named}{more}"


@dataclass(frozen=True)
class LabelFiles(LabelledRows):
    """The rows of files, and which labels they have.

    Attributes:
        files: as they were read; ``sets`` are of one file's rows after the other's.
        ingested: the rows that can be used in canonical form, as rows of one class, and the others in quarantine.
    """

    files: tuple[File, ...]
    ingested: IngestedSet

    @cached_property
    def _by_uid(self) -> pa.Table:
        return self.ingested.examples.sort_by(UID)

    @cached_property
    def places(self) -> Integers:
        """The place among all rows of the files of each row by uid."""
        found, before = np.full(len(self._by_uid), -1, dtype=np.int64), 0
        for file in self.files:
            own = np.flatnonzero(pc.equal(self._by_uid[SOURCE], file.name).to_numpy(zero_copy_only=False))
            there = pc.index_in(self._by_uid[ROW].take(pa.array(own)).combine_chunks(), value_set=file.batch.rows)
            found[own] = before + there.to_numpy(zero_copy_only=False)
            before += len(file.batch.table)
        return found

    @cached_property
    def examples(self) -> pa.Table:
        """The rows by uid, with the column ``schema.LABEL_SET``."""
        return with_label_sets(self._by_uid, self.names, self.given)

    @property
    def rows_with(self) -> dict[str, int]:
        """How many of the rows that can be used have each label, those included that cannot be audited."""
        return dict(zip(self.sets.names, self.sets.given[self.places].sum(axis=0).tolist(), strict=True))


def read_label_files(files: Sequence[File], labels: Sequence[str], chosen: Columns) -> LabelFiles:
    """Return the rows of files, and which labels they have; what cannot be used is set aside with its reason.

    Args:
        files: as they were read.
        labels: the column of lists or of separated names, or the columns of 0 and 1 (``ingest.label_sets``).
        chosen: the columns of texts or features, and the uid's; its ``label`` does not count.

    Raises:
        InputError: a column that is missing, cells that are no labels, no label that can be audited, too many of them, or no row that can
            be used.
    """
    sets = label_sets({name: _cells(files, name) for name in labels}, ", ".join(file.name for file in files))
    found = LabelFiles(tuple(labels), sets, np.empty(0, dtype=np.int64), {}, tuple(files), ingest_label_rows(files, sets, labels, chosen))
    audited, left_out = auditable(sets.names, sets.given[found.places])
    return replace(found, audited=audited, left_out=left_out)


def _cells(files: Sequence[File], name: str) -> list[object]:
    for file in files:
        require_label_column(file, name)
    return [cell for file in files for cell in file.batch.table[name].to_pylist()]


def require_label_column(file: File, name: str) -> None:
    """Check that a file has a label column.

    Raises:
        InputError: it does not; the message names those it has.
    """
    if name not in file.batch.table.column_names:
        there = ", ".join(file.batch.table.column_names)
        raise InputError(f"{file.name} has no column `{name}`, which was named as a label; its columns are {there}.")


def ingest_label_rows(files: Sequence[File], sets: LabelSets, labels: Sequence[str], chosen: Columns) -> IngestedSet:
    """Return the rows whose labels can be read in canonical form, as rows of one class, and the others in quarantine.

    Args:
        files: as they were read.
        sets: which labels their rows have, one file after the other.
        labels: the label columns.
        chosen: the columns of texts or features, and the uid's.

    Raises:
        InputError: no row has labels that can be read, or as ``ingest``.
    """
    there = {name for file in files for name in file.batch.table.column_names}
    one = next(name for name in ("labels", *(f"labels{'_' * number}" for number in range(1, len(there) + 2))) if name not in there)
    number = len(sets.given)
    sound = np.ones(number, dtype=bool)
    sound[[fault.place for fault in sets.faults]] = False
    if not sound.any():
        first, names = sets.faults[0], ", ".join(file.name for file in files)
        raise InputError(f"{names}: none of its {number:,} rows can be used: {first.reason} in column `{first.column}`.")
    kept, before = [], 0
    for file in files:
        table = file.batch.table
        own = pa.array(sound[before : before + len(table)])
        plain = table.drop_columns(list(labels)).append_column(one, pa.array([_ONE] * len(table), pa.string()))
        kept.append(File(file.name, replace(file.batch, table=plain.filter(own), rows=file.batch.rows.filter(own))))
        before += len(table)
    columns = replace(chosen, label=(one,))
    (found,) = ingest([RawSet("train", "train", tuple(kept))], columns, Labelling(None, {}, (_ONE,), ()))
    quarantine = pa.concat_tables([found.quarantine, _set_aside(files, sets.faults)])
    order = {file.name: place for place, file in enumerate(files)}
    entries = sorted(quarantine.to_pylist(), key=lambda entry: (order[entry["file"]], entry["row"]))
    return replace(
        found,
        raw=_with_names(found.raw, sets, sound),
        rows_read=found.rows_read + len(sets.faults),
        quarantine=pa.Table.from_pylist(entries, QUARANTINE),
        contradicted=None,
    )


def _with_names(raw: pa.Table, sets: LabelSets, sound: Bools) -> pa.Table:
    """Return rows as they were read, each with the names of its labels as its label, so that equal texts can be compared."""
    joined = ["|".join(sets.names[label] for label in np.flatnonzero(row)) for row in sets.given[sound]]
    return raw.set_column(raw.schema.get_field_index(LABEL), LABEL, pa.array(joined, pa.string()))


def _set_aside(files: Sequence[File], faults: Sequence[Fault]) -> pa.Table:
    starts = np.cumsum([0, *(len(file.batch.table) for file in files)])
    entries = []
    for fault in faults:
        which = int(np.searchsorted(starts, fault.place, side="right")) - 1
        file, place = files[which], fault.place - int(starts[which])
        (record,) = file.batch.table.slice(place, 1).to_pylist()
        entries.append(
            {"set": "train", "file": file.name, "row": file.batch.rows[place].as_py()}
            | {"record": json.dumps(record, ensure_ascii=False, default=str)}
            | {"column": fault.column, "value": fault.value, "reason": fault.reason}
        )
    return pa.Table.from_pylist(entries, QUARANTINE)


def auditable(names: Sequence[str], used: Bools) -> tuple[Integers, dict[str, str]]:
    """Return the numbers of the labels that can be audited, and of each other one why it cannot.

    Args:
        names: of the labels.
        used: which of them each row that can be used has, ``(n_examples, n_labels)``.

    Raises:
        InputError: none can be audited, or there are too many.
    """
    yes = used.sum(axis=0)
    no = len(used) - yes
    left_out = {
        name: f"{'yes' if have < have_not else 'no'} in {counted(min(have, have_not), 'row')}, of {FEWEST} that are needed"
        for name, have, have_not in zip(names, yes.tolist(), no.tolist(), strict=True)
        if min(have, have_not) < FEWEST
    }
    audited = np.flatnonzero(np.minimum(yes, no) >= FEWEST)
    if not len(audited):
        raise InputError(
            f"none of {counted(len(names), 'label')} can be audited: each needs {FEWEST} rows with it and {FEWEST} without; "
            f"of `{names[0]}` {yes[0]:,} of {len(used):,} rows are yes."
        )
    if len(audited) > MOST_LABELS or len(audited) * len(used) > MOST_DECISIONS:
        raise InputError(
            f"{len(audited):,} labels of {len(used):,} rows are more than are audited at once ({MOST_LABELS} labels, {MOST_DECISIONS:,} "
            "labels times rows); name fewer label columns, or audit a part of the rows."
        )
    return audited, left_out


def with_label_sets(table: pa.Table, names: Sequence[str], given: Integers | Bools) -> pa.Table:
    """Return a set whose rows have several labels: with these as its classes, and which of them each row has in ``schema.LABEL_SET``.

    Args:
        table: ``schema.examples_schema``; a column ``LABEL_SET`` that it has is replaced.
        names: of the labels.
        given: which of them each row has, ``(n_examples, n_labels)``.
    """
    info = replace(dataset_info(table.schema), labels=tuple(names))
    schema = examples_schema(info, linked=LINKED in table.column_names)
    table = pa.Table.from_arrays([table[name].combine_chunks() for name in schema.names], schema=schema)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(np.asarray(given, dtype=bool).ravel()), len(names))
    return table.append_column(pa.field(LABEL_SET, pa.list_(pa.bool_(), len(names)), nullable=False), lists)

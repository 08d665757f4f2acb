"""Rows to audit that have several labels each: which labels every row has, which of them can be audited, and the way back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from cartograph.data.arrays import Bools, Integers
from cartograph.errors import InputError
from cartograph.frames.rows import FileForm, Rows, asked_features, opened, text_names
from cartograph.ingest.canonical import RawSet, ingest
from cartograph.ingest.columns import Columns, File
from cartograph.ingest.label_sets import Fault, LabelSets, label_sets, names_of
from cartograph.ingest.labels import Labelling
from cartograph.schema import LABEL_SET, QUARANTINE, dataset_info, examples_schema
from cartograph.suspects.several_labels import FOLDS
from cartograph.wording import counted

MOST_LABELS, MOST_DECISIONS = 500, 3_000_000
"""Labels, and labels times rows, that are audited at once."""

_ONE = "row"


@dataclass(frozen=True)
class LabelRows:
    """The rows of a frame or file, and which labels they have.

    Attributes:
        rows: as ``frames.rows.read_rows`` returns them, but of one class; ``columns`` are those of the texts or features.
        columns: the label columns.
        sets: of every row of ``rows.given``.
        audited: numbers of the labels that can be audited.
        left_out: of each other label why it cannot.
    """

    rows: Rows
    columns: tuple[str, ...]
    sets: LabelSets
    audited: Integers
    left_out: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The labels that are audited."""
        return tuple(self.sets.names[label] for label in self.audited)

    @cached_property
    def order(self) -> Integers:
        """The rows of ``rows.ingested.examples`` by uid."""
        uids = self.rows.ingested.examples["uid"].to_numpy(zero_copy_only=False).astype(object)
        order: Integers = np.argsort(uids, kind="stable")
        return order

    @property
    def places(self) -> Integers:
        """The place in ``rows.given`` of each row by uid."""
        return self.rows.places[self.order]

    @property
    def given(self) -> Integers:
        """Which of the audited labels each row by uid has, 0 and 1, ``(n_examples, n_labels)``."""
        return self.sets.given[self.places][:, self.audited].astype(np.int64)

    @cached_property
    def examples(self) -> pa.Table:
        """The rows by uid (``schema.examples_schema``), with the column ``schema.LABEL_SET``."""
        table = self.rows.ingested.examples.take(pa.array(self.order))
        info = replace(dataset_info(table.schema), labels=self.names)
        flat = pa.array(self.given.astype(bool).ravel())
        table = pa.Table.from_arrays([column.combine_chunks() for column in table.columns], schema=examples_schema(info))
        return table.append_column(
            pa.field(LABEL_SET, pa.list_(pa.bool_(), len(self.names)), nullable=False), _lists(flat, len(self.names))
        )

    def corrected(self, turned: Bools) -> pd.DataFrame:
        """Return the rows in their own order with all their columns, some of their labels turned into the opposite.

        A label that is added stands last; columns of 0 and 1 keep their spelling.

        Args:
            turned: (n_examples, n_labels) which of the audited labels of the rows by uid.
        """
        kept = self.rows.given.iloc[np.sort(self.places)]
        whole = np.zeros(self.sets.given.shape, dtype=bool)
        whole[np.ix_(self.places, self.audited)] = turned
        changed = whole[np.sort(self.places)]
        if not changed.any():
            return kept
        if self.sets.form == "columns":
            columns = {
                name: self._cells(name, label, changed[:, label]) for label, name in enumerate(self.columns) if changed[:, label].any()
            }
            return kept.assign(**columns)
        ((name),) = self.columns
        lists = [self._rewritten(cell, row) if row.any() else cell for cell, row in zip(kept[name], changed, strict=True)]
        return kept.assign(**{name: pd.Series(lists, index=kept.index, dtype=object)})

    def _cells(self, name: str, label: int, turned: Bools) -> list[Any]:
        cells, given = self.rows.given[name].iloc[np.sort(self.places)].tolist(), self.sets.given[np.sort(self.places), label]
        spelled = {value: cells[int(np.flatnonzero(given == value)[0])] for value in (False, True)}
        return [spelled[not yes] if other else cell for cell, yes, other in zip(cells, given.tolist(), turned.tolist(), strict=True)]

    def _rewritten(self, cell: Any, turned: Bools) -> Any:
        had = names_of(cell, self.sets.separator)
        changes = [self.sets.names[label] for label in np.flatnonzero(turned)]
        left = [name for name in had if name not in changes] + [name for name in changes if name not in had]
        if self.sets.form == "separated":
            return self.sets.separator.join(left)
        return json.dumps(left, ensure_ascii=False) if isinstance(cell, str) else left


def read_label_rows(
    data: pd.DataFrame | str | Path,
    text: str | Sequence[str],
    labels: str | Sequence[str],
    features: bool | Sequence[str] = False,
    form: FileForm = FileForm(),  # noqa: B008
) -> LabelRows:
    """Read a frame or a file whose rows have several labels; what cannot be used is set aside with its reason.

    Args:
        data: a frame, or the path of a CSV, TSV, JSONL or Parquet file.
        text: the text column, or the two of pairs; empty of a table of features.
        labels: the column of lists or of separated names, or the columns of 0 and 1 (``ingest.label_sets``).
        features: of a table of features its columns; True: every column beside the labels that can be one.
        form: how a file is read.

    Raises:
        InputError: a file that cannot be read, a column that is missing, cells that are no labels, no label that can be audited, too
            many of them, or no row that can be used.
    """
    names, columns = text_names(text), (labels,) if isinstance(labels, str) else tuple(labels)
    if not columns or len(set(columns)) < len(columns):
        raise InputError(f"labels names {', '.join(columns) or 'no column'}; name one column of lists, or several of 0 and 1, each once.")
    asked = asked_features(names, features)
    if twice := sorted({*columns} & {*names, *asked}):
        raise InputError(f"column `{twice[0]}` is named as a label and as what is read of a row; name it once.")
    file, given = opened(data, names, asked, columns, form)
    missing = [name for name in columns if name not in file.batch.table.column_names]
    if missing:
        there = ", ".join(file.batch.table.column_names)
        raise InputError(f"{file.name} has no column `{missing[0]}`, which was named as a label; its columns are {there}.")
    own = given if isinstance(data, pd.DataFrame) else file.batch.table.select(columns).to_pydict()
    sets = label_sets({name: list(own[name]) for name in columns}, file.name)
    ingested = _ingested(file, sets, columns, names, asked)
    read = [feature.name for feature in ingested.info.features] or names
    kind = None if isinstance(data, pd.DataFrame) else form
    rows = Rows(given, ingested, file, tuple(read), file.batch.rows.to_numpy(), asked, kind)
    return _with_audited(LabelRows(rows, columns, sets, np.empty(0, dtype=np.int64), {}))


def _ingested(file: File, sets: LabelSets, columns: Sequence[str], names: Sequence[str], asked: Sequence[str]) -> Any:
    """Return the rows whose labels can be read in canonical form, as rows of one class, and the others in quarantine."""
    table, one = file.batch.table, "labels"
    while one in table.column_names:
        one += "_"
    sound = np.ones(len(table), dtype=bool)
    sound[[fault.place for fault in sets.faults]] = False
    if not sound.any():
        first = sets.faults[0]
        raise InputError(f"{file.name}: none of its {len(table):,} rows can be used: {first.reason} in column `{first.column}`.")
    plain = table.drop_columns(list(columns)).append_column(one, pa.array([_ONE] * len(table)))
    batch = replace(file.batch, table=plain.filter(pa.array(sound)), rows=file.batch.rows.filter(pa.array(sound)))
    chosen = Columns(tuple((name,) for name in names), (), (one,), features=tuple(asked))
    (found,) = ingest([RawSet("train", "train", (File(file.name, batch),))], chosen, Labelling(None, {}, (_ONE,), ()))
    quarantine = pa.concat_tables([found.quarantine, _set_aside(file, sets.faults)]).sort_by("row")
    return replace(found, rows_read=found.rows_read + len(sets.faults), quarantine=quarantine)


def _set_aside(file: File, faults: Sequence[Fault]) -> pa.Table:
    places = pa.array([fault.place for fault in faults], pa.int64())
    records, numbers = file.batch.table.take(places).to_pylist(), file.batch.rows.take(places).to_pylist()
    entries = [
        {"set": "train", "file": file.name, "row": number, "record": json.dumps(record, ensure_ascii=False, default=str)}
        | {"column": fault.column, "value": fault.value, "reason": fault.reason}
        for fault, record, number in zip(faults, records, numbers, strict=True)
    ]
    return pa.Table.from_pylist(entries, QUARANTINE)


def _with_audited(read: LabelRows) -> LabelRows:
    """Return the rows with the labels that can be audited, and of each other one why it cannot."""
    used = read.sets.given[read.rows.places]
    yes = used.sum(axis=0)
    no = len(used) - yes
    left_out = {
        name: f"{'yes' if have < have_not else 'no'} in {counted(min(have, have_not), 'row')}, of {FOLDS} that are needed"
        for name, have, have_not in zip(read.sets.names, yes.tolist(), no.tolist(), strict=True)
        if min(have, have_not) < FOLDS
    }
    audited = np.flatnonzero(np.minimum(yes, no) >= FOLDS)
    if not len(audited):
        raise InputError(
            f"none of {counted(len(read.sets.names), 'label')} can be audited: each needs {FOLDS} rows with it and {FOLDS} without; "
            f"of `{read.sets.names[0]}` {yes[0]:,} of {len(used):,} rows are yes."
        )
    if len(audited) > MOST_LABELS or len(audited) * len(used) > MOST_DECISIONS:
        raise InputError(
            f"{len(audited):,} labels of {len(used):,} rows are more than are audited at once ({MOST_LABELS} labels, {MOST_DECISIONS:,} "
            "labels times rows); name fewer label columns, or audit a part of the rows."
        )
    return replace(read, audited=audited, left_out=left_out)


def _lists(flat: pa.Array, width: int) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(flat, width)

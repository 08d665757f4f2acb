"""Rows to audit that have several labels each: which labels every row has, which of them can be audited, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from cartograph.clean.label_cells import corrected_cells
from cartograph.data.arrays import Bools, Integers
from cartograph.errors import InputError
from cartograph.frames.opened import FileForm, asked_features, opened, other_column, require_name, text_names
from cartograph.frames.rows import Rows
from cartograph.ingest.columns import Columns
from cartograph.ingest.label_rows import LabelledRows, auditable, ingest_label_rows, require_label_column, with_label_sets
from cartograph.ingest.label_sets import label_sets


@dataclass(frozen=True)
class LabelRows(LabelledRows):
    """The rows of a frame or file, and which labels they have.

    Attributes:
        rows: as ``frames.rows.read_rows`` returns them, but of one class; its ``columns`` are those of the texts or features.
            ``sets`` are of every row of ``rows.given``.
    """

    rows: Rows

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

    @cached_property
    def examples(self) -> pa.Table:
        """The rows by uid (``schema.examples_schema``), with the column ``schema.LABEL_SET``."""
        return with_label_sets(self.rows.ingested.examples.take(pa.array(self.order)), self.names, self.given)

    def corrected(self, turned: Bools) -> pd.DataFrame:
        """Return the rows in their own order with all their columns, some of their labels turned into the opposite.

        A label that is added stands last; columns of 0 and 1 keep their spelling.

        Args:
            turned: (n_examples, n_labels) which of the audited labels of the rows by uid.
        """
        places = np.sort(self.places)
        kept = self.rows.given.iloc[places]
        whole = np.zeros(self.sets.given.shape, dtype=bool)
        whole[np.ix_(self.places, self.audited)] = turned
        cells = {name: kept[name].tolist() for name in self.columns}
        changed = corrected_cells(self.sets, cells, places.tolist(), whole[places])
        if self.sets.form == "columns":
            return kept.assign(**changed)
        return kept.assign(**{name: pd.Series(column, index=kept.index, dtype=object) for name, column in changed.items()})


def read_label_rows(
    data: pd.DataFrame | str | Path,
    text: str | Sequence[str],
    labels: str | Sequence[str],
    features: bool | Sequence[str] = False,
    form: FileForm = FileForm(),  # noqa: B008
    linked: str = "",
) -> LabelRows:
    """Read a frame or a file whose rows have several labels; what cannot be used is set aside with its reason.

    Args:
        data: a frame, or the path of a CSV, TSV, JSONL, Parquet or Excel file.
        text: the text column, or the two of pairs; empty of a table of features.
        labels: the column of lists or of separated names, or the columns of 0 and 1 (``ingest.label_sets``).
        features: of a table of features its columns; True: every column beside the labels that can be one.
        form: how a file is read.
        linked: the column whose equal values link rows; empty without one.

    Raises:
        InputError: a file that cannot be read, a column that is missing or named twice, cells that are no labels, no label that can be
            audited, too many of them, or no row that can be used.
    """
    names, columns = text_names(text), (labels,) if isinstance(labels, str) else tuple(labels)
    for column in columns:
        require_name("labels", column)
    if not columns or len(set(columns)) < len(columns):
        raise InputError(f"labels names {', '.join(columns) or 'no column'}; name one column of lists, or several of 0 and 1, each once.")
    asked = asked_features(names, features)
    if twice := sorted({*columns} & {*names, *asked}):
        raise InputError(f"column `{twice[0]}` is named as a label and as what is read of a row; name it once.")
    links = other_column("linked", linked, [*names, *asked, *columns])
    file, given = opened(data, names, asked, columns, form, links)
    for name in columns:
        require_label_column(file, name)
    own = given if isinstance(data, pd.DataFrame) else file.batch.table.select(columns).to_pydict()
    sets = label_sets({name: list(own[name]) for name in columns}, file.name)
    chosen = Columns(tuple((name,) for name in names), (), (), features=asked, linked=links)
    ingested = ingest_label_rows((file,), sets, columns, chosen)
    read = [feature.name for feature in ingested.info.features] or names
    kind = None if isinstance(data, pd.DataFrame) else form
    rows = Rows(given, ingested, file, tuple(read), file.batch.rows.to_numpy(), asked, kind, linked)
    audited, left_out = auditable(sets.names, sets.given[rows.places])
    return LabelRows(columns, sets, audited, left_out, rows)

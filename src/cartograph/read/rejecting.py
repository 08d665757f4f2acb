"""Records of a batch that are none whatever the format: with an endless cell, or with the header once more."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.csv_cells import MAX_CELL
from cartograph.read.source import TOO_LONG, Batch, Rejected

HEADER_AGAIN = "repeated header"

_SHOWN = 1_000
_NUMBERED, _UNNAMED = re.compile(r" \(\d+\)$"), re.compile(r"column \d+")


def usable_records(batch: Batch) -> Batch:
    """Return a batch whose records with a cell of more than ``MAX_CELL`` characters, and with the header once more, are rejected."""
    found = _header_again(batch.table) | _long_cells(batch.table)
    if not found:
        return batch
    rows = batch.rows.to_pylist()
    rejected = [Rejected(rows[place], *why) for place, why in found.items()]
    kept = pa.array([place not in found for place in range(len(rows))], pa.bool_())
    everything = sorted([*batch.rejected, *rejected], key=lambda record: record.row)
    return Batch(batch.table.filter(kept), batch.rows.filter(kept), tuple(everything), batch.merged, batch.stated)


def _long_cells(table: pa.Table) -> dict[int, tuple[str, str, str]]:
    """Return, by place, the reason, the detail and what is shown of the records with too long a cell."""
    found = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_string(column.type) and column.nbytes > MAX_CELL:
            lengths = pc.fill_null(pc.utf8_length(column), 0).to_numpy()
            for place in np.flatnonzero(lengths > MAX_CELL).tolist():
                detail = f"column `{name}`: {int(lengths[place]):,} characters"
                found[place] = (TOO_LONG, detail, str(column[place])[:_SHOWN])
    return found


def _header_again(table: pa.Table) -> dict[int, tuple[str, str, str]]:
    """Return, by place, the records whose cells are the names of their columns, as where files with headers were put together."""
    if table.num_columns < 2 or not all(pa.types.is_string(column.type) for column in table.columns):
        return {}
    places = np.arange(len(table))
    for name, column in zip(table.column_names, table.columns, strict=True):
        cells = pc.utf8_trim_whitespace(pc.fill_null(column.take(pa.array(places)), ""))
        names = [_NUMBERED.sub("", name), *([""] if _UNNAMED.fullmatch(name) else [])]
        places = places[pc.is_in(cells, pa.array(names, pa.string())).to_numpy()]
        if not len(places):
            return {}
    header = " | ".join(table.column_names)[:_SHOWN]
    return dict.fromkeys(places.tolist(), (HEADER_AGAIN, "each cell is the name of its column", header))

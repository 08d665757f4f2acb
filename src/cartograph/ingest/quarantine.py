"""The records of a set that could not be used: where each stands, what is wrong with which value, and the whole record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Ids
from cartograph.ingest.columns import File
from cartograph.schema import QUARANTINE, ROW

Kind = tuple[str, str]
"""A reason why a row cannot be used, and the column that it is in."""


def quarantined(name: str, files: Sequence[File], selected: pa.Table, faults: Ids, kinds: Sequence[Kind]) -> pa.Table:
    """Return the records of a set that could not be used, ``schema.QUARANTINE``, in the order of the files.

    Args:
        name: of the set.
        files: as they were read.
        selected: its rows under canonical names, one file's under the other's.
        faults: the number of each row's first fault, from 1 on; 0 for none.
        kinds: of each fault its reason and the column that it is in.
    """
    entries = [*_unused(files, selected, faults, kinds), *_unread(files)]
    order = {file.name: index for index, file in enumerate(files)}
    entries.sort(key=lambda entry: (order[entry["file"]], entry["row"]))
    return pa.Table.from_pylist([{"set": name, **entry} for entry in entries], QUARANTINE)


def _unread(files: Sequence[File]) -> Iterator[dict[str, Any]]:
    for file in files:
        for record in file.batch.rejected:
            text = json.dumps(record.record, ensure_ascii=False)
            yield {"file": file.name, "row": record.row, "column": None, "value": record.detail, "reason": record.reason, "record": text}


def _unused(files: Sequence[File], selected: pa.Table, faults: Ids, kinds: Sequence[Kind]) -> Iterator[dict[str, Any]]:
    start = 0
    for file in files:
        end = start + len(file.batch.table)
        indices = start + np.flatnonzero(faults[start:end])
        records = file.batch.table.take(pa.array(indices - start)).to_pylist()
        rows = selected.take(pa.array(indices)).to_pylist()
        for row, record, fault in zip(rows, records, faults[indices], strict=True):
            reason, column = kinds[fault - 1]
            text = json.dumps(record, ensure_ascii=False, default=_size)
            yield {"file": file.name, "row": row[ROW], "column": column, "value": row[column], "reason": reason, "record": text}
        start = end


def _size(value: Any) -> str:
    """Return the size of an image, for the JSON of its record."""
    return f"{len(value):,} bytes"

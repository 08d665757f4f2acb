"""What a set of examples is, whatever file it stands in: a digest of its content, and its profile."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pyarrow as pa

from cartograph.schema import ANNOTATOR_LABELS, LABEL, UID, dataset_info

_BLOCK = 50_000


def content_digest(table: pa.Table) -> str:
    """Return the SHA-256 of what the rows say: uid, texts, the label's name, annotators' labels; 64 hexadecimal digits.

    The order of the rows, the ids behind the label names, the files that the rows came from and how Parquet stores them do
    not count.

    Args:
        table: a set of examples (``schema.examples_schema``).

    Raises:
        ValueError: the table was not written by the ingest step.
    """
    info = dataset_info(table.schema)
    names = [UID, *info.fields, LABEL, *([ANNOTATOR_LABELS] if ANNOTATOR_LABELS in table.column_names else [])]
    hasher = hashlib.sha256(_canonical([info.task, names]))
    rows = table.select(names).sort_by(UID)
    for start in range(0, rows.num_rows, _BLOCK):
        block = rows.slice(start, _BLOCK)
        for name in names:
            values = block.column(name).to_pylist()
            hasher.update(_canonical([info.labels[value] for value in values] if name == LABEL else values))
    return hasher.hexdigest()


def profile(table: pa.Table) -> dict[str, Any]:
    """Return the number of rows, rows per label in the order of the label ids, and mean characters per text column.

    Args:
        table: a set of examples (``schema.examples_schema``).

    Raises:
        ValueError: the table was not written by the ingest step.
    """
    import pyarrow.compute as pc

    info = dataset_info(table.schema)
    counts = {entry["values"]: entry["counts"] for entry in table.column(LABEL).value_counts().to_pylist()}
    return {
        "num_rows": table.num_rows,
        "classes": {label: counts.get(number, 0) for number, label in enumerate(info.labels)},
        "mean_characters": {name: round(pc.mean(pc.utf8_length(table.column(name))).as_py() or 0.0, 1) for name in info.fields},
    }


def _canonical(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

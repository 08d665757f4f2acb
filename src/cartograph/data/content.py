"""Digests of the content of sets and rows, independent of files and order, and profiles of sets."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pyarrow as pa

from cartograph.data.images import image_digests, sizes_of
from cartograph.schema import ANNOTATOR_LABELS, LABEL, LABEL_SET, UID, WEIGHT, dataset_info

_BLOCK = 50_000


def content_digest(table: pa.Table) -> str:
    """Return the SHA-256 of the rows' content: uid, texts, images' pixels, the label's name, annotators' labels; 64 hexadecimal digits.

    Where rows have several labels, the names of these count in place of the label.

    The order of the rows, the ids behind the label names, the files that the rows came from and how Parquet stores them do
    not count; a row's weight does, where rows are weighted.

    Args:
        table: a set of examples (``schema.examples_schema``).

    Raises:
        ValueError: the table was not written by the ingest step.
    """
    info = dataset_info(table.schema)
    label = LABEL_SET if LABEL_SET in table.column_names else LABEL
    names = [UID, *info.fields, label, *(name for name in (ANNOTATOR_LABELS, WEIGHT) if name in table.column_names)]
    hasher = hashlib.sha256(_canonical([info.task, names]))
    rows = table.select(names).sort_by(UID)
    for start in range(0, rows.num_rows, _BLOCK):
        block = rows.slice(start, _BLOCK)
        for name in names:
            column = block.column(name)
            values = (image_digests(column) if name in info.images else column).to_pylist()
            if name == LABEL:
                values = [info.labels[value] for value in values]
            elif name == LABEL_SET:
                values = [[own for own, has in zip(info.labels, value, strict=True) if has] for value in values]
            hasher.update(_canonical(values))
    return hasher.hexdigest()


def content_keys(table: pa.Table) -> list[str]:
    """Return a key per row of its texts and images, without its uid and label: 32 hexadecimal digits.

    Args:
        table: a set of examples (``schema.examples_schema``).

    Raises:
        ValueError: the table was not written by the ingest step.
    """
    info = dataset_info(table.schema)
    columns = [(image_digests(table.column(name)) if name in info.images else table.column(name)).to_pylist() for name in info.fields]
    return [hashlib.blake2b(_canonical(texts), digest_size=16).hexdigest() for texts in zip(*columns, strict=True)]


def profile(table: pa.Table) -> dict[str, Any]:
    """Return the number of rows, rows per label in the order of the label ids, and mean characters per text column, mean pixels per image.

    Args:
        table: a set of examples (``schema.examples_schema``).

    Raises:
        ValueError: the table was not written by the ingest step.
    """
    import pyarrow.compute as pc

    info = dataset_info(table.schema)
    if LABEL_SET in table.column_names:
        has = table.column(LABEL_SET).combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, len(info.labels))
        counts = dict(enumerate(has.sum(axis=0).tolist()))
    else:
        counts = {entry["values"]: entry["counts"] for entry in table.column(LABEL).value_counts().to_pylist()}
    described: dict[str, Any] = {
        "num_rows": table.num_rows,
        "classes": {label: counts.get(number, 0) for number, label in enumerate(info.labels)},
    }
    if info.images:
        sizes = {name: sizes_of(table.column(name)).astype(float) for name in info.images}
        return described | {"mean_pixels": {name: round(float((size[:, 0] * size[:, 1]).mean()), 1) for name, size in sizes.items()}}
    characters = {name: pc.mean(pc.utf8_length(table.column(name))).as_py() for name in info.fields}
    return described | {"mean_characters": {name: round(value or 0.0, 1) for name, value in characters.items()}}


def _canonical(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

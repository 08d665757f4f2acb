"""A copy of a source in its own format, with some of its records and some new labels; all else is kept byte for byte."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cartograph.errors import InputError
from cartograph.read import delimited, jsonl, label_first
from cartograph.read.arrow import class_names
from cartograph.read.compression import open_bytes, suffix_of
from cartograph.read.formats import format_of, read
from cartograph.read.source import Source

_SUFFIXES = {"csv": ".csv", "tsv": ".tsv", "jsonl": ".jsonl", "label-first": ".txt"}


def own_suffix(source: Source) -> str | None:
    """Return the suffix of a copy of a text source, or None where the source is no single text file."""
    kind = source.format or format_of(source.path, source.name)
    if kind not in _SUFFIXES:
        return None
    suffix = suffix_of(source.path)
    return suffix if re.fullmatch(r"\.[a-z0-9]{1,8}", suffix) and suffix != ".parquet" else _SUFFIXES[kind]


def rewrite(
    source: Source,
    column: str,
    kept: Mapping[int, jsonl.Label],
    path: Path,
    more: tuple[str, Mapping[int, float]] | None = None,
) -> None:
    """Write a copy of a text source: same encoding, header, order and spelling; never compressed.

    Args:
        source: a single CSV, TSV, JSONL or label-first file.
        column: the label's.
        kept: number of each record that stays (as in ``Batch.rows``) -> its new label, None where it keeps its own; in a JSONL file also a
            list of labels.
        path: of the copy.
        more: the name of a last column, and the number of each record in it (``has_room``); None: no such column.

    Raises:
        InputError: a new label cannot be written in the source's encoding or format.
    """
    encoding = encoding_of(source)
    try:
        with path.open("w", encoding=encoding, newline="") as file:
            file.writelines(_parts(source, column, kept, more))
    except UnicodeEncodeError as error:
        raise InputError(
            f"{source.name}: a new label cannot be written as {encoding} ({error.object[error.start : error.end]!r})."
        ) from error


def rewrite_columns(source: Source, kept: Sequence[int], cells: Mapping[str, Sequence[Any]], path: Path) -> bool:
    """Write a copy of a CSV, TSV or JSONL file with some of its records and new cells in some columns; return whether it is such a file.

    Args:
        source: any source.
        kept: numbers of the records that stay (as in ``Batch.rows``), ascending.
        cells: column -> the cells of these records, texts, or lists in a JSONL file; a record in which none differs is kept byte for byte.
        path: of the copy.

    Raises:
        InputError: a new cell cannot be written in the source's encoding.
    """
    kind = source.format or format_of(source.path, source.name)
    if kind not in ("csv", "tsv", "jsonl"):
        return False
    before = read(source)
    places = pc.index_in(pa.array(kept, pa.int64()), value_set=before.rows)
    # Each pass writes the cells of one column; the first leaves out the other records.
    for place, name in enumerate([*cells] or before.table.column_names[:1]):
        own = before.table[name].take(places).to_pylist()
        new = {number: None if after == old else after for number, old, after in zip(kept, own, cells.get(name, own), strict=True)}
        step = path.with_name(f"{path.name}.{place}")
        rewrite(source, name, new, step)
        if place:
            Path(source.path).unlink()
        source, kept = replace(source, path=str(step), format=kind), range(1, len(kept) + 1)
    Path(source.path).rename(path)
    return True


def parquet_columns(source: Source, kept: Sequence[int], cells: Mapping[str, Sequence[Any]]) -> pa.Table | None:
    """Return some rows of a Parquet file with all columns as they are typed there, with new cells in some columns.

    Args:
        source: any source.
        kept: numbers of the records that stay, in their order.
        cells: column -> the cells of these records, lists or texts.

    Returns:
        the rows, or None where the source is no Parquet file, or new cells do not fit their column.
    """
    if (source.format or format_of(source.path, source.name)) != "parquet":
        return None
    table = pq.read_table(source.path).take(pa.array([number - 1 for number in kept], pa.int64()))
    try:
        for name, own in cells.items():
            place = table.schema.get_field_index(name)
            field = table.schema.field(place)
            table = table.set_column(place, field, pa.array(own).cast(field.type))
    except (KeyError, IndexError, pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None
    return table


def has_room(source: Source) -> bool:
    """Return whether a copy of a source may have a column more: a CSV or TSV file whose columns are named in its header."""
    return (source.format or format_of(source.path, source.name)) in ("csv", "tsv") and not source.columns


def _parts(source: Source, column: str, kept: Mapping[int, jsonl.Label], more: tuple[str, Mapping[int, float]] | None) -> Iterator[str]:
    kind = source.format or format_of(source.path, source.name)
    if kind == "jsonl":
        return jsonl.rewrite(source, column, kept)
    texts = {number: label for number, label in kept.items() if not isinstance(label, list)}
    if kind == "label-first":
        return label_first.rewrite(source, texts)
    return delimited.rewrite(source, kind, column, texts, more)


def encoding_of(source: Source) -> str:
    """Return the encoding of a text source: of UTF-8, whether with a byte order mark."""
    return source.encoding or ("utf-8-sig" if _has_mark(source.path) else "utf-8")


def _has_mark(path: str) -> bool:
    with open_bytes(path) as file:
        return file.read(3) == codecs.BOM_UTF8


def parquet_rows(source: Source, column: str, kept: Mapping[int, str | None]) -> pa.Table | None:
    """Return some rows of a Parquet file with all columns as they are typed there, under their new labels.

    Args:
        source: any source.
        column: the label's.
        kept: number of each record that stays -> its new label, None where it keeps its own.

    Returns:
        the rows, or None where the source is no Parquet file, or new labels do not fit its label column.
    """
    if (source.format or format_of(source.path, source.name)) != "parquet":
        return None
    table = pq.read_table(source.path)
    place = table.schema.get_field_index(column)
    taken = table.take(pa.array([number - 1 for number in kept], pa.int64()))
    if not any(label is not None for label in kept.values()):
        return taken
    if place < 0:
        return None
    kind = table.schema.field(place).type
    names = class_names(table.schema.metadata).get(column, [])
    try:
        values = [
            old if label is None else _typed(label, kind, names)
            for old, label in zip(taken[column].to_pylist(), kept.values(), strict=True)
        ]
        return taken.set_column(place, table.schema.field(place), pa.array(values, kind))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None


def _typed(label: str, kind: pa.DataType, names: list[str]) -> object:
    if pa.types.is_integer(kind) and label in names:
        return names.index(label)
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.scalar(label).cast(inner).as_py()

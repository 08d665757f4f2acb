"""Typed Arrow tables as raw columns: every value text or a list of texts, nested fields named with dots."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cartograph.errors import InputError
from cartograph.read.jsonl import as_text
from cartograph.read.source import distinct


def raw_columns(table: pa.Table, name: str) -> pa.Table:
    """Return a table whose columns are strings or lists of strings.

    Structs are opened (``example.premise``), class labels of Hugging Face's are named, and whole floating-point numbers lose their
    fraction. Bytes that are UTF-8 throughout are text; columns of other bytes are left out. Columns of one name are numbered.

    Raises:
        InputError: a text of ``name`` (what messages call the table) is not Unicode.
    """
    classes = class_names(table.schema.metadata)
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    columns = {}
    for title, name_, column in zip(distinct(table.column_names), table.column_names, table.columns, strict=True):
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type) or pa.types.is_fixed_size_binary(column.type):
            if (decoded := _decoded(column)) is not None:
                columns[title] = decoded
        else:
            columns[title] = _text(column, classes.get(name_))
    raw = pa.table(columns)
    try:
        raw.validate(full=True)
    except pa.ArrowInvalid as error:
        raise InputError(f"{name} is damaged: {str(error).splitlines()[0]}; write it again.") from error
    return raw


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return bytes as the text that they are; None where some are not UTF-8, or hold control characters that no text has."""
    try:
        text = column.cast(pa.binary()).cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return None if pc.any(pc.match_substring_regex(text, r"[\x00-\x08\x0e-\x1f]")).as_py() else text


def class_names(metadata: dict[bytes, bytes] | None) -> dict[str, list[str]]:
    """Return column -> class names, as Hugging Face's data sets keep them in a schema's metadata."""
    try:
        features = json.loads((metadata or {}).get(b"huggingface", b"{}")).get("info", {}).get("features", {})
    except (ValueError, AttributeError):
        return {}
    named = {}
    for name, feature in features.items():
        inner = feature.get("feature", feature) if isinstance(feature, dict) else {}
        if isinstance(inner, dict) and inner.get("_type") == "ClassLabel" and isinstance(inner.get("names"), list):
            named[name] = [str(label) for label in inner["names"]]
    return named


def _text(column: pa.ChunkedArray, classes: list[str] | None) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _text(column.cast(kind.value_type), classes)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        values = [None if value is None else [_one(item, classes) for item in value] for value in column.to_pylist()]
        return pa.chunked_array([pa.array(values, pa.list_(pa.string()))])
    if pa.types.is_integer(kind) and classes is not None:
        ids = column.cast(pa.int64())
        known = pc.if_else(pc.and_(pc.greater_equal(ids, 0), pc.less(ids, len(classes))), ids, None)
        return pc.take(pa.chunked_array([pa.array(classes, pa.string())]), known.combine_chunks())
    if pa.types.is_floating(kind):
        return pa.chunked_array([pa.array([None if value != value else as_text(value) for value in column.to_pylist()], pa.string())])
    try:
        return column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.chunked_array([pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())])


def _one(value: Any, classes: list[str] | None) -> str | None:
    if classes is not None and isinstance(value, int):
        return classes[value] if 0 <= value < len(classes) else None
    try:
        return as_text(value)
    except (TypeError, ValueError):
        return str(value)

"""Columns inside columns: a path with numbers leads into lists of JSON (``annotations.0.choices.0``)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from cartograph.read.jsonl import as_text, like, put_at


def column_at(table: pa.Table, path: str) -> pa.ChunkedArray | None:
    """Return what a path leads to in each row, null where a row has nothing there; None where no column begins the path.

    Args:
        table: raw columns.
        path: names and numbers, counted from 0 and negative ones from the end, with dots between them; its beginning is a column of lists
            or of JSON.

    >>> table = pa.table({"marks": [['{"value": "good"}'], []]})
    >>> column_at(table, "marks.0.value").to_pylist()
    ['good', None]
    """
    if (found := _outer(table.column_names, path)) is None:
        return None
    name, parts = found
    values = [_unicode(as_text(_at(value, parts))) for value in table[name].to_pylist()]
    return pa.chunked_array([pa.array(values, pa.string())]) if any(value is not None for value in values) else None


def outer_column(names: Sequence[str], path: str) -> str | None:
    """Return the column that a path begins with and leads into; None where it is a column itself, or no column begins it."""
    found = None if path in names else _outer(names, path)
    return None if found is None else found[0]


def with_items(values: Sequence[Any], name: str, path: str, items: Sequence[str | None]) -> list[Any]:
    """Return the values of a column with other items where a path leads.

    Args:
        values: of the column ``name``, as JSON has them or as texts that hold JSON.
        name: with which the path begins.
        path: as ``column_at`` has it.
        items: of each row the new one; None where it keeps its own.
    """
    parts = path.removeprefix(f"{name}.").split(".")
    return [old if item is None else put_at(old, parts, partial(_instead, item)) for old, item in zip(values, items, strict=True)]


def _instead(item: str, old: Any) -> Any:
    return like(old, item)


def _outer(names: Sequence[str], path: str) -> tuple[str, list[str]] | None:
    parts = path.split(".")
    lengths = range(len(parts) - 1, 0, -1)
    return next(((name, parts[length:]) for length in lengths if (name := ".".join(parts[:length])) in names), None)


def _at(value: Any, parts: Sequence[str]) -> Any:
    """Return what a path leads to, as ``put_at`` follows it; None where there is nothing."""
    if not parts:
        return value
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, list):
        try:
            return _at(value[int(parts[0])], parts[1:])
        except (ValueError, IndexError):
            return None
    keys = ((".".join(parts[:length]), length) for length in range(len(parts), 0, -1))
    found = next(((key, length) for key, length in keys if key in value), None) if isinstance(value, dict) else None
    return None if found is None else _at(value[found[0]], parts[found[1] :])


def _unicode(text: str | None) -> str | None:
    """Return a text, None for one with half of a surrogate pair, which JSON can write and no table hold."""
    try:
        return text if text is None or text.encode() is not None else None
    except UnicodeEncodeError:
        return None

"""The tables that an audit writes: of rows with one label, and of rows with several; in a lake all as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from cartograph.schema import UID, schema_of

AUDIT = "audit"
_KEY = {AUDIT: "string", "workspace": "string", "number": "int64", "uid": "string"}
_PLACE = {"source": "string", "row": "int64"}

TABLES: dict[str, pa.Schema] = {
    "suspects": schema_of(
        _KEY
        | _PLACE
        | {
            "label": "string",
            "suggested": "string?",
            "probability": "double",
            "suggested_probability": "double",
            "rank": "int64",
            "reason": "string",
        }
    ),
    "decisions": schema_of(_KEY | {"decision": "string", "new_label": "string?", "decided_by": "string", "comment": "string"}),
    "cleaned": schema_of(_KEY | _PLACE | {"version": "string", "label": "string", "weight": "double?"}),
}
"""Name -> columns. ``audit`` is the audit's fingerprint, ``number`` counts the audits of its workspace. ``uid`` is the row's own id
where it has one, ``row`` its number in ``source``, from 1. ``probability`` is that of a wrong label, ``rank`` 1 = most suspect. ``weight``
is null where all rows count alike."""

LABEL_TABLES: dict[str, pa.Schema] = {
    "label_suspects": schema_of(
        _KEY
        | {"label": "string"}
        | _PLACE
        | {
            "given": "string",
            "suggested": "string",
            "probability": "double",
            "suggested_probability": "double",
            "rank": "int64",
            "reason": "string",
        }
    ),
    "label_decisions": schema_of(
        _KEY | {"label": "string", "decision": "string", "answer": "string?", "decided_by": "string", "comment": "string"}
    ),
    "label_cleaned": schema_of(_KEY | _PLACE | {"version": "string", "added": "string", "removed": "string"}),
}
"""The same where rows have several labels: a suspect and a decision are about one ``label`` of a row, of which ``given``, ``suggested`` and
``answer`` say yes or no. ``added`` and ``removed`` are JSON lists of labels that a row of the cleaned version has or has no longer."""

ALL_TABLES = TABLES | LABEL_TABLES

KIND = "what"
"""The column that tells the three apart where they are one table: ``suspect``, ``decision`` or ``cleaned``."""

_KINDS = {name: name.removeprefix("label_").removesuffix("s") for name in ALL_TABLES}


def key_of(name: str) -> tuple[str, ...]:
    """Return the columns that tell the rows of a table apart.

    >>> key_of("suspects"), key_of("label_decisions")
    (('audit', 'uid'), ('audit', 'uid', 'label'))
    """
    return (AUDIT, UID, "label") if name in ("label_suspects", "label_decisions") else (AUDIT, UID)


@dataclass(frozen=True)
class AuditKey:
    """Which audit the rows are of.

    Attributes:
        fingerprint: hexadecimal; the same audit has the same.
        workspace: its name.
        number: which audit of the workspace it is, from 1.
    """

    fingerprint: str
    workspace: str
    number: int


def table_of(name: str, key: AuditKey, columns: Mapping[str, object]) -> pa.Table:
    """Return one of the tables of an audit, of its own columns.

    Args:
        name: in ``ALL_TABLES``.
        key: of the audit.
        columns: all but those of the key.
    """
    schema = ALL_TABLES[name]
    length = len(columns[UID])  # type: ignore[arg-type]
    whole = {AUDIT: [key.fingerprint] * length, "workspace": [key.workspace] * length, "number": [key.number] * length, **columns}
    arrays = [_array(whole[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: object, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    return values.cast(kind) if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, kind)


def one_table(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Return the tables as one, for where a single table can be written at once; ``KIND`` says which a row is of."""
    schema = whole_schema(tables)
    parts = []
    for name, table in tables.items():
        length = len(table)
        arrays = [
            pa.array([_KINDS[name]] * length, pa.string())
            if field.name == KIND
            else table[field.name]
            if field.name in table.column_names
            else pa.nulls(length, field.type)
            for field in schema
        ]
        parts.append(pa.Table.from_arrays(arrays, schema=schema))
    return pa.concat_tables(parts)


def whole_schema(names: Iterable[str]) -> pa.Schema:
    """Return the columns of the tables of these names as one."""
    fields = {AUDIT: pa.field(AUDIT, pa.string()), KIND: pa.field(KIND, pa.string())}
    for name in names:
        fields |= {field.name: field.with_nullable(True) for field in ALL_TABLES[name] if field.name not in fields}
    return pa.schema(list(fields.values()))

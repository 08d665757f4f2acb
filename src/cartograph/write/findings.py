"""What an audit found as tables of rows: suspects, people's decisions, and the cleaned version's row ids; each row names its audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from cartograph.clean.decisions import Decision
from cartograph.schema import LABEL, SOURCE, UID, WEIGHT, dataset_info, schema_of

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

KIND = "what"
"""The column that tells the three apart where they are one table: ``suspect``, ``decision`` or ``cleaned``."""

_KINDS = {"suspects": "suspect", "decisions": "decision", "cleaned": "cleaned"}


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


def findings(
    key: AuditKey, examples: pa.Table, noise: pa.Table, decisions: Mapping[str, Decision], cleaned: pa.Table, version: str
) -> dict[str, pa.Table]:
    """Return the tables of one audit, by the names in ``TABLES``.

    Args:
        key: of the audit.
        examples: the train set (``schema.examples_schema``).
        noise: its suspects (``schema.NOISE``), of the same rows.
        decisions: uid -> what people decided.
        cleaned: the cleaned version's rows (``schema.SUBSET`` or ``schema.WEIGHTED_SUBSET``).
        version: its name.
    """
    names = pa.array(dataset_info(examples.schema).labels, pa.string())
    suspects = noise.filter(noise["flagged"]).sort_by("rank")
    suspects_places, cleaned_places = (_places(examples, table[UID]) for table in (suspects, cleaned))
    known = pc.if_else(pc.greater_equal(suspects["suggested"], 0), suspects["suggested"], None)
    people = sorted(decisions.items())
    columns = {
        "suspects": {
            "uid": suspects[UID],
            "source": suspects_places[SOURCE],
            "row": suspects_places["row"],
            "label": pc.take(names, suspects_places[LABEL]),
            "suggested": pc.take(names, known),
            **{name: suspects[name] for name in ("probability", "suggested_probability", "rank", "reason")},
        },
        "decisions": {
            "uid": [uid for uid, _ in people],
            "decision": [decision.what for _, decision in people],
            "new_label": [decision.label for _, decision in people],
            "decided_by": [decision.by for _, decision in people],
            "comment": [decision.comment for _, decision in people],
        },
        "cleaned": {
            "uid": cleaned[UID],
            "source": cleaned_places[SOURCE],
            "row": cleaned_places["row"],
            "version": [version] * len(cleaned),
            "label": pc.take(names, cleaned[LABEL]),
            "weight": cleaned[WEIGHT] if WEIGHT in cleaned.column_names else [None] * len(cleaned),
        },
    }
    return {name: _table(TABLES[name], key, own) for name, own in columns.items()}


def _places(examples: pa.Table, uids: pa.ChunkedArray) -> pa.Table:
    """Return the rows of a train set that uids name, in their order."""
    rows = pc.index_in(uids.combine_chunks(), value_set=examples[UID].combine_chunks())
    return examples.select([UID, LABEL, SOURCE, "row"]).take(rows)


def _table(schema: pa.Schema, key: AuditKey, columns: Mapping[str, object]) -> pa.Table:
    length = len(columns[UID])  # type: ignore[arg-type]
    whole = {AUDIT: [key.fingerprint] * length, "workspace": [key.workspace] * length, "number": [key.number] * length, **columns}
    arrays = [_array(whole[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: object, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    return values.cast(kind) if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, kind)


def one_table(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Return the tables as one, for where a single table can be written at once; ``KIND`` says which a row is of."""
    schema = whole_schema()
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


def whole_schema() -> pa.Schema:
    """Return the columns of ``one_table``."""
    fields = {AUDIT: pa.field(AUDIT, pa.string()), KIND: pa.field(KIND, pa.string())}
    for schema in TABLES.values():
        fields |= {field.name: field.with_nullable(True) for field in schema if field.name not in fields}
    return pa.schema(list(fields.values()))

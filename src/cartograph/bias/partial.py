"""Sets of examples with a part of the input left out, to see what the rest alone predicts."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cartograph.schema import ANNOTATOR_LABELS, DatasetInfo, dataset_info, examples_schema

WHOLE = "whole input"
_BLANK = "_"


def partial_inputs(info: DatasetInfo) -> tuple[str, ...]:
    """Return the names of the partial inputs of a task: of a pair each side alone, of a choice the options alone, of a single text none."""
    if info.task == "pair":
        return tuple(f"{field} alone" for field in info.text)
    return ("options alone",) if info.task == "choice" else ()


def with_input(table: pa.Table, name: str) -> pa.Table:
    """Return a set with this input: ``WHOLE``, or one of ``partial_inputs``.

    A side alone makes a set of single texts; options alone stand where the text was a mere blank.

    Args:
        table: ``schema.examples_schema``.
        name: of the input.
    """
    info = dataset_info(table.schema)
    if name == WHOLE:
        return table
    if info.task == "choice":
        columns = {field: table[field] for field in table.column_names}
        columns[info.text[0]] = pa.chunked_array([pa.array([_BLANK] * table.num_rows, pa.string())])
        return pa.table(columns, schema=table.schema)
    field = name.removesuffix(" alone")
    schema = examples_schema(replace(info, task="single", text=(field,)), annotators=ANNOTATOR_LABELS in table.column_names)
    return pa.table({column: table[column] for column in schema.names}, schema=schema)

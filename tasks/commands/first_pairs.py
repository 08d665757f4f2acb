"""The command `first-pairs`: where no label is there yet, the first pairs for people to label, as a sheet that `init-pairs` reads."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from cartograph.data.whole_files import write_whole
from cartograph.errors import InputError
from tasks.commands.given_files import told_encoding
from tasks.presentation.console import progress, say

COLUMNS = ("left_id", "right_id", "left", "right", "alike", "label")
_NEIGHBOURS = 20


def first_pairs(
    left: Annotated[str, typer.Option(help="Table of records; all columns but the one that names them are their text.")],
    right: Annotated[str, typer.Option(help="Table of the records to match them with; by default the left table itself.")] = "",
    id: Annotated[str, typer.Option("--id", help="Column of both tables that names each record.")] = "id",
    rows: Annotated[int, typer.Option("--rows", min=10, help="Pairs on the sheet.")] = 60,
    format: Annotated[str, typer.Option(help="csv, tsv, jsonl or parquet; guessed by default.")] = "",
    encoding: Annotated[str, typer.Option(help="Encoding of text files; detected by default.")] = "",
    out: Annotated[str, typer.Option(help="Where to write the sheet.")] = "first-pairs.csv",
) -> None:
    """Write a sheet of the first pairs to label, chosen without any label: alike ones, of as many records as there can be."""
    from cartograph.data.spreadsheet import write_sheet
    from cartograph.pairs.answers import time_to_answer
    from cartograph.pairs.matcher.first_questions import first_questions
    from cartograph.pairs.matcher.records import Records

    target = Path(out).expanduser()
    if target.exists():
        raise InputError(f"{target} exists already, perhaps with answers in it; name another file with --out.")
    texts, ids, fields = _table(left, id, format, encoding)
    other, other_ids, other_fields = _table(right, id, format, encoding) if right else (texts, ids, fields)
    shared = {name: (fields[name], other_fields[name]) for name in fields if name in other_fields}
    records = Records(texts, other, shared)
    with progress("first pairs", "records"):
        found = first_questions(records, _NEIGHBOURS, rows)
    if not len(found.left):
        raise InputError(f"no record of {left} has a word in common with one of {right or left}; check that the tables are the right ones.")
    lines = [
        (ids[one], other_ids[two], texts[one], other[two], alike, "")
        for one, two, alike in zip(found.left.tolist(), found.right.tolist(), found.reasons, strict=True)
    ]
    write_whole(target, write_sheet(COLUMNS, lines))
    say(f"{target}: {len(lines):,} pairs to label, about {time_to_answer(len(lines))} of a person's time.")
    say("Write 1 into the column label where the two are the same, 0 where they are not; leave cells that you cannot decide empty.")
    say("")
    preset = "records" if right else "one-table"
    read_as = ("format", format), ("encoding", encoding)
    options = "".join(f" --{name} {shlex.quote(value)}" for name, value in (("id", id if id != "id" else ""), *read_as) if value)
    tables = f"--left-table {shlex.quote(left)}" + (f" --right-table {shlex.quote(right)}" if right else "")
    made = f"init-pairs workspaces/matching --preset {preset} --train {shlex.quote(out)}"
    say(f"Then: python -m tasks {made} {tables}{options} --oracle people")


def _table(path: str, id: str, format: str, encoding: str) -> tuple[list[str], list[str], dict[str, list[str]]]:
    """Return the whole texts of a table's records, their ids, and their fields."""
    from cartograph.pairs.stated_rows import column_of, entity_side
    from cartograph.read.formats import read
    from cartograph.read.source import Source

    name = Path(path).name
    own = str(Path(path).expanduser())
    batch = read(Source(own, name, format or None, encoding or told_encoding(own, format or None)))
    columns = [column for column in batch.table.column_names if column != id]
    if len(columns) == len(batch.table.column_names) or not columns:
        raise InputError(
            f"{path} needs a column `{id}` that names each record (--id names another), and columns of text; its columns are "
            f"{', '.join(batch.table.column_names)}."
        )
    if batch.rejected:
        first = batch.rejected[0]
        raise InputError(f"{path} row {first.row}: {first.reason} ({len(batch.rejected):,} such records); correct them first.")
    known, texts = entity_side(name, batch, id, columns)
    return texts, list(known), {column: column_of(batch, column, name) for column in columns}

"""The suspects and the cleaned rows as CSV files that a spreadsheet can open without running anything in them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from cartograph.data.csv_cells import csv_line
from cartograph.data.parquet import write_parquet
from cartograph.data.spreadsheet import inert, write_sheet
from cartograph.frames.cleaned_rows import Recipe
from cartograph.frames.labels_result import LabelsAudit
from cartograph.frames.result import FrameAudit
from cartograph.frames.rows import Rows
from cartograph.ingest.nested import outer_column
from cartograph.read.delimited import delimiter_of
from cartograph.read.formats import format_of
from cartograph.read.quotes import quoting_of
from cartograph.read.rewrite import encoding_of, own_suffix, parquet_rows, rewrite
from cartograph.read.source import Source
from cartograph.schema import WEIGHT


class Written(NamedTuple):
    """The tables of an audit.

    Attributes:
        suspects: the path of the suspects.
        rows: how many ``cleaned.csv`` has.
        guarded: how many of its cells got an apostrophe in front.
    """

    suspects: Path
    rows: int
    guarded: int


def write_tables(found: FrameAudit | LabelsAudit, folder: Path, recipe: Recipe = "auto") -> Written:
    """Write ``suspects.csv`` and ``cleaned.csv``, and ``set-aside.csv`` where rows were set aside.

    A cell that would be a formula gets an apostrophe in front; numbers and dates stay as they are. ``suspects.csv`` begins with the number
    of the row, and ends with what else the file has of it (a number, a source, who labelled); ``cleaned.csv`` has the columns of the data,
    and weights where the recipe gives rows some (with a decimal comma where other columns have one); it is delimited and encoded as a CSV
    file that was read; where that has semicolons, the others have them, too. Of a TSV, JSONL or Parquet file there is one in its own form
    beside it: ``cleaned.tsv``, ``cleaned.jsonl`` (or ``.json``; without weights) or ``cleaned.parquet``, which there is also where a cell
    of ``cleaned.csv`` got an apostrophe: it has all cells as they are.

    Args:
        found: an audit of a frame or a file.
        folder: where they are written; made where it is missing.
        recipe: how rows of one label are cleaned (``FrameAudit.cleaned``).
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "suspects.csv"
    rounded = [
        name for name in ("probability", "yes") if name in found.suspects and (name == "probability" or isinstance(found, LabelsAudit))
    ]
    rows = found._rows if isinstance(found, FrameAudit) else None
    shown = found.suspects.assign(**{name: found.suspects[name].round(4) for name in rounded})
    if rows is not None and rows.form is not None:
        shown = shown.join(rows.given[[name for name in rows.given if name not in shown and name != "row"]])
    source = None if rows is None else rows.source
    # Where spreadsheets separate cells by semicolons, they open a file with commas as one column.
    semicolons = source is not None and _kind(source) == "csv" and delimiter_of(source, "csv") == ";"
    commas = semicolons and rows is not None and rows.decimal_commas
    sheet = partial(write_sheet, plain=True, delimiter=";" if semicolons else ",", comma=commas)
    cells = [[_cell(value) for value in row] for row in shown.itertuples()]
    path.write_bytes(sheet(["row", *shown.columns], cells))
    cleaned = found._corrected if isinstance(found, LabelsAudit) else found._cleaned_rows.frame(recipe)
    comma = rows is not None and rows.form is not None and _added(cleaned, rows) and rows.decimal_commas
    (folder / "cleaned.csv").write_bytes(_data(cleaned, source, "csv", comma=comma))
    guarded, typed = _guarded(cleaned), folder / "cleaned.parquet"
    own = rows is not None and source is not None and _write_own_form(cleaned, rows, source, folder)
    if guarded and not own:
        write_parquet(_as_they_are(cleaned), typed)
    elif not own and (source is None or Path(source.path).resolve() != typed.resolve()):
        typed.unlink(missing_ok=True)  # An earlier audit's.
    if len(found.set_aside):
        aside = [[_cell(value) for value in row] for row in found.set_aside.itertuples(index=False)]
        (folder / "set-aside.csv").write_bytes(sheet(list(found.set_aside.columns), aside))
    else:
        (folder / "set-aside.csv").unlink(missing_ok=True)
    return Written(path, len(cleaned), guarded)


def _cell(value: Any) -> str | float:
    if hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0:
        value = value.tolist()
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=lambda inner: inner.tolist() if hasattr(inner, "tolist") else str(inner))
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    return value if isinstance(value, float | int) else str(value)


def _added(cleaned: pd.DataFrame, rows: Rows) -> bool:
    """Return whether cleaning added weights."""
    return WEIGHT in cleaned and WEIGHT not in rows.given


def _data(frame: pd.DataFrame, source: Source | None, kind: str, *, comma: bool) -> bytes:
    """Return a table as CSV or TSV, delimited and encoded as the source, where that is of this kind; ``comma``: in its numbers."""
    delimiter, encoding, quoted = ",", "utf-8", True
    if source is not None and _kind(source) == kind:
        delimiter, encoding, quoted = delimiter_of(source, kind), encoding_of(source), quoting_of(source, kind) == "standard"
    lines = []
    rows: list[Any] = [frame.columns.map(str), *frame.itertuples(index=False)]
    for row in rows:
        cells = [inert(cell) if isinstance(cell, str) else cell for cell in map(_cell, row)]
        if comma:
            cells = [str(cell).replace(".", ",") if isinstance(cell, float) else cell for cell in cells]
        lines.append(csv_line(cells, delimiter) if quoted else delimiter.join(map(str, cells)))
    return "".join(f"{line}\n" for line in lines).encode(encoding)


def _guarded(frame: pd.DataFrame) -> int:
    return sum(inert(cell) != cell for row in frame.itertuples(index=False) for cell in map(_cell, row) if isinstance(cell, str))


def _as_they_are(frame: pd.DataFrame) -> pa.Table:
    try:
        return pa.Table.from_pandas(frame.set_axis(frame.columns.map(str), axis=1), preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.table({str(name): [str(_cell(value)) for value in frame[name]] for name in frame.columns})


def _kind(source: Source) -> str:
    return source.format or format_of(source.path, source.name)


def _write_own_form(cleaned: pd.DataFrame, rows: Rows, source: Source, folder: Path) -> bool:
    """Write the rows that stay as the TSV, JSONL or Parquet file that they were read from has them, but for new labels.

    Returns:
        whether it was a Parquet file.
    """
    kind, label = _kind(source), rows.columns[-1]
    if kind == "tsv":
        (folder / "cleaned.tsv").write_bytes(_data(cleaned, source, "tsv", comma=_added(cleaned, rows) and rows.decimal_commas))
    before = rows.given[label].loc[cleaned.index]
    kept = {
        number: None if old == new else str(new) for number, old, new in zip(cleaned.index.tolist(), before, cleaned[label], strict=True)
    }
    weights = cleaned[WEIGHT] if _added(cleaned, rows) else None
    there = rows.file.batch.table.column_names
    if kind == "jsonl" and weights is None and (label in there or outer_column(there, label) is not None):
        rewrite(source, label, kept, folder / f"cleaned{own_suffix(source)}")
    if kind == "parquet" and (table := parquet_rows(source, label, kept)) is not None:
        write_parquet(table if weights is None else table.append_column(WEIGHT, pa.array(weights.to_numpy())), folder / "cleaned.parquet")
        return True
    return False

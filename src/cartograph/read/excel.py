"""Sheets of an Excel workbook: the values of cells as they were last computed, no formula and no macro."""

from __future__ import annotations

import csv
import datetime
import io
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from cartograph.errors import InputError
from cartograph.read.jsonl import as_text
from cartograph.read.opening import too_large
from cartograph.read.source import BATCH_ROWS, BROKEN_ARCHIVE, MEGABYTE, Batch, Source, distinct
from cartograph.wording import cut

SUFFIXES = (".xlsx", ".xlsm")

_MOST_TITLE = 20
"""Rows among which the header is looked for."""


def read(source: Source) -> Iterator[Batch]:
    """Yield the rows of a workbook's sheet, the first unless ``split`` names one; its first row has the names of the columns.

    A title above them is passed over: rows with nothing but a first cell, where one with several follows. So are rows without any value;
    the number of a row is that of the sheet, the header and what stands above it not counted. Numbers without a fraction
    become text without one, dates as ISO 8601 writes them, and an error (``#N/A``) is no value.

    Raises:
        InputError: it is no workbook, is locked or damaged, unpacks to more than the source may hold, or has no such sheet.
    """
    with _sheet(source) as rows:
        rows = rows if source.columns else _untitled(rows)
        columns = tuple(distinct(source.columns)) or _header(source, rows)
        numbered = ((number, row) for number, row in enumerate(rows, start=1) if any(cell is not None for cell in row))
        while chunk := list(islice(numbered, BATCH_ROWS)):
            arrays = {
                name: pa.array([_text(row[place]) if place < len(row) else None for _, row in chunk], pa.string())
                for place, name in enumerate(columns)
                if name
            }
            yield Batch(pa.table(arrays), pa.array([number for number, _ in chunk], pa.int64()))


def sheet_named(path: str | Path) -> tuple[str, str | None]:
    """Return the path of a workbook and the sheet named behind it, as in `book.xlsx:SHEET`; any other path as it is.

    >>> sheet_named("rows.csv")
    ('rows.csv', None)
    """
    base, _, sheet = str(path).rpartition(":")
    named = base.lower().endswith(SUFFIXES) and not Path(path).exists() and Path(base).is_file()
    return (base, sheet) if named else (str(path), None)


def other_sheets(source: Source) -> str:
    """Return how to name another sheet of a workbook of which none was named, as the end of a sentence; nothing where there is no other."""
    from openpyxl import load_workbook

    if source.split is not None or not source.path.lower().endswith(SUFFIXES):
        return ""
    try:
        book = load_workbook(source.path, read_only=True)
    except (*BROKEN_ARCHIVE, KeyError, SyntaxError, TypeError):
        return ""
    titles = [sheet.title for sheet in book.worksheets]
    book.close()
    if len(titles) < 2:
        return ""
    named = ", ".join(f"`{cut(title, 40)}`" for title in titles[1:])
    return f"; only its first sheet, `{cut(titles[0], 40)}`, was read: name another as {source.name}:SHEET ({named})"


def as_csv(path: Path) -> bytes:
    """Return a workbook's first sheet as CSV in UTF-8, each row on its own line, a title above the header left out.

    Cells are as ``read`` reads them, but for errors (``#N/A``), which stay, as do cells beyond the header.

    Raises:
        InputError: as ``read``, but for what it says of a header.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    with _sheet(Source(str(path), str(path))) as rows:
        first = list(islice(rows, _MOST_TITLE))
        above = _titles(first)
        writer.writerows([()] * above)
        for row in chain(first[above:], rows):
            writer.writerow([cell if isinstance(cell, str) else _text(cell) for cell in row])
    return file.getvalue().encode()


@contextmanager
def _sheet(source: Source) -> Iterator[Iterator[tuple[Any, ...]]]:
    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(source.path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > source.max_megabytes * MEGABYTE:
            raise InputError(too_large(source))
        book = load_workbook(source.path, read_only=True, data_only=True, keep_links=False)
    except InputError:
        raise
    except (*BROKEN_ARCHIVE, KeyError, SyntaxError, TypeError) as error:
        raise InputError(
            f"{source.name} is not an Excel workbook that can be read ({error or type(error).__name__}); save it again as .xlsx, without a "
            "password, or as CSV."
        ) from error
    try:
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if source.split is not None and source.split not in sheets:
            raise InputError(f"{source.name} has no sheet `{source.split}`; it has {', '.join(sheets)}.")
        if not sheets:
            raise InputError(f"{source.name} has no sheet with cells.")
        try:
            sheet = sheets[source.split or next(iter(sheets))]
            # What a sheet says of its own size may be wrong; its rows are then as wide as their last cell.
            sheet.reset_dimensions()
            yield iter(sheet.iter_rows(values_only=True))
        except (*BROKEN_ARCHIVE, SyntaxError, TypeError) as error:
            raise InputError(f"{source.name} is damaged ({error or type(error).__name__}); save it again.") from error
    finally:
        book.close()


def _untitled(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Return the rows from the header on."""
    first = list(islice(rows, _MOST_TITLE))
    return chain(first[_titles(first) :], rows)


def _titles(first: Sequence[tuple[Any, ...]]) -> int:
    """Return how many of the first rows stand above the header."""
    for place, row in enumerate(first):
        filled = [column for column, cell in enumerate(row) if cell is not None]
        if len(filled) > 1:
            return place
        if filled and filled != [0]:
            break
    return 0


def _header(source: Source, rows: Iterator[tuple[Any, ...]]) -> tuple[str, ...]:
    names = [(_text(cell) or "").strip() for cell in next(rows, ())]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise InputError(f"{source.name} has nothing in its first row, where the names of the columns belong; name them with `columns`.")
    return tuple(distinct([name or f"column {place}" for place, name in enumerate(names, start=1)]))


def _text(value: Any) -> str | None:
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, str):
        return None if value.startswith("#") and value in _ERRORS else value
    return as_text(value) if isinstance(value, bool | int | float | None) else str(value)


_ERRORS = ("#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")

"""CSV sheets that people open, fill in and send back: safe in a spreadsheet, and read as spreadsheets write them.

A cell that a spreadsheet would run as a formula, or rewrite because it looks like a number or a date, gets an apostrophe in
front. Reading takes it away again. Written as UTF-8 with a byte order mark, without which Excel takes a file for its local encoding.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cartograph.data.csv_cells import csv_reader
from cartograph.errors import InputError

LONGEST = 32_000
"""Most characters of a cell: beyond 32,767 Excel spills what follows into other rows."""

_FORMULA = re.compile(r"[\s\"']*[=+\-@＝＋－＠]|[\"']*[\t\r\n]")
_NUMBER = r"(?=[^\d]*\d)[\d.,:/%e$€£ +-]{1,40}"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)"
)
_DATE = rf"\d{{1,4}}[ ./-]?{_MONTH}(?:[ ,./-]*\d{{1,4}})?|{_MONTH}[ ./-]?\d{{1,4}}(?:[ ,./-]+\d{{1,4}})?"
_REWRITTEN = re.compile(rf"'*\s*(?:{_NUMBER}|{_DATE}|true|false)\s*", re.IGNORECASE)
_SIGNED_NUMBER = re.compile(r"[+-]?[$€£¥₹]?(?:\d+(?:[.,' \u00a0\u202f]\d{3})*(?:[.,]\d+)?|[.,]\d+)(?:[eE][+-]?\d+)?(?: ?[%$€£¥₹])?")
_PLAIN_NUMBER = re.compile(r"0|[1-9]\d{0,14}")
_DELIMITERS = ",;\t"


def guarded(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs or rewrites; ``unguarded`` undoes it.

    >>> guarded("=1+1"), guarded("00123"), guarded("plain"), unguarded(guarded("'=1+1"))
    ("'=1+1", "'00123", 'plain', "'=1+1")
    """
    return f"'{text}" if _needs_guard(text) else text


def inert(text: str) -> str:
    """Return a text as a cell of data that no spreadsheet runs as a formula; unlike ``guarded`` it leaves numbers and dates as they are.

    >>> inert("=1+1"), inert("-1.5"), inert("-1.234,5"), inert("00123")
    ("'=1+1", '-1.5', '-1.234,5', '00123')
    """
    return f"'{text}" if _FORMULA.match(text) and not _SIGNED_NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """Return the text of a cell."""
    return cell[1:] if cell.startswith("'") and _needs_guard(cell[1:]) else cell


def _needs_guard(text: str) -> bool:
    """Return whether a text is unsafe as a cell; true of ``'x`` wherever it is true of ``x``, so that guards can be undone."""
    if _FORMULA.match(text):
        return True
    return bool(_REWRITTEN.fullmatch(text)) and not _PLAIN_NUMBER.fullmatch(text)


def shortened(text: str) -> str:
    """Return a text that fits a cell; one that was cut says how long it was."""
    if len(text) < LONGEST:
        return text
    return f"{text[: LONGEST - 60]} … [cut: {len(text):,} characters in all]"


def write_sheet(
    header: Sequence[str], rows: Iterable[Sequence[str | float]], *, plain: bool = False, delimiter: str = ",", comma: bool = False
) -> bytes:
    """Return a CSV file; every text is guarded and cut to what spreadsheets hold, numbers are written as they are.

    Args:
        header: names of the columns.
        rows: their cells.
        plain: whether numbers and dates that are texts stand without an apostrophe, so that programs read them as such; formulas never do.
        delimiter: between cells.
        comma: whether the numbers have a decimal comma.
    """
    safe = inert if plain else guarded
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n", delimiter=delimiter)
    for row in (header, *rows):
        cells = [safe(shortened(cell)) if isinstance(cell, str) else cell for cell in row]
        writer.writerow([str(cell).replace(".", ",") if comma and isinstance(cell, float) else cell for cell in cells])
    return codecs.BOM_UTF8 + file.getvalue().encode()


@dataclass(frozen=True)
class Record:
    """A row of a sheet.

    Attributes:
        line: the 1-based line of the file on which it starts.
        row: its number in a spreadsheet; another than ``line`` where a cell above holds line breaks.
        cells: column in lower case -> text, unguarded.
    """

    line: int
    row: int
    cells: Mapping[str, str]

    @property
    def place(self) -> str:
        """Its line, for messages."""
        return f"line {self.line}" if self.line == self.row else f"line {self.line} (row {self.row} of a spreadsheet)"


def header_of(content: bytes, name: str) -> tuple[str, ...]:
    """Return the columns of a CSV file in lower case, whatever its delimiter.

    Args:
        content: of the file.
        name: what messages call it.

    Raises:
        InputError: not text, or empty.
    """
    return _open(content, name, ())[0]


def read_sheet(content: bytes, name: str, required: Sequence[str]) -> list[Record]:
    """Return the rows of a CSV file as a spreadsheet or a person wrote it: delimited by commas, semicolons or tabs; UTF-8 or UTF-16.

    A sheet that is neither is read as Windows-1252, as Excel saves “CSV” in western countries.

    Args:
        content: of the file.
        name: what messages call it.
        required: columns that must be there, in lower case; others may.

    Raises:
        InputError: not text, a required column is missing or there twice, or a row is longer than the header or has quotes that do not
            pair; the message names the line.
    """
    header, row, reader = _open(content, name, required)
    missing = [column for column in required if column not in header]
    if missing:
        raise InputError(f"{name} has no column `{missing[0]}`; its columns are {', '.join(header)}.")
    twice = [column for column in required if header.count(column) > 1]
    if twice:
        raise InputError(f"{name} has the column `{twice[0]}` {header.count(twice[0])} times; keep one.")
    records: list[Record] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return records
        except csv.Error as error:
            raise InputError(f"{name} line {line} cannot be read ({error}); save it as CSV from a spreadsheet.") from error
        row += 1
        if any(cell.strip() for cell in cells[len(header) :]):
            raise InputError(f"{name} line {line} has {len(cells)} cells, the header {len(header)}; put quotes around its texts.")
        if any(cell.strip() for cell in cells):
            padded = [*cells, *[""] * (len(header) - len(cells))]
            texts = {column: unguarded(cell) for column, cell in zip(header, padded, strict=False) if column}
            records.append(Record(line, row, texts))


def _open(content: bytes, name: str, required: Sequence[str]) -> tuple[tuple[str, ...], int, Any]:
    """Return the header, its row and a reader behind it, by the delimiter that finds the most required columns, then the most columns."""
    text = _decoded(content, name)
    tries = []
    for delimiter in _DELIMITERS:
        reader = csv_reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            rows = enumerate((row for row in reader if not (row and row[0].lower().startswith("sep="))), start=1)
            place, header = next(((number, row) for number, row in rows if any(row)), (1, []))
        except csv.Error:
            continue
        named = tuple(unguarded(cell).strip().lower() for cell in header)
        tries.append((len(set(required) & set(named)), len(named), named, place, reader))
    if not tries or not max(tries, key=lambda one: one[:2])[2]:
        raise InputError(f"{name} is empty, or has no header that can be read.")
    _, _, named, place, reader = max(tries, key=lambda one: one[:2])
    return named, place, reader


def _decoded(content: bytes, name: str) -> str:
    if content.startswith(b"PK\x03\x04"):
        raise InputError(f"{name} is a spreadsheet's own file (such as .xlsx), not text; save the sheet as CSV there, and name that file.")
    wide = content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    try:
        return content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        # Letters that are UTF-8 beside a byte that is not: a damaged file, every letter of which would be read wrongly.
        if not wide and content.decode(errors="ignore").isascii():
            return content.decode("cp1252", errors="replace")
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{name} is not {'UTF-16' if wide else 'UTF-8'} text (line {line}); save it as “CSV UTF-8”.") from error

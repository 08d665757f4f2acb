"""CSV and TSV: a header line (Orange's: three), then one record per line; a record with another number of fields is rejected."""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import IO

import pyarrow as pa

from cartograph.data.csv_cells import MAX_CELL, csv_line, csv_reader
from cartograph.errors import InputError
from cartograph.read import orange
from cartograph.read.encodings import NOT_DECODED, broken_byte, printable
from cartograph.read.jsonl import like, put_at
from cartograph.read.opening import open_text
from cartograph.read.orange import Stated
from cartograph.read.quotes import quoting_of
from cartograph.read.source import BATCH_ROWS, TOO_LONG, Batch, Rejected, Source, distinct

WRONG_NUMBER = "wrong number of fields"
"""Reason of a record with more or fewer fields than columns."""


_MOST_TITLE = 10
"""Lines among which the header is looked for."""

_SEP = re.compile(r"\"?sep=([^\w\s\"]|\t)\"?\s*", re.IGNORECASE)


def read_csv(source: Source) -> Iterator[Batch]:
    """Yield the records of a comma-separated file; fields may be quoted."""
    return _read(source, source.delimiter, quoting=quoting_of(source, "csv"))


def read_tsv(source: Source) -> Iterator[Batch]:
    """Yield the records of a tab-separated file, whose quotes are text, as in GLUE, or stand around fields (``quotes``)."""
    return _read(source, source.delimiter or "\t", quoting=quoting_of(source, "tsv"))


class _Lines:
    """The lines of a file for ``csv.reader``; the lines that a broken record consumed can be given back."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._returned: deque[str] = deque()
        self.taken: list[str] = []

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._returned.popleft() if self._returned else next(self._file)
        self.taken.append(line)
        return line

    def peek(self, ahead: int = 0) -> str:
        """Return the next line, or one further ahead, without taking it; empty at the end."""
        self._returned.extend(islice(self._file, max(ahead + 1 - len(self._returned), 0)))
        return self._returned[ahead] if len(self._returned) > ahead else ""

    def give_back(self) -> str:
        """Keep the first line of the broken record, give back the rest, and return the kept one."""
        first, *rest = self.taken
        self._returned.extendleft(reversed(rest))
        return first


@dataclass(frozen=True)
class _Layout:
    """How a file is delimited, its header as written, and what that says of columns beside their names."""

    delimiter: str
    quoting: str
    columns: tuple[str, ...]
    header: str
    stated: Mapping[str, Stated]


def _read(source: Source, delimiter: str | None, *, quoting: str) -> Iterator[Batch]:
    with open_text(source.path, source, newline="") as file:
        lines = _Lines(file)
        layout, reader = _opened(source, lines, delimiter, quoting)
        yield from _batches(layout, reader, lines)


def _opened(source: Source, lines: _Lines, delimiter: str | None, quoting: str) -> tuple[_Layout, Iterator[list[str]]]:
    """Return how the file is laid out, and a reader placed after the header."""
    if (stated := _named(lines.peek())) is not None:
        next(lines)
    if not source.columns:
        for _ in range(_title_lines(lines)):
            next(lines)
    delimiter = delimiter or stated or _delimiter(lines.peek())
    try:
        reader = csv_reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE if quoting == "none" else csv.QUOTE_MINIMAL)
    except (TypeError, ValueError) as error:
        raise InputError(f"{source.name}: delimiter {delimiter!r} must be a single character.") from error
    columns = _stated(source, lines) if source.columns else _header(source, reader)
    found = _stated_of(columns, lines) if delimiter == "\t" and not source.columns else {}
    return _Layout(delimiter, quoting, columns, "".join(lines.taken), found), reader


def _stated_of(columns: tuple[str, ...], lines: _Lines) -> Mapping[str, Stated]:
    """Return what two more lines of a header say of the columns, and take them; nothing where they are rows."""
    types, flags = (lines.peek(ahead) for ahead in (0, 1))
    found = orange.stated(columns, *(line.rstrip("\r\n").split("\t") for line in (types, flags))) if flags else None
    if found is None:
        return {}
    for _ in range(2):
        next(lines)
    return found


def delimiter_of(source: Source, kind: str) -> str:
    """Return what stands between the fields of a CSV or TSV file; ``kind``: ``csv`` or ``tsv``."""
    if source.delimiter or kind == "tsv":
        return source.delimiter or "\t"
    with open_text(source.path, source, newline="") as file:
        lines = _Lines(file)
        return _named(lines.peek()) or _delimiter(lines.peek(0 if source.columns else _title_lines(lines)))


def rewrite(
    source: Source, kind: str, column: str, kept: Mapping[int, str | None], more: tuple[str, Mapping[int, float]] | None = None
) -> Iterator[str]:
    """Yield the text of a CSV or TSV file with some of its records, byte for byte but for new labels and a column more.

    Args:
        kind: ``csv`` or ``tsv``.
        column: the label's, or the path to it inside a column that holds JSON.
        kept: number of each record that stays -> its new label, None where it keeps its own.
        more: the name of a last column, and the number of each record in it; None: no such column.
    """
    quoting = quoting_of(source, kind)
    with open_text(source.path, source, newline="") as file:
        lines = _Lines(file)
        layout, reader = _opened(source, lines, source.delimiter or (None if kind == "csv" else "\t"), quoting)
        place, inside = _place(layout.columns, column)
        yield layout.header if more is None else _with_cell(layout.header, more[0], layout.delimiter)
        for number, record in _records(len(layout.columns), reader, lines):
            text = "".join(lines.taken)
            if number not in kept or isinstance(record, Rejected):
                continue
            label = kept[number]
            if label is not None:
                cell = put_at(record[place], inside, partial(like, label=label))
                text = _written([*record[:place], cell, *record[place + 1 :]], layout, text)
            yield text if more is None else _with_cell(text, f"{more[1][number]:.6g}", layout.delimiter)


def _with_cell(text: str, cell: str, delimiter: str) -> str:
    """Return the text of a record, or of the header, with a cell more at its end."""
    body = text.rstrip("\r\n")
    return f"{body}{delimiter}{cell}{text[len(body) :]}"


def _place(columns: tuple[str, ...], column: str) -> tuple[int, list[str]]:
    """Return which column has the label, and the path to it in there."""
    parts = column.split(".")
    found = next(length for length in range(len(parts), 0, -1) if ".".join(parts[:length]) in columns)
    return columns.index(".".join(parts[:found])), parts[found:]


def _written(record: list[str], layout: _Layout, before: str) -> str:
    end = before[len(before.rstrip("\r\n")) :]
    if layout.quoting == "none":
        return layout.delimiter.join(record) + end
    return csv_line(record, layout.delimiter) + end


def _stated(source: Source, lines: _Lines) -> tuple[str, ...]:
    """Return the names that a source gives to its columns by position.

    Raises:
        InputError: its first line has them too.
    """
    if {name.casefold() for name in source.columns if name} <= set(re.split(r"[,;|\t\"\r\n]+", lines.peek().casefold())):
        raise InputError(f"{source.name} has the names of its columns in its first line; leave `columns` out.")
    return tuple(distinct(source.columns))


def _named(first: str) -> str | None:
    """Return the delimiter that a first line names for spreadsheets (``sep=;``); None of any other line."""
    found = _SEP.fullmatch(first)
    return None if found is None else found[1]


def _title_lines(lines: _Lines) -> int:
    """Return how many lines stand above the header: a title and a blank line, as spreadsheets are saved that have one; mostly none.

    A line is blank if it has nothing but delimiters, and one without anything but a first cell needs no blank line beneath.
    """
    shown = [lines.peek(ahead).rstrip("\r\n") for ahead in range(_MOST_TITLE)]
    for place in range(1, len(shown) - 1):
        mark = _delimiter(shown[place])
        *above, header, row = (_cells(line, mark) for line in shown[: place + 2])
        filled = [sum(map(bool, cells)) for cells in above]
        blank = not filled[-1] and all(
            not number or (cells[0] and (number == 1 or len(cells) != len(header))) for number, cells in zip(filled, above, strict=True)
        )
        alone = filled[-1] == 1 and bool(above[-1][0]) and len(above[-1]) == len(header) > 2
        if (blank or alone) and max(filled) < sum(map(bool, header)) > 1 and max(filled) > 0 and len(header) == len(row):
            return place
    return 0


def _cells(line: str, mark: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=mark), [])]
    except csv.Error:
        return []


def _delimiter(header: str) -> str:
    counts = {mark: header.count(mark) for mark in ",;\t|"}
    return "," if counts[","] else max(counts, key=lambda mark: counts[mark])


def _header(source: Source, reader: Iterator[list[str]]) -> tuple[str, ...]:
    try:
        given = next((row for row in reader if row), [])
    except csv.Error as error:
        raise InputError(f"{source.name} line 1, the header, is not readable ({error}); name the columns with `columns`.") from error
    if wrong := next(filter(None, map(broken_byte, given)), None):
        raise InputError(f"{source.name} line 1, the header, cannot be decoded ({wrong}); set `encoding` to the file's own.")
    return tuple(distinct([name.strip() or f"column {index}" for index, name in enumerate(given, start=1)]))


def _batches(layout: _Layout, reader: Iterator[list[str]], lines: _Lines) -> Iterator[Batch]:
    width = len(layout.columns)
    numbered = _records(width, reader, lines)
    while chunk := list(islice(numbered, BATCH_ROWS)):
        records = [record for _, record in chunk if not isinstance(record, Rejected)]
        rows = [number for number, record in chunk if not isinstance(record, Rejected)]
        rejected = tuple(record for _, record in chunk if isinstance(record, Rejected))
        yield Batch(_table(layout.columns, records), pa.array(rows, pa.int64()), rejected, _merged(rows, records, layout), layout.stated)


def _merged(numbers: list[int], records: list[list[str]], layout: _Layout) -> tuple[int, ...]:
    """Return which records have a cell that holds the end of a record, or a whole one, as where a stray quote swallowed ends of lines.

    A part of a line counts as a cell of its own where it is one of the values that its column repeats, as a column of labels does.
    """
    long = [place for place, record in enumerate(records) if any("\n" in cell or "\r" in cell for cell in record)]
    if not long or len(layout.columns) < 2:
        return ()
    repeated = []
    for column in zip(*records, strict=True):
        counts = Counter(column)
        repeated.append(
            {value for value, count in counts.items() if count > 1 and value.strip()} if 2 * len(counts) <= len(column) else set()
        )
    return tuple(numbers[place] for place in long if _holds_a_record(records[place], layout.delimiter, repeated))


def _holds_a_record(record: list[str], delimiter: str, repeated: list[set[str]]) -> bool:
    for place, cell in enumerate(record):
        first, *inner = cell.splitlines()[:-1] or [""]
        parts = [(place, first.split(delimiter)), *((0, line.split(delimiter)) for line in inner)]
        for start, fields in parts:
            if start + len(fields) == len(record) > 1 and any(
                value in repeated[start + offset] for offset, value in enumerate(fields) if start + offset != place or start == 0 < offset
            ):
                return True
    return False


def _records(width: int, reader: Iterator[list[str]], lines: _Lines) -> Iterator[tuple[int, list[str] | Rejected]]:
    """Yield each record's number and its fields; until the next one is asked for, ``lines.taken`` holds its text."""
    number = 0
    while True:
        lines.taken.clear()
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            number += 1
            long = "field limit" in str(error) and len(lines.taken[0]) > MAX_CELL
            reason, first = TOO_LONG if long else "quotes that do not pair", lines.give_back().rstrip("\r\n")
            detail = f"a line of {len(first):,} characters" if long else str(error)
            yield number, Rejected(number, reason, detail, printable(first[:MAX_CELL]))
            continue
        if not record:
            continue
        number += 1
        if (wrong := next(filter(None, map(broken_byte, lines.taken)), None)) is not None:
            yield number, Rejected(number, NOT_DECODED, wrong, printable("".join(lines.taken).rstrip("\r\n")))
        elif len(record) == width:
            yield number, record
        else:
            detail = f"{len(record)} fields instead of {width}"
            yield number, Rejected(number, WRONG_NUMBER, detail, "".join(lines.taken).rstrip("\r\n"))


def _table(columns: tuple[str, ...], records: list[list[str]]) -> pa.Table:
    values = zip(*records, strict=True) if records else [()] * len(columns)
    named = [(name, column) for name, column in zip(columns, values, strict=True) if name]
    return pa.Table.from_arrays([pa.array(column, pa.string()) for _, column in named], names=[name for name, _ in named])

"""Python's reader of delimited text, with one limit to the length of a cell wherever a file is read; and its writer, a line at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

MAX_CELL = 1_000_000
"""Most characters of a cell; a record with a longer one is rejected, whatever the format."""


def csv_reader(lines: Iterable[str], **layout: Any) -> Iterator[list[str]]:
    """Return ``csv.reader(lines, **layout, strict=True)``, which takes cells of up to ``MAX_CELL`` characters.

    The limit is the whole process's, so every reader sets it: what a file holds never depends on which file was read before.

    Raises:
        TypeError, ValueError: for a layout that ``csv`` does not know.
    """
    csv.field_size_limit(MAX_CELL)
    return csv.reader(lines, **layout, strict=True)


def csv_line(cells: Sequence[str | float], delimiter: str = ",") -> str:
    """Return a record as a line without its end; with quotes around cells that hold a quote, a delimiter or the end of a line.

    >>> csv_line(["a", "b, c", "two" + chr(13) + "lines"])
    'a,"b, c","two\\rlines"'
    """
    file = io.StringIO(newline="")
    # It quotes what ends a line only where it ends lines with it.
    csv.writer(file, delimiter=delimiter, lineterminator="\r\n").writerow(cells)
    return file.getvalue()[:-2]

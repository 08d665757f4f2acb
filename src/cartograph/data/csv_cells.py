"""Python's reader of delimited text, with one limit to the length of a cell wherever a file is read."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
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

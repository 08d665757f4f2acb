"""Whether a quote in a tab-separated file stands around a field, as in CSV, or is text, as in GLUE."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Literal

from cartograph.data.csv_cells import csv_reader
from cartograph.read.opening import open_text
from cartograph.read.source import Source

Quoting = Literal["standard", "none"]

_NEEDED = ('""', ",", "\t")
"""What spreadsheets and programs put quotes around a field for, beside ends of lines."""


def quoting_of(source: Source, kind: str) -> Quoting:
    """Return how a CSV or TSV file is quoted, where the source does not say so; ``kind``: ``csv`` or ``tsv``.

    The quotes of a TSV stand around fields if all names of columns have them; or if every field that begins with one ends with one, all
    records have as many fields so, and each of these fields holds what it needs them for: a comma, a quote, a tab, or the end of a line
    (not with a tab as well, as where a stray quote swallows a part of the next record). Else they are text.
    """
    if source.quoting is not None:
        return source.quoting
    return "standard" if kind == "csv" or _stand_around(source) else "none"


def _stand_around(source: Source) -> bool:
    mark = source.delimiter or "\t"
    with open_text(source.path, source, newline="") as file:
        first = next((line for line in file if line.strip()), "").rstrip("\r\n")
        names = first.split(mark)
        if not source.columns and len(names) > 1 and all(_is_quoted(name) for name in names):
            return True
        if not any(line.startswith('"') or f'{mark}"' in line for line in file):
            return False
    with open_text(source.path, source, newline="") as file:
        return _all_need_them(iter(file), mark)


def _all_need_them(lines: Iterator[str], mark: str) -> bool:
    taken: list[str] = []

    def noted() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    width, needed = 0, False
    try:
        for record in csv_reader(noted(), delimiter=mark):
            width = width or len(record)
            if record and len(record) != width:
                return False
            fields = [line.rstrip("\r\n").split(mark) for line in taken]
            if len(taken) > 1 and sum(len(own) - 1 for own in fields) >= width:
                return False  # A stray quote swallowed the end of a line, and fields of the next.
            if record and len(taken) == 1 and len(fields[0]) == width:
                quoted = [field for field in fields[0] if _is_quoted(field)]
                if not all(any(part in field[1:-1] for part in _NEEDED) for field in quoted):
                    return False
                needed = needed or bool(quoted)
            elif record:
                needed = True
            taken.clear()
    except (csv.Error, TypeError, ValueError):
        return False
    return needed


def _is_quoted(field: str) -> bool:
    return len(field) > 1 and field.startswith('"') and field.endswith('"')

"""Whether a quote in a tab-separated file stands around a field, as in CSV, or is text, as in GLUE."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Literal

from cartograph.data.csv_cells import csv_reader
from cartograph.read.opening import open_text
from cartograph.read.source import Source

Quoting = Literal["standard", "none"]

_NEEDED = ('""', ",")
"""What spreadsheets and programs put quotes around a field for, beside tabs and ends of lines."""


def quoting_of(source: Source, kind: str) -> Quoting:
    """Return how a CSV or TSV file is quoted, where the source does not say so; ``kind``: ``csv`` or ``tsv``.

    The quotes of a TSV stand around fields if all fields of its first line have them; or if every field that begins with one ends with
    one, all records have as many fields so, and each of these fields holds what it needs them for (a comma, a quote, a tab, or the end of
    a line, not with a tab as well, as where a stray quote swallows a part of the next record) or is of a column all of whose fields have
    them. Else they are text.
    """
    if source.quoting is not None:
        return source.quoting
    return "standard" if kind == "csv" or _stand_around(source) else "none"


def _stand_around(source: Source) -> bool:
    mark = source.delimiter or "\t"
    with open_text(source.path, source, newline="") as file:
        first = next((line for line in file if line.strip()), "").rstrip("\r\n").split(mark)
        if len(first) > 1 and all(map(_is_quoted, first)):
            return True
        if not any(line.startswith('"') or f'{mark}"' in line for line in file):
            return False
    with open_text(source.path, source, newline="") as file:
        return _around_fields(iter(file), mark, bool(source.columns))


def _around_fields(lines: Iterator[str], mark: str, no_header: bool) -> bool:
    taken: list[str] = []

    def noted() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    width, found, needless, bare = 0, False, set[int](), set[int]()
    try:
        for number, record in enumerate(csv_reader(noted(), delimiter=mark)):
            fields = [line.rstrip("\r\n").split(mark) for line in taken]
            taken.clear()
            if not record:
                continue
            width = width or len(record)
            if len(record) != width or (len(fields) > 1 and sum(len(own) - 1 for own in fields) >= width):
                return False
            if len(fields) > 1 or len(fields[0]) != width:
                found = True
            elif number or no_header:
                for place, field in enumerate(fields[0]):
                    if _is_quoted(field):
                        found = True
                        needless |= set() if any(part in field[1:-1] for part in _NEEDED) else {place}
                    elif field:
                        bare.add(place)
    except (csv.Error, TypeError, ValueError):
        return False
    return found and not needless & bare


def _is_quoted(field: str) -> bool:
    return len(field) > 1 and field.startswith('"') and field.endswith('"')

"""One file per field, line by line: ``premise=s1.dev,hypothesis=s2.dev,label=labels.dev``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice, zip_longest

import pyarrow as pa

from cartograph.errors import InputError
from cartograph.read.encodings import NOT_DECODED, broken_byte, printable
from cartograph.read.opening import open_text
from cartograph.read.source import BATCH_ROWS, Batch, Rejected, Source

_FIELD = re.compile(r"(?:^|,)([^\W\d][\w.-]*)=")


def fields_of(path: str) -> dict[str, str]:
    """Return field name -> path of a ``name=PATH,name=PATH`` source, or an empty mapping for any other source.

    >>> fields_of("premise=data/s1.dev,label=data/labels.dev")
    {'premise': 'data/s1.dev', 'label': 'data/labels.dev'}
    >>> fields_of("data/train.csv")
    {}
    """
    marks = list(_FIELD.finditer(path))
    if len(marks) < 2 or marks[0].start() != 0:
        return {}
    ends = [mark.start() for mark in marks[1:]] + [len(path)]
    return {mark.group(1): path[mark.end() : end] for mark, end in zip(marks, ends, strict=True)}


def read(source: Source) -> Iterator[Batch]:
    """Yield the records of files that have one line per record each, one column per file.

    Raises:
        InputError: the source names no fields, or the files have different numbers of lines.
    """
    fields = fields_of(source.path)
    if not fields:
        raise InputError(f"{source.name}: one file per field is written `name=PATH,name=PATH`, such as `text=texts.txt,label=labels.txt`.")
    with ExitStack() as stack:
        files = [stack.enter_context(open_text(path, source, newline="\n")) for path in fields.values()]
        together = enumerate(zip_longest(*files), start=1)
        while chunk := list(islice(together, BATCH_ROWS)):
            for number, values in chunk:
                if None in values:
                    short = [path for path, value in zip(fields.values(), values, strict=True) if value is None]
                    raise InputError(
                        f"the files of {source.name} do not run in step: {', '.join(short)} ends after {number - 1} lines, others go on; "
                        "they must have one line per record each."
                    )
            rejected = [
                Rejected(number, NOT_DECODED, wrong, printable(" | ".join(value.rstrip("\r\n") for value in values)))
                for number, values in chunk
                if (wrong := next(filter(None, map(broken_byte, values)), None))
            ]
            aside = {record.row for record in rejected}
            kept = [(number, values) for number, values in chunk if number not in aside]
            columns = zip(*(values for _, values in kept), strict=True) if kept else [()] * len(fields)
            arrays = [pa.array([value.rstrip("\r\n") for value in column], pa.string()) for column in columns]
            table = pa.Table.from_arrays(arrays, names=list(fields))
            yield Batch(table, pa.array([number for number, _ in kept], pa.int64()), tuple(rejected))

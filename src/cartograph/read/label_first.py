"""Label-first text: each line is a label, white space, and the text (``DESC:manner How did serfdom develop …``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

import pyarrow as pa

from cartograph.errors import InputError
from cartograph.read.encodings import NOT_DECODED, broken_byte, printable
from cartograph.read.opening import open_text
from cartograph.read.source import BATCH_ROWS, Batch, Rejected, Source


def read(source: Source) -> Iterator[Batch]:
    """Yield the lines of a label-first file as the columns ``label`` and ``text``; blank lines are passed over."""
    with open_text(source.path, source, newline="\n") as file:
        numbered = enumerate(file, start=1)
        while chunk := list(islice(numbered, BATCH_ROWS)):
            rows, labels, texts, rejected = [], [], [], []
            for number, line in chunk:
                parts = line.split(maxsplit=1)
                if parts and (wrong := broken_byte(line)):
                    rejected.append(Rejected(number, NOT_DECODED, wrong, printable(line.rstrip("\r\n"))))
                elif parts:
                    rows.append(number)
                    labels.append(parts[0])
                    texts.append(parts[1].rstrip("\r\n") if len(parts) > 1 else "")
            table = pa.table({"label": pa.array(labels, pa.string()), "text": pa.array(texts, pa.string())})
            yield Batch(table, pa.array(rows, pa.int64()), tuple(rejected))


def rewrite(source: Source, kept: Mapping[int, str | None]) -> Iterator[str]:
    """Yield the text of a label-first file with some of its lines, byte for byte but for new labels.

    Args:
        kept: number of each line that stays -> its new label, None where it keeps its own.

    Raises:
        InputError: a new label holds white space.
    """
    with open_text(source.path, source, newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if number in kept:
                label = kept[number]
                yield line if label is None else _relabelled(source, line, label)


def _relabelled(source: Source, line: str, label: str) -> str:
    if label.split() != [label]:
        raise InputError(f"{source.name}: the class `{label}` cannot be written in front of a text, for it holds white space.")
    old = line.split(maxsplit=1)[0]
    before, _, after = line.partition(old)
    return before + label + after

"""Label-first text: each line is a label, white space, and the text (``DESC:manner How did serfdom develop …``)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pyarrow as pa

from cartograph.read.source import BATCH_ROWS, Batch, Source, open_text


def read(source: Source) -> Iterator[Batch]:
    """Yield the lines of a label-first file as the columns ``label`` and ``text``; blank lines are passed over."""
    with open_text(source.path, source, newline="\n") as file:
        numbered = enumerate(file, start=1)
        while chunk := list(islice(numbered, BATCH_ROWS)):
            rows, labels, texts = [], [], []
            for number, line in chunk:
                parts = line.split(maxsplit=1)
                if parts:
                    rows.append(number)
                    labels.append(parts[0])
                    texts.append(parts[1].rstrip("\r\n") if len(parts) > 1 else "")
            yield Batch(
                pa.table({"label": pa.array(labels, pa.string()), "text": pa.array(texts, pa.string())}), pa.array(rows, pa.int64())
            )

"""Sources of rows, and the batches that readers make of them."""

from __future__ import annotations

import json
import lzma
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pyarrow as pa

from cartograph.data.csv_cells import MAX_CELL
from cartograph.data.progress import Progress
from cartograph.errors import InputError
from cartograph.read.orange import Stated

BATCH_ROWS, BATCH_ROWS_OF_IMAGES = 50_000, 1_000
MAX_COLUMNS = 4096
TOO_LONG = f"cell of more than {MAX_CELL:,} characters"
MEGABYTE = 1_000_000

BROKEN_ARCHIVE = (
    zipfile.BadZipFile,
    RuntimeError,
    NotImplementedError,
    EOFError,
    OSError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
)
"""What ``zipfile`` raises for archives that are cut short, damaged, or locked with a password."""


@dataclass(frozen=True)
class Source:
    """One file, folder or hub data set, and how to read it.

    Attributes:
        path: a path on disk; ``hub:NAME[@CONFIG][:SPLIT]``; or, for one file per field, ``name=PATH,name=PATH``.
        name: what messages and tables call it.
        format: a key of ``READERS``; None to guess.
        encoding: of text files; None for UTF-8, with or without a byte order mark.
        delimiter: between fields of a delimited file; None for a tab in TSV, and in CSV for the one that the header uses.
        quoting: ``standard`` ("…" around fields, doubled inside) or ``none`` (a quote is text); None for
            standard in CSV, and for what it looks like in TSV (``quotes``).
        columns: column names by position, of a delimited file or a sheet without a header line, an empty name for a column that is left
            out; empty where the first line is the header.
        split: which split of a Hugging Face data set, or which sub-folder of a folder of images or of an archive of one.
        images: whether its rows are images: Parquet is then read by the reader of arrays.
        image_side: pixels; images are scaled down where their longer side has more.
        image_columns: names that the images' column may have; empty: every column that can hold images does.
        max_megabytes: millions of bytes that are read of it at most, decompressed; pictures have bounds of their own.
        progress: called with (bytes read, bytes) of a text or Parquet file as they lie on the disk, by readers that know.
    """

    path: str
    name: str
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quoting: Literal["standard", "none"] | None = None
    columns: tuple[str, ...] = ()
    split: str | None = None
    images: bool = False
    image_side: int = 256
    image_columns: tuple[str, ...] = ()
    max_megabytes: float = 2000
    progress: Progress | None = field(default=None, compare=False, repr=False)

    @property
    def batch_rows(self) -> int:
        """Rows that a reader takes into one batch."""
        return BATCH_ROWS_OF_IMAGES if self.images else BATCH_ROWS


@dataclass(frozen=True)
class Rejected:
    """A record that could not be read: its 1-based number, what is wrong, and the record's own text."""

    row: int
    reason: str
    detail: str
    record: str


@dataclass(frozen=True)
class Batch:
    """Some records of a source, in file order.

    Attributes:
        table: the raw columns; each is string or list of strings, nulls allowed, or of images binary (``images.canonical_png``) without.
        rows: (n_rows,) int64; the record's 1-based number in the file, the header not counted; in line formats (JSONL,
            label-first, one file per field) the line's number.
        rejected: the records in between that could not be read.
        merged: numbers of the records with a quoted cell that holds a whole line of as many fields: a quote that was never meant to
            begin a cell may have swallowed the end of a line.
        stated: what the file's header says of columns; empty where it has names alone.
    """

    table: pa.Table
    rows: pa.Array
    rejected: tuple[Rejected, ...] = ()
    merged: tuple[int, ...] = ()
    stated: Mapping[str, Stated] = field(default_factory=dict)


def is_zip(path: str | Path) -> bool:
    """Return whether a file that is there is a ZIP archive, or begins as one: what is wrong with a damaged one is for its reader to say.

    Later versions of Python do not call such a file an archive.
    """
    with open(path, "rb") as file:  # noqa: PTH123
        begins = file.read(4) == b"PK\x03\x04"
    return begins or zipfile.is_zipfile(path)


def leads_out(folder: Path, file: Path) -> bool:
    """Return whether a file or folder within a folder is a link that leads out of it, or lies behind one."""
    return not file.resolve().is_relative_to(folder.resolve())


def refuse_links_out(source: Source, files: Iterable[Path]) -> None:
    """Check that the files of a source's folder are in that folder.

    Raises:
        InputError: one is a link that leads out of it.
    """
    folder = Path(source.path)
    for file in files:
        if leads_out(folder, file):
            raise InputError(
                f"{source.name}/{file.relative_to(folder).as_posix()} is a link that leads out of the folder, and nothing outside of it is "
                "read; put the file itself there, for example by `cp -rL` of the whole folder."
            )


def distinct(names: Sequence[str]) -> list[str]:
    """Return names of columns, those that occur more than once with a number: which one is meant is for the user to say.

    >>> distinct(["text", "label", "text"])
    ['text (1)', 'label', 'text (2)']
    """
    counts = Counter(filter(None, names))
    seen: Counter[str] = Counter()
    named = []
    for name in names:
        seen[name] += 1
        named.append(f"{name} ({seen[name]})" if counts[name] > 1 else name)
    return named


def join(batches: list[Batch]) -> Batch:
    """Return one batch that holds all of them; a column that is a list in some and text in others becomes text (JSON)."""
    tables = [batch.table for batch in batches]
    filled = [
        (name, column.type)
        for table in tables
        for name, column in zip(table.column_names, table.columns, strict=True)
        if _is_filled(column)
    ]
    lists = {name for name, kind in filled if pa.types.is_list(kind)}
    texts = {name for name, kind in filled if not pa.types.is_list(kind)}
    for name in lists:
        convert = _list_as_json if name in texts else _nulls_as_lists
        tables = [convert(table, name) for table in tables]
    return Batch(
        table=pa.concat_tables(tables, promote_options="default"),
        rows=pa.concat_arrays([batch.rows for batch in batches]),
        rejected=tuple(record for batch in batches for record in batch.rejected),
        merged=tuple(number for batch in batches for number in batch.merged),
        stated={name: what for batch in batches for name, what in batch.stated.items()},
    )


def _is_filled(column: pa.ChunkedArray) -> bool:
    return bool(column.null_count < len(column))


def _nulls_as_lists(table: pa.Table, name: str) -> pa.Table:
    index = table.schema.get_field_index(name)
    if index < 0 or pa.types.is_list(table.schema.field(index).type):
        return table
    return table.set_column(index, name, pa.nulls(len(table), pa.list_(pa.string())))


def _list_as_json(table: pa.Table, name: str) -> pa.Table:
    index = table.schema.get_field_index(name)
    if index < 0 or not pa.types.is_list(table.schema.field(index).type):
        return table
    values = [None if value is None else json.dumps(value, ensure_ascii=False) for value in table.column(index).to_pylist()]
    return table.set_column(index, name, pa.array(values, pa.string()))

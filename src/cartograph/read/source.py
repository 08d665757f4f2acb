"""Sources of rows, and the batches that readers make of them."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import pyarrow as pa

from cartograph.errors import InputError

BATCH_ROWS, BATCH_ROWS_OF_IMAGES = 50_000, 1_000
MAX_COLUMNS = 4096

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

_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


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
            standard in CSV and none in TSV.
        columns: column names of a delimited file without a header line; empty where the first line is the header.
        split: which split of a Hugging Face data set, or which sub-folder of a folder of images or of an archive of one.
        images: whether its rows are images: Parquet is then read by the reader of arrays.
        image_side: pixels; images are scaled down where their longer side has more.
        image_columns: names that the images' column may have; empty: every column that can hold images does.
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
    """

    table: pa.Table
    rows: pa.Array
    rejected: tuple[Rejected, ...] = ()


def suffix_of(path: str) -> str:
    """Return a path's suffix in lower case, that of the compressed file for ``.gz``, ``.bz2`` and ``.xz``."""
    parts = Path(path).suffixes
    if parts and parts[-1].lower() in _OPENERS:
        parts = parts[:-1]
    return parts[-1].lower() if parts else ""


def open_bytes(path: str | Path) -> IO[bytes]:
    """Open a file for reading bytes, decompressed."""
    opener = _OPENERS.get(Path(path).suffix.lower(), open)
    return opener(path, "rb")  # type: ignore[operator, no-any-return]


@contextmanager
def open_text(path: str | Path, source: Source, *, newline: str) -> Iterator[IO[str]]:
    """Open a text file in its source's encoding.

    Raises:
        InputError: there is no such encoding, or a read inside the block finds that the file is not in it;
            the message names line and byte.
    """
    encoding = source.encoding or "utf-8-sig"
    _require_text_encoding(encoding)
    try:
        with open_bytes(path) as raw, io.TextIOWrapper(raw, encoding=encoding, newline=newline) as file:
            yield file
    except UnicodeDecodeError as error:
        raise InputError(_wrong_encoding(path, source.name, encoding)) from error
    except UnicodeError as error:
        raise InputError(f"{source.name} is not {encoding} text ({error}); set `encoding` to the file's own.") from error
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{source.name} is not a whole compressed file ({error}); fetch it again.") from error


def _require_text_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
    except LookupError as error:
        raise InputError(f"`{encoding}` is not a text encoding; set `encoding` to one such as utf-8, latin-1, cp1252 or utf-16.") from error


def _wrong_encoding(path: str | Path, name: str, encoding: str) -> str:
    with open_bytes(path) as file:
        start = file.read(4)
    shown = "utf-8" if encoding == "utf-8-sig" else encoding
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return f"{name} is not {shown} text: it begins with the mark of utf-16; set `encoding: utf-16`."
    offset, line, byte = _undecodable(path, encoding)
    return (
        f"{name} is not {shown} text: line {line} has 0x{byte:02x} at byte {offset} of the file; set `encoding` to the file's own, "
        "such as latin-1 or cp1252."
    )


def _undecodable(path: str | Path, encoding: str) -> tuple[int, int, int]:
    """Return the offset, 1-based line and value of the first byte that cannot be decoded."""
    decoder = codecs.getincrementaldecoder(encoding)()
    offset, lines = 0, 1
    with open_bytes(path) as file:
        while True:
            chunk = file.read(1 << 20)
            waiting = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                lines += chunk[: max(error.start - waiting, 0)].count(b"\n")
                return offset - waiting + error.start, lines, error.object[error.start]
            if not chunk:
                return offset, lines, 0
            offset += len(chunk)
            lines += chunk.count(b"\n")


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

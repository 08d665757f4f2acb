"""A folder of images, or a ZIP archive of one: a sub-folder per class, or a table beside the images that names them.

The table is ``metadata.csv``, ``metadata.jsonl``, ``labels.csv`` or ``labels.jsonl`` in the folder itself, with a column ``file_name`` (or
``file``, ``filename``, ``image``, ``path``), and any other columns. Nothing outside of the folder is read, whatever a link or a
name in the table points to, and an archive is never unpacked.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from cartograph.data.images import Unusable, canonical_png
from cartograph.errors import InputError
from cartograph.read import delimited, jsonl
from cartograph.read.class_folders import Files, folder_around, folders_around, opened, parts_of, refuse_splits
from cartograph.read.source import BATCH_ROWS_OF_IMAGES, BROKEN_ARCHIVE, Batch, Rejected, Source

IMAGE, FILE, LABEL = "image", "file", "label"
SUFFIXES = frozenset((".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"))

_TABLES = ("metadata.csv", "metadata.jsonl", "labels.csv", "labels.jsonl")
_NAMES = ("file_name", "file", "filename", "image", "path")


def read(source: Source) -> Iterator[Batch]:
    """Yield the images: ``image`` (binary, a canonical PNG), ``file`` (its name within the folder), and ``label`` or the table's columns.

    A row's number is its image's place among the names in alphabetical order, or its place in the table.

    Raises:
        InputError: it is neither a folder nor an archive, has no such split, its table names no files, or an archive claims to hold far
            more than images can take.
    """
    with opened(source, "image") as files:
        names = files.names()
        there = set(names)
        own = next((folder + name for folder in ("", folder_around(names)) for name in _TABLES if folder + name in there), None)
        rows = _by_folder(source, names) if own is None else _by_table(source, files, own, there)
        yield from _batches(source, files, rows)


def holds_images(path: str) -> bool:
    """Return whether a folder or a ZIP archive has a file with the name of an image in it or in one of its sub-folders."""
    if Path(path).is_dir():
        return any(file.suffix.lower() in SUFFIXES for file in Path(path).rglob("*"))
    try:
        with zipfile.ZipFile(path) as archive:
            return any(PurePosixPath(name).suffix.lower() in SUFFIXES for name in archive.namelist())
    except BROKEN_ARCHIVE:
        return False


Record = tuple[int, str, dict[str, Any]] | Rejected
"""A row's number, its image's name, and what else is known of it; or a line of the table that cannot be read."""


def _by_folder(source: Source, names: list[str]) -> Iterator[Record]:
    """Yield the images of each class: of the files beside the classes' folders, those named like images, without a label."""
    alike = [name for name in names if _is_named_so(name)]
    inner = len(folders_around(alike or [name for name in names if len(parts_of(name)) > 1]))
    chosen = [name for name in names if len(parts_of(name)) > inner + 1 or _is_named_so(name)]
    refuse_splits(source, [parts_of(name)[inner:] for name in chosen])
    for number, name in enumerate(chosen, start=1):
        parts = parts_of(name)[inner:]
        yield number, name, {FILE: name, LABEL: parts[0] if len(parts) > 1 else None}


def _is_named_so(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in SUFFIXES


def _by_table(source: Source, files: Files, name: str, there: set[str]) -> Iterator[Record]:
    try:
        content = files.content(name)
    except Unusable as error:
        raise InputError(f"{source.name}/{name} cannot be read ({error}); correct the table.") from error
    with TemporaryDirectory() as folder:
        copy = Path(folder) / PurePosixPath(name).name
        copy.write_bytes(content)
        beside = name.removesuffix(copy.name)
        table = replace(source, path=str(copy), name=f"{source.name}/{name}", split=None)
        for batch in (delimited.read_csv if copy.suffix == ".csv" else jsonl.read)(table):
            columns = batch.table.column_names
            named = next((column for column in _NAMES if column in columns), None)
            if named is None and columns:
                raise InputError(f"{source.name}/{name} names no files: it has no column {' or '.join(_NAMES)}; its columns are "
                                 f"{', '.join(columns)}.")  # fmt: skip
            for number, row in zip(batch.rows.to_pylist(), batch.table.to_pylist(), strict=True):
                file = row.pop(named or "")
                path = f"{beside}{file or ''}"
                turned = path.replace("\\", "/")
                image = turned if turned in there and path not in there else path
                yield number, image, {FILE: file, **{key: value for key, value in row.items() if key != IMAGE}}
            yield from batch.rejected


def _batches(source: Source, files: Files, rows: Iterator[Record]) -> Iterator[Batch]:
    while True:
        kept: list[dict[str, Any]] = []
        numbers: list[int] = []
        rejected: list[Rejected] = []
        columns: dict[str, None] = {IMAGE: None}
        for record in rows:
            if isinstance(record, Rejected):
                rejected.append(record)
            else:
                number, name, more = record
                columns |= dict.fromkeys(more)
                try:
                    kept.append({IMAGE: canonical_png(files.content(name), source.image_side), **more})
                    numbers.append(number)
                except Unusable as error:
                    rejected.append(Rejected(number, error.reason, error.detail, name))
            if len(kept) + len(rejected) == BATCH_ROWS_OF_IMAGES:
                break
        if not kept and not rejected:
            return
        arrays = {name: pa.array([row.get(name) for row in kept], pa.binary() if name == IMAGE else None) for name in columns}
        texts = {name: values.cast(pa.string()) if pa.types.is_null(values.type) else values for name, values in arrays.items()}
        yield Batch(pa.table(texts), pa.array(numbers, pa.int64()), tuple(rejected))

"""A folder of images, or a ZIP archive of one: a sub-folder per class, or a table beside the images that names them.

The table is ``metadata.csv``, ``metadata.jsonl``, ``labels.csv`` or ``labels.jsonl`` in the folder itself, with a column ``file_name`` (or
``file``, ``filename``, ``image``, ``path``), and any other columns. Nothing outside of the folder is read, whatever a link or a
name in the table points to, and an archive is never unpacked.
"""

from __future__ import annotations

import stat
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from cartograph.data.images import MAX_BYTES, Unusable, canonical_png
from cartograph.errors import InputError
from cartograph.read import delimited, jsonl
from cartograph.read.source import BATCH_ROWS_OF_IMAGES, BROKEN_ARCHIVE, Batch, Rejected, Source, is_zip, leads_out

IMAGE, FILE, LABEL = "image", "file", "label"
SUFFIXES = frozenset((".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"))

_TABLES = ("metadata.csv", "metadata.jsonl", "labels.csv", "labels.jsonl")
_NAMES = ("file_name", "file", "filename", "image", "path")
_UNPACKED, _RATIO = 100_000_000, 100
_OUTSIDE = "file outside the folder"


class Files(ABC):
    """What a folder or an archive holds, by names relative to it."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of all files, sorted; hidden ones are left out."""

    @abstractmethod
    def content(self, name: str) -> bytes:
        """Return a file's bytes.

        Raises:
            Unusable: the file does not exist, is outside, too large or damaged.
        """


class _Folder(Files):
    def __init__(self, path: Path) -> None:
        self._path = path.resolve()

    def names(self) -> list[str]:
        paths = (path.relative_to(self._path).as_posix() for path in self._path.rglob("*") if path.is_symlink() or path.is_file())
        return sorted(name for name in paths if _is_shown(name))

    def content(self, name: str) -> bytes:
        _require_inside(name)
        path = self._path / name
        try:
            if leads_out(self._path, path):
                raise Unusable(_OUTSIDE, f"{name} is a link that leads out of it")
            # Not by `is_file`, which in later versions of Python is false, too, of a name that cannot be looked for.
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                raise Unusable("no such file", name)
            if found.st_size > MAX_BYTES:
                raise Unusable("image too large", f"{found.st_size:,} bytes, at most {MAX_BYTES:,} are read")
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise Unusable("no such file", name) from error
        except OSError as error:
            raise Unusable("file cannot be read", f"{name[:200]}: {error.strerror}") from error


class _Archive(Files):
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._entries = {entry.filename: entry for entry in archive.infolist() if entry.filename and not entry.is_dir()}

    def names(self) -> list[str]:
        return sorted(name for name in self._entries if _is_shown(name))

    def content(self, name: str) -> bytes:
        _require_inside(name)
        if name not in self._entries:
            raise Unusable("no such file", name)
        entry = self._entries[name]
        if entry.file_size > MAX_BYTES:
            raise Unusable("image too large", f"{entry.file_size:,} bytes, at most {MAX_BYTES:,} are read")
        try:
            with self._archive.open(entry) as file:
                content = file.read(MAX_BYTES + 1)
        except BROKEN_ARCHIVE as error:
            raise Unusable("image cut short or damaged", str(error)[:200]) from error
        if len(content) > MAX_BYTES:
            raise Unusable("image too large", f"more than {MAX_BYTES:,} bytes")
        return content


class _Within(Files):
    """What one folder of an archive holds."""

    def __init__(self, files: Files, folder: str) -> None:
        self._files, self._folder = files, folder

    def names(self) -> list[str]:
        return [name.removeprefix(self._folder) for name in self._files.names() if name.startswith(self._folder)]

    def content(self, name: str) -> bytes:
        _require_inside(name)
        return self._files.content(self._folder + name)


def read(source: Source) -> Iterator[Batch]:
    """Yield the images: ``image`` (binary, a canonical PNG), ``file`` (its name within the folder), and ``label`` or the table's columns.

    A row's number is its image's place among the names in alphabetical order, or its place in the table.

    Raises:
        InputError: it is neither a folder nor an archive, has no such split, its table names no files, or an archive claims to hold far
            more than images can take.
    """
    with _opened(source) as files:
        names = files.names()
        there = set(names)
        own = next((folder + name for folder in ("", _around(names)) for name in _TABLES if folder + name in there), None)
        rows = _by_folder(names) if own is None else _by_table(source, files, own, there)
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


@contextmanager
def _opened(source: Source) -> Iterator[Files]:
    path = Path(source.path)
    if path.is_dir():
        folder = path / source.split if source.split else path
        if not folder.is_dir() or leads_out(path, folder):
            raise InputError(f"{source.name} has no sub-folder `{source.split}`; correct the split.")
        yield _Folder(folder)
        return
    if not is_zip(path):
        raise InputError(f"{source.name} is neither a folder of images nor a ZIP archive of one; name such a folder.")
    try:
        archive = zipfile.ZipFile(path)
    except BROKEN_ARCHIVE as error:
        raise InputError(f"{source.name} is not a ZIP archive that can be read ({str(error)[:200]}); write it again.") from error
    with archive:
        _require_plausible(source, archive, path.stat().st_size)
        yield _Archive(archive) if source.split is None else _split_of(source, _Archive(archive))


def _split_of(source: Source, files: Files) -> Files:
    names = files.names()
    for folder in (f"{source.split}/", f"{_around(names)}{source.split}/"):
        if any(name.startswith(folder) for name in names):
            return _Within(files, folder)
    raise InputError(f"{source.name} has no sub-folder `{source.split}`; correct the split.")


def _around(names: list[str]) -> str:
    """Return the one folder around all files, with a slash; empty where there are several."""
    first = {name.partition("/")[0] for name in names}
    return f"{first.pop()}/" if len(first) == 1 and all("/" in name for name in names) else ""


def _require_plausible(source: Source, archive: zipfile.ZipFile, size: int) -> None:
    """Check that an archive unpacks to no more than images can: they are compressed already."""
    unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > _UNPACKED + _RATIO * size:
        raise InputError(
            f"{source.name} has {size:,} bytes and would unpack to {unpacked:,}, far more than an archive of images can; it is not read."
        )


def _is_shown(name: str) -> bool:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return "__MACOSX" not in parts and not any(part.startswith(".") and part not in (".", "..") for part in parts)


def _require_inside(name: str) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":")) or "\0" in name:
        raise Unusable(_OUTSIDE, name[:200])


Record = tuple[int, str, dict[str, Any]] | Rejected
"""A row's number, its image's name, and what else is known of it; or a line of the table that cannot be read."""


def _by_folder(names: list[str]) -> Iterator[Record]:
    """Yield the images of each class: of the files beside the classes' folders, those named like images, without a label."""
    alike = [name for name in names if _is_named_so(name)]
    inner = len(_common(alike or [name for name in names if len(_parts(name)) > 1]))
    chosen = [name for name in names if len(_parts(name)) > inner + 1 or _is_named_so(name)]
    for number, name in enumerate(chosen, start=1):
        parts = _parts(name)[inner:]
        yield number, name, {FILE: name, LABEL: parts[0] if len(parts) > 1 else None}


def _is_named_so(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in SUFFIXES


def _parts(name: str) -> tuple[str, ...]:
    """Return a name's folders and its own; some archives made on Windows have backslashes between them."""
    return PurePosixPath(name.replace("\\", "/")).parts


def _common(names: list[str]) -> tuple[str, ...]:
    """Return the folders around all classes' folders: an archive often has one around everything."""
    parts = [_parts(name) for name in names]
    if not parts or len({part[0] for part in parts}) > 1 or any(len(part) < 3 for part in parts):
        return ()
    return parts[0][:1]


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

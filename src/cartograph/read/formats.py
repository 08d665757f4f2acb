"""The readers by format, and how a format is guessed; each reader yields batches of raw columns."""

from __future__ import annotations

import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from cartograph.errors import InputError
from cartograph.read import (
    arrays,
    delimited,
    excel,
    hub,
    huggingface,
    image_folder,
    jsonl,
    label_first,
    lines,
    parquet,
    shards,
    squad,
    text_folder,
    wsc,
)
from cartograph.read.compression import open_bytes, suffix_of
from cartograph.read.delimited import WRONG_NUMBER
from cartograph.read.encodings import first_fault, guess, is_utf8_but_for_some_lines
from cartograph.read.opening import too_large
from cartograph.read.rejecting import usable_records
from cartograph.read.remote import is_remote
from cartograph.read.source import MEGABYTE, Batch, Rejected, Source, join

__all__ = ["CONVERTERS", "IMAGE_READERS", "READERS", "Batch", "Rejected", "Source", "format_of", "is_remote", "local_paths", "read"]

READERS: dict[str, Callable[[Source], Iterator[Batch]]] = {
    "csv": delimited.read_csv,
    "tsv": delimited.read_tsv,
    "jsonl": jsonl.read,
    "parquet": parquet.read,
    "label-first": label_first.read,
    "lines": lines.read,
    "excel": excel.read,
    "shards": shards.read,
    "huggingface": huggingface.read,
    "hub": hub.read,
}

IMAGE_READERS: dict[str, Callable[[Source], Iterator[Batch]]] = {"image-folder": image_folder.read, "arrays": arrays.read}
"""Formats whose rows are images."""

FOLDER_READERS: dict[str, Callable[[Source], Iterator[Batch]]] = {"text-folder": text_folder.read}
"""Formats of folders with a file per row."""

TEXTS = ("csv", "tsv", "jsonl", "label-first", "lines")
"""Formats of text files, which have an encoding."""

CONVERTERS: dict[str, Callable[[Source], Iterator[Batch]]] = {"wsc": wsc.read, "squad": squad.read}
"""Formats of other tasks, read as rows of one that an audit knows; never guessed, but named."""

_EVERY = READERS | IMAGE_READERS | FOLDER_READERS | CONVERTERS
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "arrays",
    **dict.fromkeys(excel.SUFFIXES, "excel"),
}
_FOLDERS = ("huggingface", "hub", "image-folder", "text-folder", "shards")
"""Formats of folders."""
_SPLITS = ("huggingface", "hub", "image-folder", "text-folder", "excel")
"""Formats whose sources have parts with names."""


def local_paths(path: str) -> tuple[str, ...]:
    """Return the files or folders that a source's path names, URLs among them: none for a hub id, one per field for ``name=PATH,…``."""
    if path.startswith(hub.PREFIX):
        return ()
    return tuple(lines.fields_of(path).values()) or (path,)


def format_of(path: str, name: str | None = None) -> str:
    """Guess a source's format from its path, else from how the file begins.

    Args:
        path: as in ``Source``.
        name: what messages call it.

    Raises:
        InputError: the format cannot be guessed; the message lists the known ones.
    """
    if path.startswith(hub.PREFIX):
        return "hub"
    if lines.fields_of(path):
        return "lines"
    if Path(path).is_dir():
        if (Path(path) / "_delta_log").is_dir():
            raise InputError(
                f"{name or path} is a Delta table, whose folder also holds rows that are no longer in it; name it as a table: "
                "`{table: PATH, format: delta}` in params.yaml, --table PATH of `init`."
            )
        # The folder of a data set may have pictures beside its shards, for its README.
        if huggingface.holds_shards(path):
            return "huggingface"
        return _of_folder(path) or "huggingface"
    if suffix_of(path) == ".zip":
        return _of_folder(path) or "image-folder"
    if suffix_of(path) in _SUFFIXES:
        return _SUFFIXES[suffix_of(path)]
    if suffix_of(path) in image_folder.SUFFIXES:
        raise InputError(f"{name or path} is an image; name the folder that holds the images, with a sub-folder per class.")
    with open_bytes(path) as file:
        start = file.read(4096)
    if start[:4] == b"PAR1":
        return "parquet"
    if re.match(rb"(\xef\xbb\xbf)?\s*[\[{]", start):
        return "jsonl"
    if b"\t" in start.split(b"\n", 1)[0]:
        return "tsv"
    known = ", ".join(READERS | IMAGE_READERS | FOLDER_READERS)
    raise InputError(
        f"the format of {name or path} cannot be guessed from its name or content; name it by its format (`.csv`), or set `format` in "
        f"params.yaml to one of {known}."
    )


def _of_folder(path: str) -> str | None:
    """Return the format of a folder, or of an archive of one, by the files in it; None where these are of no kind."""
    if image_folder.holds_images(path):
        return "image-folder"
    if shards.holds_shards(path):
        return "shards"
    return "text-folder" if text_folder.holds_texts(path) else None


def _kind(source: Source) -> str:
    kind = source.format or format_of(source.path, source.name)
    return "arrays" if kind == "parquet" and source.images else kind


def there(path: str) -> bool:
    """Return whether there is anything at a path; nothing is at one that no file system can have."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def guessed_encoding(path: Path, format: str | None = None) -> str | None:
    """Return the encoding of a text file that is not UTF-8; None of any other file, and of one that is UTF-8 but for some lines."""
    file = str(path)
    try:
        if not there(file) or not path.is_file() or (format or format_of(file)) not in TEXTS:
            return None
        return None if first_fault(file, "utf-8") is None or is_utf8_but_for_some_lines(file) else guess(file)
    except (InputError, OSError, EOFError, ValueError, lzma.LZMAError, zlib.error):
        # Its reader says what is wrong with it.
        return None


def _batches(kind: str, source: Source) -> Iterator[Batch]:
    """Yield what a reader yields, up to as much as the source may hold, without records of endless cells."""
    size = 0
    for batch in _EVERY[kind](source):
        size += 0 if kind in IMAGE_READERS else batch.table.nbytes
        if size > source.max_megabytes * MEGABYTE:
            raise InputError(too_large(source))
        yield usable_records(batch)


def first_columns(source: Source) -> set[str]:
    """Return the columns of the first batch of a source; empty where it cannot be read: ``read`` says why."""
    try:
        batch = next(iter(_EVERY[_kind(source)](source)), None)
    except (InputError, OSError, KeyError):
        return set()
    return set() if batch is None else set(batch.table.column_names)


_MARKUP = "; it is a web page or XML, perhaps of a login or an error: save the file itself"


def _is_markup(source: Source) -> bool:
    """Return whether a file begins as a web page or XML does."""
    path = next((Path(path) for path in local_paths(source.path) if Path(path).is_file()), None)
    if path is None:
        return False
    with path.open("rb") as file:
        return file.read(256).lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype", b"<html", b"<?xml"))


def read(source: Source) -> Batch:
    """Return everything that a source holds as one batch.

    Raises:
        InputError: a file is missing or empty, is in another encoding or format than named, or has no rows.
    """
    for path in local_paths(source.path):
        if not there(path):
            raise InputError(f"{path} does not exist; correct the path.")
        if not Path(path).is_file() and not Path(path).is_dir():
            raise InputError(f"{path} is neither a file nor a folder, but a pipe or a device; write what comes out of it to a file.")
        if Path(path).is_file() and Path(path).stat().st_size == 0:
            raise InputError(f"{path} is empty.")
    kind = _kind(source)
    if kind not in _EVERY:
        raise InputError(f"{source.name}: there is no format `{kind}`; there are {', '.join(_EVERY)}.")
    if kind not in _FOLDERS and any(Path(path).is_dir() for path in local_paths(source.path)):
        raise InputError(f"{source.name} is a folder; a source of format {kind} is a file.")
    if source.split is not None and kind not in _SPLITS:
        raise InputError(f"{source.name} is of format {kind}, which has no splits; leave `split` out, or name the file of that split.")
    batches = list(_batches(kind, source))
    if not any(len(batch.rows) or batch.rejected for batch in batches):
        raise InputError(f"{source.name} holds no rows{_MARKUP if _is_markup(source) else excel.other_sheets(source)}.")
    whole = join(batches)
    if not len(whole.rows):
        first = whole.rejected[0]
        if source.columns and {record.reason for record in whole.rejected} == {WRONG_NUMBER}:
            fields = first.detail.replace(" instead of ", ", `columns` names ")
            raise InputError(f"{source.name}: its records have {fields}; give each field a name, or an empty one to leave it out.")
        if {record.reason for record in whole.rejected} == {WRONG_NUMBER} and len({record.detail for record in whole.rejected}) == 1:
            raise InputError(
                f"{source.name}: each of its {len(whole.rejected):,} records has {first.detail}, as its header has. If each line ends with "
                "a delimiter, let the header end with one, too; else set `format`, `delimiter` or `quoting` to what the file has."
            )
        raise InputError(
            f"{source.name}: none of its {len(whole.rejected):,} records can be read as {kind}; the first, row {first.row}: {first.reason} "
            f"({first.detail}). Set `format`, `delimiter` or `quoting` to what the file has."
        )
    return whole

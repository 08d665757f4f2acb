"""A folder of texts, or a ZIP archive of one: a sub-folder per class, a file per text, as IMDb's reviews or the 20 newsgroups come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import pyarrow as pa

from cartograph.data.images import Unusable
from cartograph.errors import InputError
from cartograph.read.class_folders import Files, opened, parts_of, refuse_splits
from cartograph.read.encodings import NOT_DECODED, decoded
from cartograph.read.source import BATCH_ROWS, BROKEN_ARCHIVE, Batch, Rejected, Source

FILE, LABEL, TEXT = "file", "label", "text"
SUFFIXES = frozenset(("", ".txt", ".text", ".md", ".eml"))

_TEXTS = 0.9
"""Share of the files in the classes' folders, at the least, that are named like texts."""


def read(source: Source) -> Iterator[Batch]:
    """Yield the texts: ``text``, ``file`` (its name within the folder), and ``label``.

    A row's number is its file's place among the names in alphabetical order. Files beside the classes' folders are passed over. A file is
    in the source's encoding where that names one, else in UTF-8 or what it begins with or looks like (``encodings.decoded``).

    Raises:
        InputError: it is neither a folder nor an archive, has no such split, several and none is named, or is an archive that claims to
            hold far more than texts can.
    """
    with opened(source, "text") as files:
        found = _by_class(files)
        refuse_splits(source, [parts for _, parts in found])
        for start in range(0, len(found), BATCH_ROWS):
            yield _batch(source, files, found[start : start + BATCH_ROWS], start)


def holds_texts(path: str) -> bool:
    """Return whether a folder or a ZIP archive has two sub-folders or more, and what is in them is named like texts."""
    try:
        with opened(Source(path, path), "text") as files:
            found = _by_class(files)
    except (InputError, *BROKEN_ARCHIVE):
        return False
    named = sum(_is_named_so(name) for name, _ in found)
    return len({parts[0] for _, parts in found}) > 1 and named >= _TEXTS * len(found)


def _is_named_so(name: str) -> bool:
    """Return whether a file is named like a text: mails and messages often have a number or a sum where others have a suffix."""
    suffix = PurePosixPath(name).suffix.lower()
    return suffix in SUFFIXES or any(letter.isdigit() for letter in suffix)


def _by_class(files: Files) -> list[tuple[str, tuple[str, ...]]]:
    """Return the texts' names, each with the folder that is its class, those within, and its own; without folders around all classes."""
    found = [(name, parts) for name in files.names() if len(parts := parts_of(name)) > 1]
    while len({parts[0] for _, parts in found}) == 1 and any(len(parts) > 2 for _, parts in found):
        found = [(name, parts[1:]) for name, parts in found if len(parts) > 2]
    return found


def _batch(source: Source, files: Files, found: list[tuple[str, tuple[str, ...]]], start: int) -> Batch:
    kept: dict[str, list[str]] = {TEXT: [], FILE: [], LABEL: []}
    rows: list[int] = []
    rejected: list[Rejected] = []
    for number, (name, (label, *_)) in enumerate(found, start=start + 1):
        try:
            text = decoded(files.content(name), source.encoding)
            if text is None:
                raise Unusable(NOT_DECODED, source.encoding or "neither UTF-8 nor of a Western language; set `encoding` to its own")
        except Unusable as error:
            rejected.append(Rejected(number, error.reason, error.detail, name))
            continue
        rows.append(number)
        for column, value in zip(kept, (text, name, label), strict=True):
            kept[column].append(value)
    table = pa.table({column: pa.array(values, pa.string()) for column, values in kept.items()})
    return Batch(table, pa.array(rows, pa.int64()), tuple(rejected))

"""Where an audit's rows come from: the entries under ``train`` and ``evaluation`` in params.yaml, and how they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from cartograph.errors import InputError
from tasks.audit.parameters.files import FileEntry
from tasks.engine.digest import digest_path
from tasks.engine.workspace import user_file

if TYPE_CHECKING:
    from cartograph.data.progress import Progress
    from cartograph.ingest.columns import File
    from cartograph.read.source import Source

FETCHED = "data/fetch"
"""Where the files stand that were named by a URL, and the rows of databases and lake tables."""


def files_of(entries: Sequence[FileEntry]) -> tuple[str, ...]:
    """Return the declared names of the files on disk that the entries name, each once; of one at a URL, where the step `fetch` puts it."""
    from cartograph.read.formats import local_paths

    return tuple(dict.fromkeys(_declared_name(path) for entry in entries for path in local_paths(entry.path)))


def _declared_name(path: str) -> str:
    from cartograph.read.remote import is_remote

    return fetched_name(path) if is_remote(path) else user_file(path)


def fetched_name(url: str) -> str:
    """Return the declared name of the file that the step `fetch` makes of a URL."""
    from cartograph.read.remote import file_name

    return f"{FETCHED}/{hashlib.sha256(url.encode()).hexdigest()[:8]}/{file_name(url)}"


def check_sum(entry: FileEntry, found: str) -> None:
    """Check a file's SHA-256 against that of its entry, where it has one.

    Raises:
        InputError: it is another file's.
    """
    from cartograph.read.remote import is_remote, shown

    if entry.sha256 not in (None, found):
        name = shown(entry.path) if is_remote(entry.path) else entry.path
        raise InputError(
            f"{name} is not the file that params.yaml names: its SHA-256 is {found}, `sha256` says {entry.sha256}; get the right file, or "
            "enter the new checksum if the change is intended."
        )


def read_files(
    entries: Sequence[FileEntry],
    usual: FileEntry,
    inputs: Mapping[str, Path],
    progress: Progress | None = None,
    image_side: int | None = None,
    image_columns: tuple[str, ...] = (),
    max_megabytes: float | None = None,
) -> tuple[File, ...]:
    """Read the sources of one set.

    Args:
        entries: in the order in which their rows follow each other.
        usual: format, encoding and columns of those that do not name their own.
        inputs: declared name (``user_file``) -> path on disk.
        progress: called with (bytes read, bytes) of all its files, as they lie on the disk.
        image_side: where the rows are images: most pixels of their longer side.
        image_columns: names that the images' column may have.
        max_megabytes: the most that is read of a file, decompressed; None: as ``Source`` has it.

    Raises:
        InputError: a source cannot be read, is not the file of its checksum, or is listed twice.
    """
    from dataclasses import replace

    from cartograph.ingest.columns import File
    from cartograph.read.formats import read

    files, read_before, size = [], 0, bytes_of(entries, inputs)
    for entry, source in zip(entries, sources_of(entries, usual, inputs, image_side, image_columns), strict=True):
        if entry.sha256 is not None and Path(source.path).is_file():
            check_sum(entry, digest_path(Path(source.path)))
        bounded = source if max_megabytes is None else replace(source, max_megabytes=max_megabytes)
        files.append(File(source.name, read(replace(bounded, progress=_after(read_before, size, progress)))))
        read_before += bytes_of([entry], inputs)
        if progress is not None:
            progress(read_before, size)
    return tuple(files)


def bytes_of(entries: Sequence[FileEntry], inputs: Mapping[str, Path]) -> int:
    """Return how many bytes the files of these entries have on the disk; a folder counts nothing, nor does what is not here."""
    paths = [inputs.get(name) for name in files_of(entries)]
    return sum(path.stat().st_size for path in paths if path is not None and path.is_file())


def _after(before: int, size: int, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda done, _: progress(min(before + done, size), size)


def sources_of(
    entries: Sequence[FileEntry],
    usual: FileEntry,
    inputs: Mapping[str, Path],
    image_side: int | None = None,
    image_columns: tuple[str, ...] = (),
) -> list[Source]:
    """Return the sources of one set, as ``read_files`` reads them.

    Raises:
        InputError: one is listed twice.
    """
    from dataclasses import replace

    sources = [_source(entry, usual, name, inputs) for entry, name in zip(entries, source_names(entries), strict=True)]
    if image_side is None:
        return sources
    return [replace(source, images=True, image_side=image_side, image_columns=image_columns) for source in sources]


def _source(entry: FileEntry, usual: FileEntry, name: str, inputs: Mapping[str, Path]) -> Source:
    from cartograph.read.formats import local_paths
    from cartograph.read.lines import fields_of
    from cartograph.read.source import Source

    fields = fields_of(entry.path)
    if fields:
        path = ",".join(f"{field}={inputs[_declared_name(file)]}" for field, file in fields.items())
    else:
        path = next((str(inputs[_declared_name(file)]) for file in local_paths(entry.path)), entry.path)
    if entry.asked:
        return Source(path=path, name=name, format="parquet")
    return Source(
        path=path,
        name=name,
        format=entry.format or usual.format,
        encoding=entry.encoding or usual.encoding,
        delimiter=entry.delimiter,
        quoting=entry.quoting,
        columns=entry.columns or usual.columns,
        split=entry.split,
    )


def source_names(entries: Sequence[FileEntry]) -> list[str]:
    """Return what each source of a set is called: its file's name, with as many of its folders as tell it from the others.

    Raises:
        InputError: the set lists a source twice.
    """
    parts = [_parts(entry) for entry in entries]
    for depth in range(1, max(map(len, parts), default=1) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    twice = next(entry.path for index, entry in enumerate(entries) if parts[index] in parts[:index])
    raise InputError(f"{twice} is listed twice in one set; name each file once.")


def _parts(entry: FileEntry) -> list[str]:
    from cartograph.read.formats import local_paths

    split = f":{entry.split}" if entry.split else ""
    paths = [PurePosixPath(path) for path in local_paths(entry.path)]
    if len(paths) == 1:
        *folders, name = paths[0].parts
        return [*folders, name + split]
    return [entry.path, "+".join(path.name for path in paths) + split] if paths else [entry.path + split]

"""Files of one table in a ZIP archive or a folder: read one after the other, in the order of their names."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from tempfile import TemporaryDirectory

import pyarrow as pa

from cartograph.errors import InputError
from cartograph.read import delimited, excel, jsonl, parquet
from cartograph.read.compression import suffix_of
from cartograph.read.opening import too_large
from cartograph.read.source import BROKEN_ARCHIVE, MEGABYTE, Batch, Rejected, Source, refuse_links_out

READERS: dict[str, Callable[[Source], Iterator[Batch]]] = {
    ".csv": delimited.read_csv,
    ".tsv": delimited.read_tsv,
    ".tab": delimited.read_tsv,
    ".jsonl": jsonl.read,
    ".ndjson": jsonl.read,
    ".json": jsonl.read,
    ".parquet": parquet.read,
    **dict.fromkeys(excel.SUFFIXES, excel.read),
}
"""Suffix of a shard -> its reader."""


def holds_shards(path: str) -> bool:
    """Return whether a folder, or a ZIP archive, has files of a table in it."""
    try:
        return any(map(_is_shard, _names(path)))
    except BROKEN_ARCHIVE:
        return False


def read(source: Source) -> Iterator[Batch]:
    """Yield the rows of all shards; their numbers go on from one to the next.

    Raises:
        InputError: there is no shard, they are not of one kind, one cannot be read, is a link that leads out of the folder, or has other
            columns than the first.
    """
    done, columns = 0, None
    with _shards(source) as files:
        for name, path in files:
            shard = replace(source, path=str(path), name=f"{source.name}/{name}", format=None)
            last = 0
            for batch in READERS[suffix_of(name)](shard):
                columns = columns or (name, set(batch.table.column_names))
                if not columns[1] & set(batch.table.column_names) and len(batch.rows):
                    raise InputError(
                        f"{shard.name} has the columns {', '.join(batch.table.column_names)}, {columns[0]} has "
                        f"{', '.join(sorted(columns[1]))}; files of one table have the same columns: name them with `columns` where they "
                        "have no header."
                    )
                last = max([last, *(record.row for record in batch.rejected), *batch.rows.to_pylist()[-1:]])
                yield _moved(batch, done)
            done += last


def _moved(batch: Batch, start: int) -> Batch:
    rows = pa.array(batch.rows.to_numpy() + start)
    rejected = tuple(Rejected(record.row + start, record.reason, record.detail, record.record) for record in batch.rejected)
    return Batch(batch.table, rows, rejected, tuple(number + start for number in batch.merged), batch.stated)


@contextmanager
def _shards(source: Source) -> Iterator[Iterator[tuple[str, Path]]]:
    """Yield name and path of each shard; those of an archive are unpacked one at a time."""
    try:
        names = [name for name in sorted(_names(source.path)) if _is_shard(name)]
    except BROKEN_ARCHIVE as error:
        raise InputError(f"{source.name} is not a ZIP archive that can be read ({error}); fetch it again.") from error
    twice = next((name for name, after in pairwise(names) if name == after), None)
    if twice is not None:
        raise InputError(f"{source.name} holds several files of the name {twice}; pack the archive again with a name for each.")
    kinds = sorted({suffix_of(name) for name in names})
    if len(kinds) != 1:
        held = f"files of several kinds ({', '.join(kinds)})" if kinds else f"no file of a table ({', '.join(READERS)})"
        raise InputError(f"{source.name} holds {held}; name the files that belong together, each as an entry.")
    if Path(source.path).is_dir():
        files = [Path(source.path) / name for name in names]
        refuse_links_out(source, files)
        yield zip(names, files, strict=True)
        return
    with TemporaryDirectory() as folder, zipfile.ZipFile(source.path) as archive:
        yield _unpacked(source, archive, names, Path(folder))


def _unpacked(source: Source, archive: zipfile.ZipFile, names: list[str], folder: Path) -> Iterator[tuple[str, Path]]:
    left = source.max_megabytes * MEGABYTE
    for name in names:
        left -= archive.getinfo(name).file_size
        if left < 0:
            raise InputError(too_large(source))
        path = folder / PurePosixPath(name).name
        try:
            # The archive's own bound of a member is what its directory says, which was counted.
            with archive.open(name) as packed, path.open("wb") as file:
                copyfileobj(packed, file)
        except BROKEN_ARCHIVE as error:
            raise InputError(f"{source.name}: {name} cannot be unpacked ({error}); fetch the archive again, without a password.") from error
        yield name, path
        path.unlink()


def _names(path: str) -> list[str]:
    if Path(path).is_dir():
        return [file.relative_to(path).as_posix() for file in Path(path).rglob("*") if file.is_file()]
    with zipfile.ZipFile(path) as archive:
        return [entry.filename for entry in archive.infolist() if entry.filename and not entry.is_dir()]


def _is_shard(name: str) -> bool:
    hidden = any(part == "__MACOSX" or (part.startswith(".") and part != "..") for part in PurePosixPath(name).parts)
    return not hidden and suffix_of(name) in READERS

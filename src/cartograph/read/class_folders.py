"""Files in a folder, or in a ZIP archive of one, whose sub-folders are classes.

Nothing outside of the folder is read, whatever a link or a name points to, and an archive is never unpacked.
"""

from __future__ import annotations

import stat
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from cartograph.data.images import MAX_BYTES, Unusable
from cartograph.errors import InputError
from cartograph.read.source import BROKEN_ARCHIVE, Source, is_zip, leads_out

_UNPACKED, _RATIO = 100_000_000, 100
_SPLITS = frozenset(("train", "training", "test", "testing", "val", "valid", "validation", "dev", "eval"))
_OUTSIDE = "file outside the folder"


class Files(ABC):
    """What a folder or an archive holds, by names relative to it.

    Attributes:
        kind: what a file of a class is: ``image`` or ``text``.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind

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
    def __init__(self, path: Path, kind: str) -> None:
        super().__init__(kind)
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
                raise Unusable(f"{self.kind} too large", f"{found.st_size:,} bytes, at most {MAX_BYTES:,} are read")
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise Unusable("no such file", name) from error
        except OSError as error:
            raise Unusable("file cannot be read", f"{name[:200]}: {error.strerror}") from error


class _Archive(Files):
    def __init__(self, archive: zipfile.ZipFile, kind: str) -> None:
        super().__init__(kind)
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
            raise Unusable(f"{self.kind} too large", f"{entry.file_size:,} bytes, at most {MAX_BYTES:,} are read")
        try:
            with self._archive.open(entry) as file:
                content = file.read(MAX_BYTES + 1)
        except BROKEN_ARCHIVE as error:
            raise Unusable(f"{self.kind} cut short or damaged", str(error)[:200]) from error
        if len(content) > MAX_BYTES:
            raise Unusable(f"{self.kind} too large", f"more than {MAX_BYTES:,} bytes")
        return content


class _Within(Files):
    """What one folder of an archive holds."""

    def __init__(self, files: Files, folder: str) -> None:
        super().__init__(files.kind)
        self._files, self._folder = files, folder

    def names(self) -> list[str]:
        return [name.removeprefix(self._folder) for name in self._files.names() if name.startswith(self._folder)]

    def content(self, name: str) -> bytes:
        _require_inside(name)
        return self._files.content(self._folder + name)


@contextmanager
def opened(source: Source, kind: str) -> Iterator[Files]:
    """Open the folder or archive of a source, or the sub-folder that is its split, for as long as the context lasts.

    Raises:
        InputError: it is neither, has no such split, or is an archive that claims to hold far more than it can.
    """
    path = Path(source.path)
    if path.is_dir():
        folder = path / source.split if source.split else path
        if not folder.is_dir() or leads_out(path, folder):
            raise InputError(f"{source.name} has no sub-folder `{source.split}`; correct the split.")
        yield _Folder(folder, kind)
        return
    if not is_zip(path):
        raise InputError(f"{source.name} is neither a folder of {kind}s nor a ZIP archive of one; name such a folder.")
    try:
        archive = zipfile.ZipFile(path)
    except BROKEN_ARCHIVE as error:
        raise InputError(f"{source.name} is not a ZIP archive that can be read ({str(error)[:200]}); write it again.") from error
    with archive:
        _require_plausible(source, archive, path.stat().st_size, kind)
        files = _Archive(archive, kind)
        yield files if source.split is None else _split_of(source, files)


def _split_of(source: Source, files: Files) -> Files:
    names = files.names()
    for folder in (f"{source.split}/", f"{folder_around(names)}{source.split}/"):
        if any(name.startswith(folder) for name in names):
            return _Within(files, folder)
    raise InputError(f"{source.name} has no sub-folder `{source.split}`; correct the split.")


def folder_around(names: list[str]) -> str:
    """Return the one folder around all files, with a slash; empty where there are several."""
    first = {name.partition("/")[0] for name in names}
    return f"{first.pop()}/" if len(first) == 1 and all("/" in name for name in names) else ""


def _require_plausible(source: Source, archive: zipfile.ZipFile, size: int, kind: str) -> None:
    """Check that an archive unpacks to no more than images, which are compressed already, or texts can."""
    unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > _UNPACKED + _RATIO * size:
        raise InputError(
            f"{source.name} has {size:,} bytes and would unpack to {unpacked:,}, far more than an archive of {kind}s can; it is not read."
        )


def _is_shown(name: str) -> bool:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return "__MACOSX" not in parts and not any(part.startswith(".") and part not in (".", "..") for part in parts)


def _require_inside(name: str) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":")) or "\0" in name:
        raise Unusable(_OUTSIDE, name[:200])


def parts_of(name: str) -> tuple[str, ...]:
    """Return a name's folders and its own; some archives made on Windows have backslashes between them."""
    return PurePosixPath(name.replace("\\", "/")).parts


def folders_around(names: Sequence[str]) -> tuple[str, ...]:
    """Return the folders around all classes' folders: an archive often has one around everything."""
    parts = [parts_of(name) for name in names]
    if not parts or len({part[0] for part in parts}) > 1 or any(len(part) < 3 for part in parts):
        return ()
    return parts[0][:1]


def refuse_splits(source: Source, files: Sequence[tuple[str, ...]]) -> None:
    """Check that the classes are not the splits of a data set, whose sub-folders are the classes.

    Args:
        source: whose files they are.
        files: of each, the folder that is its class, those within, and its name.

    Raises:
        InputError: they are; with their names.
    """
    classes = {parts[0] for parts in files if len(parts) > 1}
    within = {parts[0] for parts in files if len(parts) > 2}
    if len(classes) > 1 and within == classes and all(label.lower() in _SPLITS for label in classes):
        raise InputError(
            f"{source.name} has the splits {', '.join(sorted(classes))}, each with folders of its own; name one, as in "
            f"`{{path: {source.name}, split: {max(classes)}}}`, or give its folder as the path."
        )

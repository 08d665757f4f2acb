"""Files that may be compressed, by their suffix: opened for reading their bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pyarrow as pa


class _Decompressed(io.RawIOBase):
    """The bytes in a compressed file, which is opened again to go back to its beginning."""

    def __init__(self, opened: Callable[[], Any]) -> None:
        self._opened = opened
        self._stream = opened()
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if offset or whence != io.SEEK_SET:
            raise io.UnsupportedOperation("a compressed file goes back to its beginning alone")
        self._stream.close()
        self._stream = self._opened()
        self._at = 0
        return 0

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._stream.read(len(buffer))
        except OSError as error:
            # What these two libraries raise where the bytes are damaged.
            raise EOFError(str(error)) from error
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _bzip2(path: str | Path, mode: str) -> IO[bytes]:
    return io.BufferedReader(_Decompressed(lambda: bz2.open(path, "rb")), _CHUNK)


def _zstandard(path: str | Path, mode: str) -> IO[bytes]:
    return io.BufferedReader(_Decompressed(lambda: pa.input_stream(str(path), compression="zstd")), _CHUNK)


_CHUNK = 1 << 16
_OPENERS = {".gz": gzip.open, ".bz2": _bzip2, ".xz": lzma.open, ".zst": _zstandard}

BROKEN = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error)
"""What reading a compressed file raises where it is cut short or damaged."""


def suffix_of(path: str) -> str:
    """Return a path's suffix in lower case, that of the compressed file for ``.gz``, ``.bz2``, ``.xz`` and ``.zst``.

    >>> suffix_of("rows.CSV.gz"), suffix_of("rows")
    ('.csv', '')
    """
    parts = Path(path).suffixes
    if parts and parts[-1].lower() in _OPENERS:
        parts = parts[:-1]
    return parts[-1].lower() if parts else ""


def open_bytes(path: str | Path) -> IO[bytes]:
    """Open a file for reading bytes, decompressed."""
    opener = _OPENERS.get(Path(path).suffix.lower(), open)
    return opener(path, "rb")  # type: ignore[operator, no-any-return]


def place_in(file: IO[bytes]) -> int | None:
    """Return how many bytes of what lies on the disk were read of a file that ``open_bytes`` opened; None where its library hides that."""
    if isinstance(file, gzip.GzipFile):
        return int(file.fileobj.tell())
    return file.tell() if isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO) else None

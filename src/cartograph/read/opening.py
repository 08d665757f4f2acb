"""Text files opened for reading: decompressed, bounded, and decoded."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from cartograph.errors import InputError
from cartograph.read.compression import BROKEN, open_bytes, place_in
from cartograph.read.encodings import ESCAPES, first_fault, is_utf8_but_for_some_lines, not_decoded, require_text_encoding
from cartograph.read.source import MEGABYTE, Source

_CHUNK = 1 << 20
_UTF8 = ("utf-8", "utf8", "utf-8-sig")


class _Bounded(io.RawIOBase):
    """A file's bytes, up to as many as a source may have."""

    def __init__(self, file: IO[bytes], source: Source, size: int) -> None:
        self._file = file
        self._size = size
        self._source = source
        self._left = round(source.max_megabytes * MEGABYTE)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        # To the beginning alone, by readers that look at it first.
        self._left = round(self._source.max_megabytes * MEGABYTE)
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Any) -> int:
        content = self._file.read(min(len(buffer), _CHUNK))
        self._left -= len(content)
        if self._left < 0:
            raise InputError(too_large(self._source))
        buffer[: len(content)] = content
        if self._source.progress is not None and (place := place_in(self._file)) is not None:
            self._source.progress(place, self._size)
        return len(content)


def too_large(source: Source) -> str:
    """Return the sentence for a source that goes on beyond its bound."""
    return (
        f"{source.name} holds more than {source.max_megabytes:,.0f} MB, decompressed; raise `ingest.max_megabytes` where that is meant and "
        "memory allows it, or name a smaller file."
    )


@contextmanager
def open_text(path: str | Path, source: Source, *, newline: str, whole: bool = False) -> Iterator[IO[str]]:
    """Open a text file in its source's encoding.

    Where a file is UTF-8 but for some lines, what cannot be decoded is escaped: ``encodings.broken_byte`` finds such lines, which the
    reader sets aside.

    Args:
        path: of the file.
        source: whose encoding and bound it has.
        newline: as of ``open``.
        whole: whether a file with lines that cannot be decoded is of no use.

    Raises:
        InputError: there is no such encoding, or a read inside the block finds that the file is not in it;
            the message names line, byte, and the encoding that it reads as.
    """
    encoding = source.encoding or "utf-8-sig"
    require_text_encoding(encoding)
    try:
        errors = "strict" if whole or not _sets_lines_aside(path, source) else ESCAPES
        with open_bytes(path) as raw:
            bounded = io.BufferedReader(_Bounded(raw, source, Path(path).stat().st_size), _CHUNK)
            with io.TextIOWrapper(bounded, encoding=encoding, errors=errors, newline=newline) as file:
                yield file
    except UnicodeDecodeError as error:
        raise InputError(not_decoded(path, source.name, encoding)) from error
    except UnicodeError as error:
        raise InputError(f"{source.name} is not {encoding} text ({error}); set `encoding` to the file's own.") from error
    except BROKEN as error:
        raise InputError(f"{source.name} is not a whole compressed file ({error}); fetch it again.") from error


def _sets_lines_aside(path: str | Path, source: Source) -> bool:
    """Return whether a file is UTF-8 with a few lines that are not."""
    most = source.max_megabytes * MEGABYTE
    if (source.encoding or "utf-8").lower() not in _UTF8 or first_fault(path, "utf-8", most) is None:
        return False
    return is_utf8_but_for_some_lines(path, most)

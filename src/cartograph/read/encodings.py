"""Encodings of text files: how one is found out, and the lines that do not fit it."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from cartograph.errors import InputError
from cartograph.read.compression import open_bytes

ESCAPES = "surrogateescape"
"""How a text is decoded whose broken lines are set aside: ``broken_byte`` finds them."""
NOT_DECODED = "not in the file's encoding"
"""Reason of a record with bytes that cannot be decoded."""

_NOT_OF_FILES = ("idna", "punycode", "unicode-escape", "unicode_escape", "raw-unicode-escape", "raw_unicode_escape", "undefined")
"""Encodings of Python's for names and literals; some of them never end, or take a file in silence for what it is not."""
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHUNK = 1 << 20
_SAMPLE = 1 << 16
_FOREIGN = 0.3
"""Share of a text's letters beyond ASCII above which it is in no Western language."""
_WORDS, _OF_WORDS = re.compile(rb"[\x80-\xff]{3,}"), 0.5
"""Three such letters or more in a row, and the share of them that stand so above which a text is in no Western language."""
_RUNS = re.compile(rb"(?:[\x80-\xff][^\n]?)+")
"""What is not ASCII in a line: where letters take two bytes, the second may be one of ASCII's."""
_OF_OTHER_LETTERS = (
    *("cp1250", "cp1251", "koi8_r", "cp866", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr"),
)
"""Encodings of files whose letters are mostly beyond ASCII, as programs still write them."""
_SOUND, _MOST = (5, 0.02), 1 << 28
"""Fewest lines that are UTF-8 in a file that is not, and least share of those beyond ASCII, for it to mix encodings: by accident hardly any
is; and how many bytes are looked at."""
_ESCAPED = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class Fault:
    """Where a file is not in an encoding.

    Attributes:
        offset: of the first byte that cannot be decoded, decompressed.
        line: its line, from 1.
        byte: its value.
    """

    offset: int
    line: int
    byte: int


def require_text_encoding(encoding: str) -> None:
    """Check that text files can be in an encoding.

    Raises:
        InputError: there is no such encoding.
    """
    try:
        known = codecs.lookup(encoding).name not in _NOT_OF_FILES
        "".encode(encoding)
    except (LookupError, ValueError):
        known = False
    if not known:
        raise InputError(f"`{encoding}` is not a text encoding; set `encoding` to one such as utf-8, latin-1, cp1252 or utf-16.")


def first_fault(path: str | Path, encoding: str, most: float = float("inf")) -> Fault | None:
    """Return where a file is first not in an encoding, None where it is in it, or for as many bytes as are looked at."""
    decoder = codecs.getincrementaldecoder(encoding)()
    offset, lines = 0, 1
    with open_bytes(path) as file:
        while offset < most:
            chunk = file.read(_CHUNK)
            waiting = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                lines += chunk[: max(error.start - waiting, 0)].count(b"\n")
                return Fault(offset - waiting + error.start, lines, error.object[error.start])
            if not chunk:
                return None
            offset += len(chunk)
            lines += chunk.count(b"\n")
    return None


def is_utf8_but_for_some_lines(path: str | Path, most: float = float("inf")) -> bool:
    """Return whether a file is UTF-8 with broken lines: more of its lines beyond ASCII are UTF-8 than are not.

    A file in an eight-bit encoding has next to none that are UTF-8 by accident, however few of its lines are beyond ASCII.
    """
    sound, broken = _lines_beyond_ascii(path, most)
    return sound > broken


def mixed_sentence(path: str | Path, encoding: str) -> str:
    """Return that some lines of a file that is read in an eight-bit encoding are UTF-8, as a sentence after a blank; else nothing.

    Args:
        path: of the file.
        encoding: that it is read in, as ``guess`` found it.
    """
    if encoding not in ("cp1252", "latin-1"):
        return ""
    sound, broken = _lines_beyond_ascii(path, _MOST)
    if sound < _SOUND[0] or sound < _SOUND[1] * (sound + broken):
        return ""
    return (
        f" {sound:,} of its {sound + broken:,} lines beyond ASCII are UTF-8, though, and are misread, such as ü as Ã¼: the file mixes "
        "encodings; save it in one."
    )


def _lines_beyond_ascii(path: str | Path, most: float) -> tuple[int, int]:
    """Return how many lines beyond ASCII are UTF-8, and how many are not."""
    sound = broken = seen = 0
    with open_bytes(path) as file:
        while seen < most and (line := file.readline(_CHUNK)):
            seen += len(line)
            if not line.isascii():
                try:
                    line.decode()
                    sound += 1
                except UnicodeDecodeError:
                    broken += 1
    return sound, broken


def guess(path: str | Path) -> str | None:
    """Return the encoding of a file that is not UTF-8, None where nothing speaks for one.

    By its mark utf-16 or utf-32; by its zeros utf-16 without one; else, where letters of ASCII prevail as in Western languages and others
    stand alone among them, cp1252, or latin-1 where that has no such characters; else what ``charset_normalizer`` takes its lines beyond
    ASCII for, if the whole file is in that.
    """
    with open_bytes(path) as file:
        start = file.read(_SAMPLE)
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name
    half = len(start) // 2
    if half:
        zeros = start[: 2 * half : 2].count(0), start[1 : 2 * half : 2].count(0)
        if max(zeros) > half / 3 and min(zeros) < half / 20:
            return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    lines = b"" if b"\0" in start else _beyond_ascii(path)
    if _is_western(lines):
        return "cp1252" if first_fault(path, "cp1252") is None else "latin-1"
    found = _of_other_letters(lines) if lines else None
    return found if found and first_fault(path, found) is None else None


def _of_other_letters(lines: bytes) -> str | None:
    """Return which of the usual encodings of other letters than Western ones fits lines best, without what is ASCII between them."""
    from charset_normalizer import from_bytes

    best = from_bytes(b"\n".join(_RUNS.findall(lines)), cp_isolation=[*_OF_OTHER_LETTERS]).best()
    return None if best is None else best.encoding.replace("_", "-")


def _is_western(lines: bytes) -> bool:
    """Return whether letters of ASCII prevail in lines that have others, too, and whole words of others do not."""
    foreign = sum(byte >= 0x80 for byte in lines)
    letters = sum(chr(byte).isalpha() for byte in lines if byte < 0x80)
    in_words = sum(map(len, _WORDS.findall(lines)))
    return 0 < foreign <= _FOREIGN * (foreign + letters) and in_words <= _OF_WORDS * foreign


def decoded(content: bytes, encoding: str | None = None) -> str | None:
    """Return a text, its lines ended as everywhere; None where it is not in the encoding, or none is named and nothing speaks for one.

    Args:
        content: of a file.
        encoding: that it is in; None: UTF-8, or by its mark utf-16 or utf-32, or else, as ``guess``, cp1252 or latin-1.

    >>> decoded(b"caf\\xe9"), decoded(b"caf\\xc3\\xa9\\r\\nau lait"), decoded(b"\\x00\\xff"), decoded(b"caf\\xe9", "ascii")
    ('café', 'café\\nau lait', None, None)
    """
    marked = next((name for mark, name in _MARKS if content.startswith(mark)), None)
    western = ("cp1252", "latin-1") if b"\0" not in content and _is_western(content) else ()
    for tried in (encoding,) if encoding else (marked,) if marked else ("utf-8-sig", *western):
        try:
            return content.decode(tried).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            continue
    return None


def _beyond_ascii(path: str | Path) -> bytes:
    """Return the first lines of a file that are not ASCII, as many as make a sample."""
    found, size, seen = [], 0, 0
    with open_bytes(path) as file:
        while size < _SAMPLE and seen < 1000 * _SAMPLE and (line := file.readline(_CHUNK)):
            seen += len(line)
            if not line.isascii():
                found.append(line)
                size += len(line)
    return b"".join(found)


def not_decoded(path: str | Path, name: str, encoding: str) -> str:
    """Return the sentence for a file that is not in its encoding: where, and which one it is in.

    Args:
        path: of the file.
        name: what messages call it.
        encoding: that it is not in.
    """
    shown = "utf-8" if encoding == "utf-8-sig" else encoding
    found, fault = guess(path), first_fault(path, encoding)
    named = f"set `encoding: {found}` (--encoding {found})"
    if found in ("utf-16", "utf-32"):
        return f"{name} is not {shown} text: it begins with the mark of {found}; {named}."
    where = f": line {fault.line} has 0x{fault.byte:02x} at byte {fault.offset} of the file" if fault else ""
    way = f"it reads as {found}: {named}" if found and found != shown else "set `encoding` to the file's own"
    such = " or ".join([name for name in ("cp1250", "cp1251", "gb18030") if name != found][:2])
    others = f" if that is right, else to the file's own, such as {such}" if found and found != shown else ", such as cp1251 or gb18030"
    return f"{name} is not {shown} text{where}; {way}{others}."


def broken_byte(text: str) -> str | None:
    """Return the first byte of a text that could not be decoded, in words, None where all could.

    >>> broken_byte("caf\\udce9"), broken_byte("café")
    ('0xe9 is not UTF-8', None)
    """
    found = None if text.isascii() else _ESCAPED.search(text)
    return f"0x{ord(found[0]) - 0xDC00:02x} is not UTF-8" if found else None


def printable(text: str) -> str:
    """Return a text with the bytes that could not be decoded as escapes.

    >>> printable("caf\\udce9")
    'caf\\\\xe9'
    """
    return text if text.isascii() else text.encode("utf-8", ESCAPES).decode("utf-8", "backslashreplace")

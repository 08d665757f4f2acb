"""How an encoding is found out."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from cartograph.read.encodings import first_fault, guess, is_utf8_but_for_some_lines, mixed_sentence

WESTERN = "Le café de l’été – “très” bon. Überraschung, größer.\nplain line\n" * 20


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (WESTERN.encode("cp1252"), "cp1252"),
        (WESTERN.encode("cp1252") + b"\x81\n", "latin-1"),
        (codecs.BOM_UTF16_LE + WESTERN.encode("utf-16-le"), "utf-16"),
        (codecs.BOM_UTF32_LE + WESTERN.encode("utf-32-le"), "utf-32"),
        (WESTERN.encode("utf-16-le"), "utf-16-le"),
        (WESTERN.encode("utf-16-be"), "utf-16-be"),
        (("Привет, очень хороший фильм\n" * 20).encode("cp1251"), "cp1251"),
        (("http://example.org/reviews/archive/1 Привет, фильм,positive\n" * 20).encode("cp1251"), "cp1251"),
        (("http://example.org/reviews/archive/1 これは良い映画です。とても面白かった,positive\n" * 20).encode("shift_jis"), "shift-jis"),
        (("これは良い映画です。とても面白かった。つまらない映画でした\n" * 20).encode("shift_jis"), "shift-jis"),
        (b"plain\n", None),
    ],
)
def test_an_encoding_is_guessed_where_something_speaks_for_it(content: bytes, encoding: str | None, tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_bytes(content)
    assert guess(path) == encoding
    if encoding:
        assert first_fault(path, encoding) is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("café\n".encode() * 3 + b"caf\xe9\n", True),
        ("café\n".encode() + b"caf\xe9\n" * 3, False),
        (b"plain\n" * 99 + b"caf\xe9\n", False),
    ],
)
def test_a_file_is_utf8_with_broken_lines_where_more_lines_are_utf8_than_not(content: bytes, expected: bool, tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_bytes(content)
    assert is_utf8_but_for_some_lines(path) == expected


def test_a_fault_is_where_the_byte_is_even_across_chunks(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_bytes(b"a" * ((1 << 20) - 1) + "é\n".encode() + b"b\xff")
    fault = first_fault(path, "utf-8")
    assert fault is not None
    assert (fault.offset, fault.line, fault.byte) == ((1 << 20) + 3, 2, 0xFF)


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["trec/TREC.train", "subj/subj.all"])
def test_published_latin_1_files_read_as_western(name: str, real_data: Path) -> None:
    assert not is_utf8_but_for_some_lines(real_data / name)
    assert guess(real_data / name) == "cp1252"


def test_a_file_that_mixes_encodings_is_told_and_one_of_eight_bits_is_not(tmp_path: Path) -> None:
    mixed, western = tmp_path / "mixed.csv", tmp_path / "western.csv"
    words = ["Jütisch", "Isländisch", "Färöisch", "Französisch"] * 10
    mixed.write_bytes("".join(f"{word}\n" for word in words[:10]).encode() + "".join(f"{word}\n" for word in words).encode("cp1252"))
    western.write_bytes("".join(f"{word}\n" for word in words).encode("cp1252"))
    said = mixed_sentence(mixed, "cp1252")
    assert said.startswith(" 10 of its 50 lines beyond ASCII are UTF-8, though, and are misread, such as ü as Ã¼: ")
    assert mixed_sentence(western, "cp1252") == mixed_sentence(mixed, "utf-16") == ""
    western.write_bytes(western.read_bytes() + "Jütisch\n".encode() * 4)
    assert mixed_sentence(western, "cp1252") == "", "four may be an accident"

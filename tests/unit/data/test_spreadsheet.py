"""Sheets are safe in a spreadsheet, come back as they were, and are read as spreadsheets write them."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cartograph.data.spreadsheet import LONGEST, guarded, header_of, inert, read_sheet, shortened, unguarded, write_sheet
from cartograph.errors import InputError

HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''=1", '"=1', "  =1", "＝1", "\n=1", "'", "''", "'x"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(HOSTILE)


@pytest.mark.parametrize("text", HOSTILE[:12])
def test_no_cell_starts_a_formula(text: str) -> None:
    assert guarded(text).startswith("'")
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r", "\n", '"', " ", "＝"))


@pytest.mark.parametrize(
    "text",
    ["00123", "12345678901234567890", "1e5", "00e12345", "1-2", "3/4", "1.50", "MAR1", "2 Jan 2020", "Sept 3", "true", "FALSE", "50%"],
)
def test_what_a_spreadsheet_would_rewrite_is_guarded(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["0", "17", "plain", "r0ab12", "march of the penguins", "may", "2 apples", "", "x=1", "a-b", "marketing", "truer"]
)
def test_other_texts_are_left_alone(text: str) -> None:
    assert guarded(text) == text


@given(TEXT)
@example("'12")
@example("'007")
@example("'true")
def test_guards_can_be_undone(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert unguarded(guarded(guarded(text))) == guarded(text)


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9), TEXT), max_size=5))
@example([("1", "a\r\nb\rc\nd"), ("2", 'quote " , ; \t'), ("=3", "\ufeff\x00")])
def test_what_is_written_is_what_is_read(rows: list[tuple[str, str]]) -> None:
    records = read_sheet(write_sheet(("uid", "text"), rows), "s.csv", ("uid",))
    expected = [row for row in rows if any(guarded(cell).strip() for cell in row)]
    assert [(record.cells["uid"], record.cells["text"]) for record in records] == expected


def test_it_begins_with_a_mark_so_that_excel_reads_utf_8() -> None:
    assert write_sheet(("uid",), [("é",)]) == b"\xef\xbb\xbfuid\r\n\xc3\xa9\r\n"


def test_a_cell_longer_than_a_spreadsheet_holds_is_cut_and_says_so() -> None:
    [record] = read_sheet(write_sheet(("uid", "text"), [("a", "x" * 100_000)]), "s.csv", ("uid",))
    assert len(record.cells["text"]) < LONGEST
    assert record.cells["text"].startswith("x" * (LONGEST - 60))
    assert record.cells["text"].endswith("x … [cut: 100,000 characters in all]")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_whatever_a_spreadsheet_saves_is_read(delimiter: str, encoding: str) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter).writerows(
        [["UID", "text, and; more", "Decision ", ""], ["a", "b, c; d\te", "drop", ""], [], ["", "", "", ""]]
    )
    [record] = read_sheet(file.getvalue().encode(encoding), "s.csv", ("uid", "decision"))
    assert (record.cells["uid"], record.cells["text, and; more"], record.cells["decision"]) == ("a", "b, c; d\te", "drop")


def test_the_line_that_names_the_delimiter_is_passed_over() -> None:
    [record] = read_sheet(b"sep=;\r\nuid;decision\r\na;drop\r\n", "s.csv", ("uid", "decision"))
    assert (record.cells["decision"], record.place) == ("drop", "line 3 (row 2 of a spreadsheet)")


def test_places_are_lines_of_the_file_and_rows_of_the_spreadsheet() -> None:
    records = read_sheet(b'uid,text\na,"one\ntwo"\n\nb,x\nc\n', "s.csv", ("uid",))
    assert [record.place for record in records] == ["line 2", "line 5 (row 4 of a spreadsheet)", "line 6 (row 5 of a spreadsheet)"]
    assert records[2].cells["text"] == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"s\.csv is empty, or has no header that can be read\."),
        (b"PK\x03\x04\x14\x00", r"s\.csv is a spreadsheet's own file \(such as \.xlsx\), not text; save the sheet as CSV there, and name"),
        (b"uid,text\na,b\n", r"s\.csv has no column `decision`; its columns are uid, text\."),
        (b"uid,decision,Decision\na,b,c\n", r"s\.csv has the column `decision` 2 times; keep one\."),
        (b"uid,decision\na,drop,keep\n", r"s\.csv line 2 has 3 cells, the header 2; put quotes around its texts\."),
        (b'uid,decision\na,"drop"x\n', r"s\.csv line 2 cannot be read \(.*\); save it as CSV from a spreadsheet\."),
        ("uid,decision\nä,drop\n".encode() + b"\xe9,keep", r"s\.csv is not UTF-8 text \(line 3\); save it as “CSV UTF-8”\."),
        (b"uid,decision\n" + b"x" * 1_000_001, r"s\.csv line 2 cannot be read \(field larger than field limit"),
    ],
)
def test_sheets_that_cannot_be_read_are_named(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_sheet(content, "s.csv", ("uid", "decision"))


def test_headers_are_guarded_too() -> None:
    content = write_sheet(("uid", "=HYPERLINK(1)"), [])
    assert b"'=HYPERLINK(1)" in content
    assert header_of(content, "s.csv") == ("uid", "=hyperlink(1)")


def test_a_sheet_that_is_neither_utf_8_nor_utf_16_is_read_as_windows_1252() -> None:
    western = "uid,größe\n1,café “x”\n".encode("cp1252")
    [record] = read_sheet(western, "s.csv", ("uid",))
    assert record.cells["größe"] == "café “x”"
    assert header_of(western, "s.csv") == ("uid", "größe")
    cut = "uid,text\n1,café\n".encode("utf-16")[:-1]
    with pytest.raises(InputError, match=r"s\.csv is not UTF-16 text"):
        read_sheet(cut, "s.csv", ("uid",))


def test_empty_cells_behind_the_last_column_do_not_matter() -> None:
    [record] = read_sheet(b"uid,decision\na,drop,, \n", "s.csv", ("uid", "decision"))
    assert record.cells == {"uid": "a", "decision": "drop"}


def test_a_column_without_a_name_is_left_out_and_empty_lines_before_the_header_are_passed_over() -> None:
    [record] = read_sheet(b"\n,,\nuid,,note\na,b,c\n", "s.csv", ("uid",))
    assert record.cells == {"uid": "a", "note": "c"}


def test_of_delimiters_that_find_as_many_columns_the_comma_is_taken() -> None:
    assert header_of(b"a,b;c\n1,2;3\n", "s.csv") == ("a", "b;c")
    assert header_of(b"a,b;c;d\n1,2;3;4\n", "s.csv") == ("a,b", "c", "d")
    [record] = read_sheet(b"a,b,c;uid\n1,2,3;x\n", "s.csv", ("uid",))
    assert record.cells["uid"] == "x", "a required column counts more than many columns"


def test_data_for_programs_keep_their_numbers_and_dates_and_have_no_formulas() -> None:
    assert [inert(text) for text in ("=1+1", "+1", "-1.5e3", "-1+1", "00123", "2 Jan 2020", "plain", "@x")] == [
        "'=1+1", "+1", "-1.5e3", "'-1+1", "00123", "2 Jan 2020", "plain", "'@x",
    ]  # fmt: skip
    numbers = ("-.28", "-€5", "-5 €", "-0,55", "+1.234,5", "-1,234.5", "-1 234 567,8", "-5 %", "-3,2e4")
    assert [inert(number) for number in numbers] == list(numbers), "numbers as they are written elsewhere, too"
    assert [inert(text) for text in ("-1,2,3+A1", "+49 30 12", "-5 %x", "-$A1", "-,")] == [
        "'-1,2,3+A1",
        "'+49 30 12",
        "'-5 %x",
        "'-$A1",
        "'-,",
    ]
    assert write_sheet(("a",), [("007",), ("=1",), (0.5,)], plain=True).decode("utf-8-sig") == "a\r\n007\r\n'=1\r\n0.5\r\n"
    assert write_sheet(("a",), [("007",), (0.5,)]).decode("utf-8-sig") == "a\r\n'007\r\n0.5\r\n"


def test_a_text_is_cut_from_the_longest_length_on() -> None:
    whole = "x" * (LONGEST - 1)
    assert shortened(whole) == whole
    assert shortened(whole + "x") == f"{'x' * (LONGEST - 60)} … [cut: 32,000 characters in all]"

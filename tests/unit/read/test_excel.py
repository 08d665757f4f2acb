"""Cells of a workbook as text."""

from __future__ import annotations

import datetime
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from openpyxl import Workbook

from cartograph.data.spreadsheet import read_sheet
from cartograph.errors import InputError
from cartograph.read.excel import as_csv, other_sheets, sheet_named
from cartograph.read.formats import read
from cartograph.read.source import Source


def write(path: Path, *rows: tuple[object, ...]) -> Source:
    book = Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    book.save(path)
    return Source(str(path), path.name)


def test_values_become_text_and_formulas_are_not_run(tmp_path: Path) -> None:
    day, hour = datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, 4)
    source = write(tmp_path / "x.xlsx", ("a", "b", None, "a"), (1.0, True, day, hour), (None,) * 4, (1.5, "=1+1", "#N/A", "x"), ("only",))
    batch = read(source)
    assert batch.table.to_pydict() == {
        "a (1)": ["1", "1.5", "only"],
        "b": ["true", None, None],
        "column 3": ["2026-01-02", None, None],
        "a (2)": ["2026-01-02T03:04:00", "x", None],
    }
    assert batch.rows.to_pylist() == [1, 3, 4]


TITLES = {
    "directly": [("Feedback of 2026",)],
    "with blank rows": [("Feedback of 2026",), ("exported by Ann",), (None,)],
    "blank rows alone": [(None,), (None,)],
}


@pytest.mark.parametrize("title", TITLES.values(), ids=TITLES)
def test_a_title_above_the_names_is_passed_over(tmp_path: Path, title: list[tuple[object, ...]]) -> None:
    batch = read(write(tmp_path / "x.xlsx", *title, ("text", "label"), ("good", "pos"), (None, None), ("bad", "neg")))
    assert batch.table.to_pydict() == {"text": ["good", "bad"], "label": ["pos", "neg"]}
    assert batch.rows.to_pylist() == [1, 3]


@pytest.mark.parametrize("names", [("text",), (None, "text")])
def test_names_that_no_others_follow_are_no_title(tmp_path: Path, names: tuple[object, ...]) -> None:
    rows = [(None,) * (len(names) - 1) + (text,) for text in ("good", "bad")]
    assert read(write(tmp_path / "x.xlsx", names, *rows)).table["text"].to_pylist() == ["good", "bad"]


def test_columns_that_are_named_have_no_title(tmp_path: Path) -> None:
    source = write(tmp_path / "x.xlsx", ("only",), ("good", "pos"))
    assert read(replace(source, columns=("text", "label"))).table.to_pydict() == {"text": ["only", "good"], "label": [None, "pos"]}


def test_a_workbook_that_unpacks_to_much_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    write(path, ("text", "label"), ("a", "b"))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/large.bin", bytes(6_000_000))
    with pytest.raises(InputError, match="holds more than 5 MB"):
        read(Source(str(path), "x.xlsx", max_megabytes=5))


def test_a_sheet_with_nothing_in_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing in its first row"):
        read(write(tmp_path / "x.xlsx"))


def test_a_workbook_whose_first_sheet_has_no_rows_names_the_others_and_one_is_named_behind_its_path(tmp_path: Path) -> None:
    book = Workbook()
    book.worksheets[0].title = "Cover"
    book.worksheets[0].append(("about", "this"))
    for row in (("text", "label"), ("good", "yes")):
        book.create_sheet("Data").append(row) if "Data" not in book.sheetnames else book["Data"].append(row)
    book.save(tmp_path / "x.xlsx")
    given = str(tmp_path / "x.xlsx")
    with pytest.raises(
        InputError, match=r"x\.xlsx holds no rows; only its first sheet, `Cover`, was read: name .* x\.xlsx:SHEET \(`Data`\)\."
    ):
        read(Source(given, "x.xlsx"))
    path, sheet = sheet_named(f"{given}:Data")
    assert (path, sheet) == (given, "Data") and sheet_named(given) == (given, None)
    assert read(Source(path, "x.xlsx", split=sheet)).table.to_pydict() == {"text": ["good"], "label": ["yes"]}
    assert sheet_named(tmp_path / "none.xlsx:Data") == (f"{tmp_path}/none.xlsx:Data", None), "no such workbook"
    assert other_sheets(Source(given, "x.xlsx", split="Data")) == "", "one was named"


def test_a_sheet_that_is_wrong_about_its_own_size_is_read_whole(tmp_path: Path) -> None:
    source = write(tmp_path / "x.xlsx", ("text", "label"), ("a", "b"), (None, None), ("c",), ("d", "e"))
    with zipfile.ZipFile(source.path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    assert b'<dimension ref="A1:B5"' in parts[sheet]
    parts[sheet] = parts[sheet].replace(b'<dimension ref="A1:B5"', b'<dimension ref="A1:A2"')
    with zipfile.ZipFile(source.path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    batch = read(source)
    assert batch.table.to_pydict() == {"text": ["a", "c", "d"], "label": ["b", None, "e"]}
    assert batch.rows.to_pylist() == [1, 3, 4]


def test_a_sheet_as_csv_keeps_its_lines_its_guards_and_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    rows = [("'007", "keep", 'two\nlines, "quoted"'), (None, None, None), (12, "#N/A", "'=1+1")]
    write(path, ("Our decisions",), (), ("uid", "decision", "text"), *rows)
    records = read_sheet(as_csv(path), "x.xlsx", ("uid", "decision"))
    assert [(one.row, dict(one.cells)) for one in records] == [
        (4, {"uid": "007", "decision": "keep", "text": 'two\nlines, "quoted"'}),
        (6, {"uid": "12", "decision": "#N/A", "text": "=1+1"}),
    ]
    write(path, ("uid", "decision"), ("u1", "keep", "or drop?"))
    with pytest.raises(InputError, match="line 2 has 3 cells, the header 2"):
        read_sheet(as_csv(path), "x.xlsx", ("uid",))
    write(path, ("uid", "decision", "decision"))
    with pytest.raises(InputError, match="has the column `decision` 2 times"):
        read_sheet(as_csv(path), "x.xlsx", ("uid", "decision"))
    write(path, ("uid", "decision"))
    assert read_sheet(as_csv(path), "x.xlsx", ("uid", "decision")) == []
    write(path)
    with pytest.raises(InputError, match=r"x\.xlsx is empty"):
        read_sheet(as_csv(path), "x.xlsx", ("uid",))

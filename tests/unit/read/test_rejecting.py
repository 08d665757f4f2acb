"""Records that have the header once more, in every format that has records."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.read.formats import read
from cartograph.read.rejecting import HEADER_AGAIN
from cartograph.read.source import Source

ROWS = [["fine", "good"], ["text", "label"], [" text", "label "], ["text", "good"], ["poor", "label"], ["poor", "bad"]]


def as_csv(path: Path) -> None:
    path.write_text("\n".join(",".join(row) for row in [["text", "label"], *ROWS]))


def as_jsonl(path: Path) -> None:
    path.write_text("\n".join(json.dumps({"text": text, "label": label}) for text, label in ROWS))


def as_parquet(path: Path) -> None:
    pq.write_table(pa.table({"text": [row[0] for row in ROWS], "label": [row[1] for row in ROWS]}), path)


def as_xlsx(path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [["text", "label"], *ROWS]:
        book.active.append(row)
    book.save(path)


@pytest.mark.parametrize("write", [as_csv, as_jsonl, as_parquet, as_xlsx])
def test_the_names_of_all_columns_are_no_record(tmp_path: Path, write: object) -> None:
    path = tmp_path / f"rows.{write.__name__.removeprefix('as_')}"  # type: ignore[attr-defined]
    write(path)  # type: ignore[operator]
    batch = read(Source(str(path), path.name))
    assert batch.table.to_pydict() == {"text": ["fine", "text", "poor", "poor"], "label": ["good", "good", "label", "bad"]}
    assert batch.rows.to_pylist() == [1, 4, 5, 6]
    assert [(record.row, record.reason, record.record) for record in batch.rejected] == [
        (2, HEADER_AGAIN, "text | label"),
        (3, HEADER_AGAIN, "text | label"),
    ]


def test_equal_and_empty_names_are_the_headers_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("text,,text\na,b,c\ntext,,text\n")
    batch = read(Source(str(path), path.name))
    assert batch.table.to_pydict() == {"text (1)": ["a"], "column 2": ["b"], "text (2)": ["c"]}
    assert [record.row for record in batch.rejected] == [2]


def test_of_one_column_a_value_may_be_its_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("text\nfine\ntext\n")
    assert read(Source(str(path), path.name)).table["text"].to_pylist() == ["fine", "text"]

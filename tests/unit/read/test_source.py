"""What every format has in common: the bounds of a source, of a cell, of names and of encodings."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.data.csv_cells import MAX_CELL
from cartograph.errors import InputError
from cartograph.read.formats import read
from cartograph.read.source import TOO_LONG, Source


def source(path: Path, **more: object) -> Source:
    return Source(str(path), path.name, **more)  # type: ignore[arg-type]


def as_csv(texts: list[str], path: Path) -> None:
    path.write_text("text,label\n" + "".join(f'"{text}",good\n' for text in texts))


def as_jsonl(texts: list[str], path: Path) -> None:
    path.write_text("".join(json.dumps({"text": text, "label": "good"}) + "\n" for text in texts))


def as_parquet(texts: list[str], path: Path) -> None:
    pq.write_table(pa.table({"text": texts, "label": ["good"] * len(texts)}), path)


@pytest.mark.parametrize("write", [as_csv, as_jsonl, as_parquet])
def test_one_limit_and_one_reason_for_long_cells_in_every_format(tmp_path: Path, write: object) -> None:
    path = tmp_path / f"rows.{write.__name__.removeprefix('as_')}"  # type: ignore[attr-defined]
    write(["short", "x" * 200_000, "y" * MAX_CELL, "z" * (MAX_CELL + 1), "last"], path)  # type: ignore[operator]
    batch = read(source(path))
    assert [len(text) for text in batch.table["text"].to_pylist()] == [5, 200_000, MAX_CELL, 4]
    assert batch.rows.to_pylist() == [1, 2, 3, 5]
    assert [(record.row, record.reason) for record in batch.rejected] == [(4, TOO_LONG)]


def test_a_small_file_that_unpacks_to_much_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"text,label\n")
        for _ in range(300):
            file.write(b"a" * 1_000_000)
    started = time.process_time()
    with pytest.raises(InputError, match=r"rows\.csv\.gz holds more than 5 MB, decompressed; raise `ingest\.max_megabytes`"):
        read(source(path, max_megabytes=5))
    assert time.process_time() - started < 5


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.parquet"])
def test_the_bound_holds_for_what_is_not_compressed_too(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    {"csv": as_csv, "jsonl": as_jsonl, "parquet": as_parquet}[name.partition(".")[2]](["some text"] * 10_000, path)
    with pytest.raises(InputError, match="holds more than 0 MB"):
        read(source(path, max_megabytes=0.05))
    assert len(read(source(path, max_megabytes=1)).rows) == 10_000


def test_columns_of_one_name_are_numbered_in_parquet_as_in_csv(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"]), pa.array(["x"])], names=["text", "text", "label"])
    pq.write_table(table, tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text("text,text,label\na,b,x\n")
    found = [read(source(tmp_path / name)).table.to_pydict() for name in ("rows.parquet", "rows.csv")]
    assert found[0] == found[1] == {"text (1)": ["a"], "text (2)": ["b"], "label": ["x"]}


def test_bytes_that_are_text_are_read_as_text_and_others_are_left_out(tmp_path: Path) -> None:
    columns = {"text": pa.array(["é".encode(), None]), "large": pa.array([b"x", b"y"], pa.large_binary()), "raw": pa.array([b"\xff", b"a"])}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    assert read(source(tmp_path / "rows.parquet")).table.to_pydict() == {"text": ["é", None], "large": ["x", "y"]}


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(InputError, match=r"rows\.csv is neither a file nor a folder, but a pipe or a device"):
        read(source(tmp_path / "rows.csv"))


@pytest.mark.parametrize("encoding", ["idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "base64", "utf-9", "a\0b"])
def test_what_is_no_encoding_of_files_is_refused(tmp_path: Path, encoding: str) -> None:
    as_csv(["a"], tmp_path / "rows.csv")
    with pytest.raises(InputError, match="is not a text encoding; set `encoding` to one such as utf-8"):
        read(source(tmp_path / "rows.csv", encoding=encoding))


SWALLOWED = """\
text,label
one,good
two,bad
"three,good
four,bad
five",good
six,bad
"a poem
in two lines, it says",good
"with a list:
bread, butter
and more",bad
seven,good
"eight,good
nine",bad
"""


def test_records_that_a_stray_quote_put_into_one_are_counted_and_cells_of_several_lines_are_not(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(SWALLOWED)
    batch = read(source(tmp_path / "rows.csv"))
    assert len(batch.rows) == 8
    assert batch.merged == (3, 8)


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("text,label; with; semicolons", ["text", "label; with; semicolons"]),
        ("text;label", ["text", "label"]),
        ("text|label|more", ["text", "label", "more"]),
        ("text", ["text"]),
    ],
)
def test_a_comma_in_the_header_decides_however_many_other_marks_there_are(tmp_path: Path, header: str, columns: list[str]) -> None:
    mark = next((mark for mark in ",;|" if mark in header), "")
    (tmp_path / "rows.csv").write_text(header + "\n" + mark.join("x" * len(columns)) + "\n")
    assert read(source(tmp_path / "rows.csv")).table.column_names == columns


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".parquet"])
def test_the_bytes_read_of_a_file_are_counted_to_its_end(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    texts = [f"row {number} {'x' * 40}" for number in range(60_000)]
    if suffix == ".parquet":
        pq.write_table(pa.table({"text": texts, "label": ["good"] * len(texts)}), path)
    elif suffix == ".jsonl":
        as_jsonl(texts, path)
    else:
        as_csv(texts, tmp_path / "plain.csv")
        content = (tmp_path / "plain.csv").read_bytes()
        path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    heard: list[tuple[int, int]] = []
    counted = read(source(path, progress=lambda done, total: heard.append((done, total))))
    assert len(counted.rows) == 60_000
    dones, totals = zip(*heard, strict=True)
    size = path.stat().st_size
    assert set(totals) == {size} and list(dones) == sorted(dones) and dones[0] < size == dones[-1]

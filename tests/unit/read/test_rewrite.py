"""Copies of files with new cells in some columns: all else stays as it is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.read.rewrite import parquet_columns, rewrite_columns
from cartograph.read.source import Source


def test_new_cells_of_several_columns_and_all_else_byte_for_byte(tmp_path: Path) -> None:
    before = 'text;a;b\r\n"one; two";0;1\r\n three;1;1\r\nfour;0;0\r\n'
    (tmp_path / "rows.csv").write_bytes(before.encode("cp1252"))
    source = Source(str(tmp_path / "rows.csv"), "rows.csv", encoding="cp1252")
    assert rewrite_columns(source, [1, 3], {"a": ["0", "1"], "b": ["0", "0"]}, tmp_path / "cleaned.csv")
    assert (tmp_path / "cleaned.csv").read_bytes().decode("cp1252") == 'text;a;b\r\n"one; two";0;0\r\nfour;1;0\r\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cleaned.csv", "rows.csv"]


def test_without_new_cells_rows_are_left_out_alone(tmp_path: Path) -> None:
    (tmp_path / "rows.tsv").write_text("text\ta\none\t0\ntwo\t1\n")
    assert rewrite_columns(Source(str(tmp_path / "rows.tsv"), "rows.tsv"), [2], {}, tmp_path / "cleaned.tsv")
    assert (tmp_path / "cleaned.tsv").read_text() == "text\ta\ntwo\t1\n"


def test_a_file_of_another_kind_has_no_such_copy(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"text": "one", "tags": ["a"]}\n')
    assert not rewrite_columns(Source(str(tmp_path / "rows.jsonl"), "rows.jsonl"), [1], {"tags": ["[]"]}, tmp_path / "cleaned.jsonl")
    assert not (tmp_path / "cleaned.jsonl").exists()


def test_columns_of_parquet_keep_their_types(tmp_path: Path) -> None:
    table = pa.table(
        {"yes": pa.array([True, False]), "tags": pa.array([["a"], []], pa.list_(pa.string())), "n": pa.array([1, 2], pa.int8())}
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    source = Source(str(tmp_path / "rows.parquet"), "rows.parquet")
    found = parquet_columns(source, [2, 1], {"yes": ["true", "false"], "tags": [["b"], []], "n": ["0", "1"]})
    assert found is not None and found.schema.types == table.schema.types
    assert found.to_pylist() == [{"yes": True, "tags": ["b"], "n": 0}, {"yes": False, "tags": [], "n": 1}]
    assert parquet_columns(source, [1], {"n": ["many"]}) is None

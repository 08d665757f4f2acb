"""Copies of files with new cells in some columns: all else stays as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.read.rewrite import has_room, parquet_columns, rewrite, rewrite_columns
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


LISTS = {
    "lines": ('{"text": "one", "tags": ["a", 7]}\n{"tags": [], "text": "tw\\u00f6"}\n{"text":  "three", "tags": ["b"]}\n', [1, 2, 3]),
    "array": ('[\n{"text": "one", "tags": ["a", 7]},\n{"text": "zwö", "tags": []}\n]\n', [1, 2]),
    "object": ('{\n "rows": [\n  {"text": "one", "tags": ["a", 7]}\n ]\n}\n', [1]),
}


@pytest.mark.parametrize("form", LISTS)
def test_lists_of_json_are_written_as_lists_with_items_spelled_as_there(form: str, tmp_path: Path) -> None:
    before, kept = LISTS[form]
    path, copy = tmp_path / "rows.jsonl", tmp_path / "cleaned.jsonl"
    path.write_text(before, encoding="utf-8")
    source = Source(str(path), "rows.jsonl")
    cells = {1: ["7"], 2: ["7", "b"], 3: ["b"]}
    assert rewrite_columns(source, kept, {"tags": [cells[number] for number in kept]}, copy)
    after = copy.read_text(encoding="utf-8")
    tags = [row["tags"] for row in _records(after)]
    assert tags == [[7], [7, "b"], ["b"]][: len(kept)]
    assert [row["text"] for row in _records(after)] == [row["text"] for row in _records(before)]
    if form == "lines":
        assert after.endswith('{"text":  "three", "tags": ["b"]}\n'), "what does not change keeps its bytes"
    assert rewrite_columns(source, kept, {}, copy) and _records(copy.read_text(encoding="utf-8")) == _records(before)


def _records(text: str) -> list[dict[str, Any]]:
    if text.startswith("["):
        return json.loads(text)
    return json.loads(text)["rows"] if text.startswith("{\n") else [json.loads(line) for line in text.splitlines()]


def test_nested_lists_and_columns_of_yes_and_no_keep_their_place_and_kind(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"m": {"tags": ["a"]}, "spam": true}\n{"m": {"tags": null}, "spam": false}\n')
    source = Source(str(tmp_path / "rows.jsonl"), "rows.jsonl")
    assert rewrite_columns(source, [1, 2], {"m.tags": [[], None], "spam": ["false", "false"]}, tmp_path / "cleaned.jsonl")
    assert (tmp_path / "cleaned.jsonl").read_text() == '{"m": {"tags": []}, "spam": false}\n{"m": {"tags": null}, "spam": false}\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cleaned.jsonl", "rows.jsonl"]


def test_a_file_of_another_kind_has_no_such_copy(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["one"], "tags": [["a"]]}), tmp_path / "rows.parquet")
    assert not rewrite_columns(Source(str(tmp_path / "rows.parquet"), "rows.parquet"), [1], {"tags": ["[]"]}, tmp_path / "cleaned.parquet")
    assert not (tmp_path / "cleaned.parquet").exists()


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


@pytest.mark.parametrize("inside", ["\n", "\r\n", "\r", ",", '""'])
def test_a_record_with_a_new_label_keeps_its_quotes_around_what_needs_them(tmp_path: Path, inside: str) -> None:
    path, copy = tmp_path / "rows.csv", tmp_path / "cleaned.csv"
    path.write_bytes(f'text,label\n"one{inside}two",no\nthree,no\n'.encode())
    rewrite(Source(str(path), "rows.csv"), "label", {1: "yes", 2: None}, copy)
    assert copy.read_bytes() == f'text,label\n"one{inside}two",yes\nthree,no\n'.encode()


def test_a_column_more_stands_at_the_end_of_each_record_and_of_the_header(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b'text;label\r\n"two\r\nlines";good\r\nplain;bad\r\nlast; ;\r\nend;good')
    copy = tmp_path / "copy.csv"
    rewrite(Source(str(path), path.name), "label", {1: None, 2: "good", 4: None}, copy, ("weight", {1: 0.25, 2: 0.0, 4: 1.5}))
    assert copy.read_bytes() == b'text;label;weight\r\n"two\r\nlines";good;0.25\r\nplain;good;0\r\nend;good;1.5'
    for name, room in (("rows.tsv", True), ("rows.jsonl", False), ("rows.parquet", False)):
        assert has_room(Source(str(tmp_path / name), name)) is room
    assert not has_room(Source(str(path), path.name, columns=("text", "label")))

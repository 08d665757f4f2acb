from __future__ import annotations

from pathlib import Path

import pytest

from cartograph.read.formats import read
from cartograph.read.orange import stated
from cartograph.read.rewrite import rewrite
from cartograph.read.source import Source

NAMES = ["age", "sex", "pain", "since", "name", "id", "sick"]


def test_types_and_flags_are_read() -> None:
    types = ["c", "discrete", "none typical\\ angina", "t", "string", "d", "d"]
    found = {"age": "number", "sex": "category", "pain": "category", "name": "left out", "id": "left out", "sick": "class"}
    assert stated(NAMES, types, ["", "", "", "", "meta", "ignore", "class"]) == found
    assert stated(NAMES, types, ["", "", "", "", "m", "i", "class -dc=0 key=some\\ value"]) == found
    assert stated(["a", "b"], ["Continuous", " d "], []) == {"a": "number", "b": "category"}


@pytest.mark.parametrize(
    ("types", "flags"),
    [
        (["a good film", "bad"], ["a bad film", "good"]),
        (["c", "d"], ["1.5", "2"]),
        (["c", "d"], ["one", "class"]),
        (["c", "a b"], ["", ""]),
        (["", ""], ["", "class"]),
        (["c"], ["class"]),
        (["c", "d"], ["", "", "class"]),
        (["3", "4"], ["", "class"]),
        (["a b", "c d"], ["", "class"]),
    ],
)
def test_rows_are_no_header(types: list[str], flags: list[str]) -> None:
    assert stated(["text", "label"], types, flags) is None


def test_the_rows_of_such_a_file_begin_with_its_fourth_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.tab"
    path.write_text("age\tsick\r\nc\td\r\n\tclass\r\n41\tno\r\n?\tyes\r\n7\r\n")
    batch = read(Source(str(path), "rows.tab"))
    assert batch.table.to_pydict() == {"age": ["41", "?"], "sick": ["no", "yes"]}
    assert batch.rows.to_pylist() == [1, 2] and [record.row for record in batch.rejected] == [3]
    assert batch.stated == {"age": "number", "sick": "class"}
    rewrite(Source(str(path), "rows.tab"), "sick", {1: "yes"}, tmp_path / "copy.tab")
    assert (tmp_path / "copy.tab").read_bytes() == b"age\tsick\r\nc\td\r\n\tclass\r\n41\tyes\r\n"
    assert read(Source(str(path), "rows.tab", columns=("a", "b"))).rows.to_pylist() == [1, 2, 3, 4, 5]
    short = tmp_path / "short.tab"
    short.write_text("age\tsick\nc\td\n")
    assert read(Source(str(short), "short.tab")).table.num_rows == 1

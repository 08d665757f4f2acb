from __future__ import annotations

from pathlib import Path

from cartograph.data.json_files import read_json, write_json


def test_files_are_in_utf_8_a_value_a_line_with_sorted_keys(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"b": [1.5], "a": "é"})
    assert path.read_bytes() == '{\n "a": "é",\n "b": [\n  1.5\n ]\n}\n'.encode()
    assert read_json(path) == {"a": "é", "b": [1.5]}


def test_the_order_of_keys_is_kept_where_it_means_something(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"most frequent": 3, "less": 1}, sort_keys=False)
    assert list(read_json(path)) == ["most frequent", "less"]

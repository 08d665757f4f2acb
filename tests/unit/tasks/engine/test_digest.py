"""Digests of files, folders and JSON values, against ones that are put together by hand."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tasks.engine.digest import COMPILED, digest_json, digest_path


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_json_value_is_digested_with_sorted_keys_and_without_spaces() -> None:
    assert digest_json({"b": [1, 2.5, None], "a": "größer"}) == sha256('{"a":"größer","b":[1,2.5,null]}')


def test_a_file_is_its_bytes_and_a_folder_the_names_and_bytes_of_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "in" / COMPILED).mkdir(parents=True)
    (folder / "empty").mkdir()
    for name in ("b.txt", "a.txt", "in/c.txt", f"in/{COMPILED}/c.pyc"):
        (folder / name).write_text(name)
    assert digest_path(folder / "a.txt") == sha256("a.txt")
    names = ["a.txt", "b.txt", f"in/{COMPILED}/c.pyc", "in/c.txt"]
    assert digest_path(folder) == digest_json([[name, sha256(name)] for name in names])
    names.remove(f"in/{COMPILED}/c.pyc")
    assert digest_path(folder, without=COMPILED) == digest_json([[name, sha256(name)] for name in names])


def test_what_is_no_file_cannot_be_digested(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a pipe or a device, not a file"):
        digest_path(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        digest_path(tmp_path / "missing")

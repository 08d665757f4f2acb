from __future__ import annotations

from pathlib import Path

import pytest

from tasks.engine.whole_files import write_whole


def test_a_file_is_written_into_a_new_folder_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "review" / "sheet.csv"
    write_whole(path, "größer\n")
    assert path.read_bytes() == "größer\n".encode()
    write_whole(path, b"\xff")
    assert path.read_bytes() == b"\xff"
    assert [file.name for file in path.parent.iterdir()] == ["sheet.csv"]


def test_an_interrupted_write_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sheet.csv"
    write_whole(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, "new")
    assert path.read_text() == "old"

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cartograph.data.whole_files import sync_tree, write_whole


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


def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What is brought to the disk from now on: names, and how many bytes they had then."""
    happened: list[tuple[str, int]] = []
    monkeypatch.setattr(
        "os.fsync", lambda descriptor: happened.append((Path(f"/proc/self/fd/{descriptor}").readlink().name, os.fstat(descriptor).st_size))
    )
    return happened


linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at open files as Linux shows them")


@linux
def test_a_file_is_whole_on_the_disk_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    happened = synced(monkeypatch)
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, target: (happened.append(("named", 0)), replace(self, target))[1])
    write_whole(tmp_path / "new" / "sheet.csv", "0123456789")
    assert happened[:2] == [("sheet.csv.tmp", 10), ("named", 0)]
    assert [name for name, _ in happened[2:]] == ["new"]


@linux
def test_a_tree_is_brought_to_the_disk_files_before_their_folders_and_no_file_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    (tree / "inner").mkdir(parents=True)
    (tree / "inner" / "a.txt").write_text("abc")
    (tree / "gone").symlink_to("nowhere")
    happened, before = synced(monkeypatch), len(list(Path("/proc/self/fd").iterdir()))
    sync_tree(tree)
    assert [name for name, _ in happened] == ["a.txt", "inner", "tree"]
    sync_tree(tree / "inner" / "a.txt")
    assert happened[-1] == ("a.txt", 3)
    assert len(list(Path("/proc/self/fd").iterdir())) == before

"""Folders of texts, and archives of them: rows, labels, encodings, and what is set aside."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from cartograph.errors import InputError
from cartograph.read.formats import format_of, read
from cartograph.read.source import Batch, Source
from tests.training_sets import write_files

CLASSES = {"neg/1_2.txt": b"dull\r\nand long", "neg/0_1.txt": b"\xef\xbb\xbfbad", "pos/deep/7.txt": "schön".encode(), "pos/8": b"fun"}


def batch_of(path: Path, split: str | None = None, encoding: str | None = None) -> Batch:
    return read(Source(str(path), path.name, split=split, encoding=encoding))


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return path


@pytest.mark.parametrize("around", ["", "mails/"])
@pytest.mark.parametrize("archived", [False, True])
def test_sub_folders_are_classes_and_files_texts(tmp_path: Path, archived: bool, around: str) -> None:
    files = {f"{around}{name}": content for name, content in CLASSES.items()} | {f"{around}neg/.DS_Store": b"x", f"{around}urls.txt": b"x"}
    if around:
        del files[f"{around}urls.txt"]
    path = archive(tmp_path / "set.zip", files) if archived else write_files(tmp_path / "set", files)
    assert format_of(str(path)) == "text-folder"
    batch = batch_of(path)
    assert batch.table.to_pydict() == {
        "text": ["bad", "dull\nand long", "fun", "schön"],
        "file": [f"{around}{name}" for name in ("neg/0_1.txt", "neg/1_2.txt", "pos/8", "pos/deep/7.txt")],
        "label": ["neg", "neg", "pos", "pos"],
    }
    assert batch.rows.to_pylist() == [1, 2, 3, 4] and batch.rejected == ()


def test_names_of_mails_that_end_in_a_sum_are_those_of_texts_and_programs_are_none(tmp_path: Path) -> None:
    mails = write_files(tmp_path / "mails", {f"{kind}/000{n}.7c53336b37003a{n}": b"Hello" for kind in ("ham", "spam") for n in range(3)})
    assert format_of(str(mails)) == "text-folder"
    programs = write_files(tmp_path / "programs", {f"{kind}/{n}.py": b"import os" for kind in ("src", "tests") for n in range(3)})
    assert format_of(str(programs)) == "huggingface"
    named = read(Source(str(programs), "programs", format="text-folder"))
    assert named.table["label"].to_pylist() == ["src"] * 3 + ["tests"] * 3
    one = write_files(tmp_path / "one", {"all/1.txt": b"a", "all/2.txt": b"b"})
    assert format_of(str(one)) == "huggingface"


def test_files_in_other_encodings_are_read_one_by_one_or_set_aside(tmp_path: Path) -> None:
    files = {
        "a/1.txt": "café".encode("latin-1"),
        "a/2.txt": "naïve".encode("utf-16"),
        "b/3.txt": b"\x89PNG\r\n\x00",
        "b/4.txt": "日本語".encode("cp932"),
        "b/5.txt": b"plain",
    }
    batch = batch_of(write_files(tmp_path / "set", files))
    assert batch.table["text"].to_pylist() == ["café", "naïve", "plain"] and batch.rows.to_pylist() == [1, 2, 5]
    assert [(row.row, row.record, row.reason) for row in batch.rejected] == [
        (3, "b/3.txt", "not in the file's encoding"),
        (4, "b/4.txt", "not in the file's encoding"),
    ]
    assert "set `encoding`" in batch.rejected[1].detail
    assert "日本語" in batch_of(tmp_path / "set", encoding="cp932").table["text"].to_pylist()


@pytest.mark.parametrize("archived", ["", "aclImdb/", "."])
def test_a_split_is_a_sub_folder_and_several_are_not_taken_for_classes(tmp_path: Path, archived: str) -> None:
    files = {f"{split}/{name}": content for split in ("train", "test") for name, content in CLASSES.items()} | {"README": b"hello"}
    if archived:
        around = archived.strip(".")
        path = archive(tmp_path / "set.zip", {f"{around}{name}": content for name, content in files.items()})
    else:
        path = write_files(tmp_path / "set", files)
    with pytest.raises(InputError, match=r"has the splits test, train, each with folders of its own; name one, as in .*split: train}"):
        batch_of(path)
    assert batch_of(path, split="test").table["label"].to_pylist() == ["neg", "neg", "pos", "pos"]
    with pytest.raises(InputError, match="has no sub-folder `dev`"):
        batch_of(path, split="dev")


def test_a_link_out_of_the_folder_is_set_aside(tmp_path: Path) -> None:
    secret = write_files(tmp_path / "outside", {"secret.txt": b"secret"})
    path = write_files(tmp_path / "set", {"a/1.txt": b"one", "b/2.txt": b"two"})
    (path / "b/0.txt").symlink_to(secret / "secret.txt")
    batch = batch_of(path)
    assert batch.table["text"].to_pylist() == ["one", "two"]
    assert [(row.record, row.reason) for row in batch.rejected] == [("b/0.txt", "file outside the folder")]


def test_an_archive_that_would_unpack_to_far_more_than_texts_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "set.zip", {"a/1.txt": b"a" * 120_000_000, "b/2.txt": b"b"})
    with pytest.raises(InputError, match="far more than an archive of texts can"):
        read(Source(str(path), "set.zip", format="text-folder"))

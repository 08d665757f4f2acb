"""Files of one table in an archive or a folder."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.errors import InputError
from cartograph.read.formats import format_of, read
from cartograph.read.source import Source


def test_rows_go_on_from_shard_to_shard_with_their_rejected_records(tmp_path: Path) -> None:
    for name, content in {"b.csv": "text,label\nthree,x\nfour,y\n", "a.csv": "text,label\none,x\nbroken\ntwo,y\n"}.items():
        (tmp_path / name).write_text(content)
    batch = read(Source(str(tmp_path), "folder"))
    assert batch.table["text"].to_pylist() == ["one", "two", "three", "four"]
    assert batch.rows.to_pylist() == [1, 3, 4, 5]
    assert [record.row for record in batch.rejected] == [2]


def test_an_archive_of_much_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", "text,label\n" + "a" * 6_000_000)
    with pytest.raises(InputError, match="holds more than 5 MB"):
        read(Source(str(tmp_path / "x.zip"), "x.zip", max_megabytes=5))


def test_a_shard_without_the_columns_of_the_first_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\none,x\n")
    (tmp_path / "b.csv").write_text("two,y\nthree,z\n")
    with pytest.raises(InputError, match=r"folder/b\.csv has the columns two, y, a\.csv has label, text"):
        read(Source(str(tmp_path), "folder"))


def test_a_member_s_path_leads_nowhere_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("../../escaped.csv", "text,label\none,x\n")
    assert read(Source(str(tmp_path / "x.zip"), "x.zip")).table["text"].to_pylist() == ["one"]
    assert not list(tmp_path.parent.glob("**/escaped.csv"))


def test_archives_of_images_stay_archives_of_images(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("metadata.csv", "file_name,label\na.png,x\n")
        archive.writestr("a.png", b"")
    assert format_of(str(tmp_path / "x.zip")) == "image-folder"


def test_an_archive_with_two_files_of_one_name_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("a.csv", "text,label\none,x\n")
        archive.writestr("a.csv", "text,label\ntwo,y\n")
    with pytest.raises(InputError, match=r"x\.zip holds several files of the name a\.csv; pack the archive again"):
        read(Source(str(tmp_path / "x.zip"), "x.zip"))


def test_numbered_parquet_files_in_a_folder_are_one_table(tmp_path: Path) -> None:
    for number in range(2):
        pq.write_table(pa.table({"text": [f"t{number}"], "label": ["x"]}), tmp_path / f"part-{number}.parquet")
    assert read(Source(str(tmp_path), "folder")).table["text"].to_pylist() == ["t0", "t1"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_links_out_of_the_folder_are_not_followed(tmp_path: Path, suffix: str) -> None:
    for place in ("outside", "folder", "folder/inner"):
        (tmp_path / place).mkdir()
        if suffix == "csv":
            (tmp_path / place / "0.csv").write_text("text,label\none,x\n")
        else:
            pq.write_table(pa.table({"text": ["one"], "label": ["x"]}), tmp_path / place / "0.parquet")
    if suffix == "parquet":
        (tmp_path / "folder/inner/0.parquet").rename(tmp_path / "folder/2.parquet")
    (tmp_path / "folder" / f"3.{suffix}").symlink_to(tmp_path / "folder" / f"0.{suffix}")
    assert read(Source(str(tmp_path / "folder"), "folder")).table["text"].to_pylist() == ["one"] * 3
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    assert read(Source(str(tmp_path / "link"), "link")).table["text"].to_pylist() == ["one"] * 3
    (tmp_path / "folder" / f"1.{suffix}").symlink_to(tmp_path / "outside" / f"0.{suffix}")
    with pytest.raises(InputError, match=rf"folder/1\.{suffix} is a link that leads out of the folder, .*; put the file itself there"):
        read(Source(str(tmp_path / "folder"), "folder"))

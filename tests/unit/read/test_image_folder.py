"""Folders of images, archives of them, and arrays of pixels: rows, labels, and everything hostile that may stand among them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from cartograph.data.images import open_png, png_of
from cartograph.errors import InputError
from cartograph.read.formats import format_of, read
from cartograph.read.source import Batch, Source
from tests.ingesting import run_ingest
from tests.training_sets import write_files

RNG = np.random.default_rng(3)


def picture(value: int = 0, side: int = 9) -> bytes:
    return png_of(np.full((side, side), value, np.uint8), 256)


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return path


def batch_of(path: Path, **more: Any) -> Batch:
    return read(Source(str(path), path.name, images=True, **more))


def values(batch: Batch) -> list[int]:
    return [int(np.asarray(open_png(png)).flat[0]) for png in batch.table["image"].to_pylist()]


def reasons(batch: Batch) -> dict[str, str]:
    return {rejected.record: rejected.reason for rejected in batch.rejected}


CLASSES = {"cats/b.png": picture(2), "cats/a.png": picture(1), "dogs/deep/c.png": picture(3)}


@pytest.mark.parametrize("around", ["", "photos/"])
@pytest.mark.parametrize("archived", [False, True])
def test_sub_folders_are_classes(tmp_path: Path, archived: bool, around: str) -> None:
    files = {f"{around}{name}": content for name, content in CLASSES.items()}
    files |= {"README.txt": b"hello", ".DS_Store": b"x", f"{around}cats/.hidden.png": b"x"}
    if around:
        del files["README.txt"]
        files = {name.replace("deep/", ""): content for name, content in files.items()}
        files |= {f"{around}dogs/more/d.png": picture(4)}
        del files[f"{around}dogs/more/d.png"]
    path = archive(tmp_path / "set.zip", files) if archived else write_files(tmp_path / "set", files)
    assert format_of(str(path)) == "image-folder"
    batch = batch_of(path)
    assert batch.table["label"].to_pylist() == ["cats", "cats", "dogs"]
    assert values(batch) == [1, 2, 3] and batch.rows.to_pylist() == [1, 2, 3] and batch.rejected == ()
    assert batch.table["file"].to_pylist()[0] == f"{around}cats/a.png"


@pytest.mark.parametrize("archived", ["", "set/", "."])
def test_a_split_is_a_sub_folder(tmp_path: Path, archived: str) -> None:
    files = {f"{split}/{name}": content for split in ("train", "test") for name, content in CLASSES.items()}
    around = archived.strip(".")
    path = archive(tmp_path / "set", {f"{around}{name}": content for name, content in files.items()}) if archived else tmp_path / "set"
    assert archived or write_files(path, files)
    batch = batch_of(path, split="test", format="image-folder")
    assert batch.table["label"].to_pylist() == ["cats", "cats", "dogs"] and batch.table["file"][0].as_py() == "cats/a.png"
    for split in ("dev", "..", "tes"):
        with pytest.raises(InputError, match=f"set has no sub-folder `{split}`"):
            batch_of(path, split=split, format="image-folder")


def test_splits_are_not_taken_for_classes(tmp_path: Path) -> None:
    files = {f"{split}/{name}": content for split in ("train", "valid") for name, content in CLASSES.items()}
    with pytest.raises(InputError, match=r"set has the splits train, valid, each with folders of its own; name one"):
        batch_of(write_files(tmp_path / "set", files))
    plain = {"train/1.png": picture(1), "test/2.png": picture(2), "bus/3.png": picture(3), "car/x.png": picture(4)}
    assert batch_of(write_files(tmp_path / "vehicles", plain)).table["label"].to_pylist() == ["bus", "car", "test", "train"]


def test_files_beside_the_classes_folders_have_no_label(tmp_path: Path) -> None:
    files = {f"data/{name}": content for name, content in CLASSES.items()} | {"data/README.md": b"hello", "data/labels.txt": b"x"}
    batch = batch_of(archive(tmp_path / "set.zip", {name.replace("deep/", ""): content for name, content in files.items()}))
    assert batch.table["label"].to_pylist() == ["cats", "cats", "dogs"] and batch.rejected == ()


def test_an_archive_with_backslashes_in_its_names_is_read(tmp_path: Path) -> None:
    batch = batch_of(archive(tmp_path / "set.zip", {name.replace("/", "\\"): content for name, content in CLASSES.items()}))
    assert batch.table["label"].to_pylist() == ["cats", "cats", "dogs"] and values(batch) == [1, 2, 3]


def test_a_table_beside_the_images_names_them(tmp_path: Path) -> None:
    table = b"file_name,label,annotator\nx/1.png,cat,ann\nx/2.png,dog,bob\nx/3.png,dog,bob\n"
    path = write_files(tmp_path / "set", {"metadata.csv": table, "x/1.png": picture(1), "x/2.png": picture(2), "unlisted.png": picture(9)})
    batch = batch_of(path)
    assert batch.table.column_names == ["image", "file", "label", "annotator"]
    assert batch.table["label"].to_pylist() == ["cat", "dog"] and values(batch) == [1, 2]
    assert reasons(batch) == {"x/3.png": "no such file"} and batch.rejected[0].row == 3


def test_a_table_in_the_one_folder_of_an_archive_is_found(tmp_path: Path) -> None:
    table = b"file;label\r\nx\\1.png;cat\r\n2.png;dog\r\n"
    path = archive(tmp_path / "set.zip", {"data/labels.csv": table, "data/x/1.png": picture(1), "data/2.png": picture(2)})
    batch = batch_of(path)
    assert batch.table["label"].to_pylist() == ["cat", "dog"] and values(batch) == [1, 2]
    assert batch.table["file"].to_pylist() == ["x\\1.png", "2.png"]


def test_lines_of_a_table_that_cannot_be_read_are_set_aside(tmp_path: Path) -> None:
    long = f"{'x' * 300}.png"
    csv = f"file_name,label\n1.png,cat\n2.png,dog,more\n{long},cat\n"
    batch = batch_of(write_files(tmp_path / "one", {"metadata.csv": csv.encode(), "1.png": picture(1), "2.png": picture(2)}))
    assert values(batch) == [1] and batch.rows.to_pylist() == [1]
    assert reasons(batch) == {"2.png,dog,more": "wrong number of fields", long: "file cannot be read"}
    jsonl = b'{"file_name": "1.png", "label": "cat"}\n{"file_name": \n'
    batch = batch_of(write_files(tmp_path / "other", {"metadata.jsonl": jsonl, "1.png": picture(1)}))
    assert values(batch) == [1] and reasons(batch) == {'{"file_name": ': "not valid JSON"}


def test_a_table_without_files_is_refused(tmp_path: Path) -> None:
    path = write_files(tmp_path / "set", {"labels.csv": b"picture,label\n1.png,a\n", "1.png": picture()})
    with pytest.raises(
        InputError, match=r"set/labels.csv names no files: it has no column file_name or file .*its columns are picture, label"
    ):
        batch_of(path)


@pytest.mark.parametrize("archived", [False, True])
def test_names_in_a_table_that_lead_outside_are_set_aside(tmp_path: Path, archived: bool) -> None:
    write_files(tmp_path, {"secret.png": picture(7)})
    names = ["../secret.png", str(tmp_path / "secret.png"), "x/../../secret.png", "C:\\secret.png", "..\\secret.png", "in.png"]
    table = "file_name,label\n" + "".join(f"{name},a\n" for name in names)
    files = {"metadata.csv": table.encode(), "in.png": picture(1)}
    path = archive(tmp_path / "set.zip", files) if archived else write_files(tmp_path / "set", files)
    batch = batch_of(path)
    assert values(batch) == [1]
    assert reasons(batch) == dict.fromkeys(names[:-1], "file outside the folder")


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = write_files(tmp_path / "outside", {"secret.png": picture(7), "more/deep.png": picture(8)})
    path = write_files(tmp_path / "set", {"cats/a.png": picture(1)})
    (path / "cats" / "link.png").symlink_to(outside / "secret.png")
    (path / "cats" / "inside.png").symlink_to(path / "cats" / "a.png")
    (path / "dogs").symlink_to(outside, target_is_directory=True)
    batch = batch_of(path)
    assert values(batch) == [1, 1]
    assert reasons(batch)["cats/link.png"] == "file outside the folder"
    assert not any("deep" in record for record in reasons(batch))


def test_names_in_an_archive_that_lead_outside_are_set_aside(tmp_path: Path) -> None:
    files = {"a/../../evil.png": picture(), "/etc/evil.png": picture(), "b/..\\..\\evil.png": picture(), "a/good.png": picture(5)}
    path = archive(tmp_path / "set.zip", files)
    batch = batch_of(path)
    assert values(batch) == [5]
    assert set(reasons(batch).values()) == {"file outside the folder"} and len(batch.rejected) == 3
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["set.zip"]


def test_an_entry_that_unpacks_beyond_the_bound_is_set_aside(tmp_path: Path) -> None:
    path = archive(tmp_path / "set.zip", {"a/bomb.png": bytes(60_000_000), "a/good.png": picture(5)})
    assert path.stat().st_size < 200_000
    batch = batch_of(path)
    assert reasons(batch) == {"a/bomb.png": "image too large"} and values(batch) == [5]


def test_an_archive_of_many_files_that_grow_is_not_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "set.zip", {f"a/{number}.png": bytes(49_000_000) for number in range(3)})
    with pytest.raises(
        InputError, match=r"set\.zip has [\d,]+ bytes and would unpack to 147,000,000, far more than an archive of images can"
    ):
        batch_of(path)


def test_damaged_archives_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "set.zip", {"a/good.png": picture(5)})
    path.write_bytes(path.read_bytes().replace(b"PK\x01\x02", b"PK\x01\x00"))
    with pytest.raises(InputError, match=r"set\.zip is not a ZIP archive that can be read \(Bad magic number for central directory\)"):
        batch_of(path)
    archive(path, {"nameless.png": b"x", "a/good.png": picture(5)})
    path.write_bytes(path.read_bytes().replace(b"nameless", b"\0ameless"))
    assert values(batch_of(path)) == [5]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as file:
        file.writestr("a/bad.png", picture(1))
        file.writestr("a/good.png", picture(5))
    content = path.read_bytes()
    path.write_bytes(content[:60] + bytes(20) + content[80:])
    batch = batch_of(path)
    assert values(batch) == [5] and reasons(batch) == {"a/bad.png": "image cut short or damaged"}


def test_bad_files_are_set_aside_with_their_reasons(tmp_path: Path) -> None:
    photo = io.BytesIO()
    Image.fromarray(RNG.integers(0, 255, (64, 64, 3), dtype=np.uint8)).save(photo, "JPEG")
    files = {f"{label}/{number}.png": picture(number + 9 * (label == "a")) for label in "ab" for number in range(20)}
    files |= {"a/cut.jpg": photo.getvalue()[:900], "a/page.png": b"<html>", "b/empty.png": b"", "loose.png": picture(200)}
    found = run_ingest(tmp_path, source="files", train=[str(write_files(tmp_path / "set", files))], image="image", quarantine_limit=0.2)
    aside = {row["record"].strip('"'): (row["reason"], row["row"]) for row in found.rows("quarantine")}
    assert aside["a/cut.jpg"] == ("image cut short or damaged", 21)
    assert aside["a/page.png"] == ("not an image", 22) and aside["b/empty.png"][0] == "not an image"
    loose = [row for row in found.rows("quarantine") if row["reason"] == "no label"]
    assert len(loose) == 1 and '"image": "' in loose[0]["record"] and "bytes" in loose[0]["record"]
    assert len(found.table("train")) == 40 and found.validation["passed"]
    assert {check["check"] for check in found.validation["sets"][0]["checks"]} >= {
        "`image` shows something",
        "equal images have equal labels",
    }
    failed = {check["check"] for check in found.validation["sets"][0]["checks"] if not check["passed"]}
    assert "`image` shows something" in failed


def test_uids_follow_from_the_image_and_its_label(tmp_path: Path) -> None:
    noise = RNG.integers(0, 255, (6, 9, 9), dtype=np.uint8)
    pngs = [png_of(image, 99) for image in noise]
    one = write_files(tmp_path / "one", {f"{'ab'[place % 2]}/{place}.png": png for place, png in enumerate(pngs)})
    other = write_files(tmp_path / "other", {f"{'ab'[place % 2]}/z{9 - place}.png": png for place, png in enumerate(pngs)})
    write_files(other, {"b/again.png": pngs[0]})
    first, second = (
        run_ingest(tmp_path / f"out-{path.name}", source="files", train=[str(path)], image="image", min_class_count=1)
        for path in (one, other)
    )
    uids = {row["uid"] for row in first.rows("train")}
    assert len(uids) == 6 and uids < {row["uid"] for row in second.rows("train")}
    [contradicting] = [check for check in second.validation["sets"][0]["checks"] if check["check"] == "equal images have equal labels"]
    assert not contradicting["passed"] and contradicting["unexpected"] == 2


def test_texts_are_not_read_as_images_nor_images_as_texts(tmp_path: Path) -> None:
    csv = tmp_path / "rows.csv"
    csv.write_text("image,label\nhello,a\nthere,b\n")
    with pytest.raises(InputError, match=r"column `image` of rows.csv holds no images; name a folder of images, an NPZ archive"):
        run_ingest(tmp_path, source="files", train=[str(csv)], image="image")
    path = write_files(tmp_path / "set", CLASSES)
    with pytest.raises(InputError, match="column `image` of set holds images, expected one text or label per row"):
        run_ingest(tmp_path, source="files", train=[str(path)], text="image")


def npz(path: Path, **members: np.ndarray) -> Path:
    np.savez_compressed(path, **members)
    return path


def test_arrays_of_an_archive_are_images_and_texts(tmp_path: Path) -> None:
    images = RNG.integers(0, 255, (1_203, 4, 5, 3), dtype=np.uint8)
    path = npz(tmp_path / "set.npz", image=images, label=np.arange(1_203) % 3, who=np.array(["ann", "bob", "cid"] * 401))
    assert format_of(str(path)) == "arrays"
    batch = batch_of(path)
    assert batch.rows.to_pylist() == list(range(1, 1_204)) and batch.rejected == ()
    assert batch.table["label"].to_pylist()[:4] == ["0", "1", "2", "0"] and batch.table["who"].to_pylist()[1] == "bob"
    assert np.array_equal(np.asarray(open_png(batch.table["image"][1_202].as_py())), images[1_202])


def test_rows_of_an_archive_that_are_no_images_are_set_aside(tmp_path: Path) -> None:
    images = np.zeros((3, 4, 4))
    images[1] = 7.5
    batch = batch_of(npz(tmp_path / "set.npz", image=images, label=np.array([5, 6, 7])))
    assert batch.rows.to_pylist() == [1, 3] and batch.table["label"].to_pylist() == ["5", "7"]
    assert [(row.row, row.reason, row.record) for row in batch.rejected] == [(2, "pixel values out of range", "label: 6")]


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("code in the archive was run",))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"image": np.zeros((2, 4, 4), np.uint8), "label": np.array([Evil(), 1], object)}, "array `label` of set.npz holds Python objects"),
        ({"image": np.zeros((2, 4, 4), np.uint8), "label": np.zeros(3)}, "have different numbers of rows: image 2, label 3"),
        ({"data": np.zeros((2, 16)), "label": np.zeros(2)}, r"holds the arrays data \(2, 16\), label \(2,\); expected images of shape"),
        ({"label": np.zeros(2)}, "expected images of shape"),
        ({"image": np.asfortranarray(np.zeros((2, 4, 4), np.uint8)), "label": np.zeros(2)}, "is stored by columns"),
        ({"image": np.zeros((2, 4, 4), np.uint8), "label": np.zeros(2, complex)}, "array `label` of set.npz holds complex128"),
    ],
)
def test_archives_that_are_refused(tmp_path: Path, members: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(InputError, match=message):
        batch_of(npz(tmp_path / "set.npz", **members))


def header(shape: str, kind: str = "|u1") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header("(99999999999, 4, 4)"), "claims the shape"),
        (header("(2, 99999999, 99999999)"), "claims the shape"),
        (header("(2, -4, 4)"), "claims the shape"),
        (header("(2, 4, 4)") + bytes(8), "is not an NPZ archive that can be read"),
        (header("(2, __import__('os'), 4)"), "is not an NPZ archive that can be read"),
        (b"\x93NUMPY\x09\x00", "is in a format that is not known here|is not an NPZ archive"),
        (b"hello", "is not an NPZ archive that can be read"),
    ],
)
def test_arrays_that_claim_too_much_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        batch_of(archive(tmp_path / "set.npz", {"image.npy": content}))


def test_a_cut_archive_and_a_file_of_another_format_are_refused(tmp_path: Path) -> None:
    path = npz(tmp_path / "set.npz", image=np.zeros((50, 4, 4), np.uint8), label=np.zeros(50))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match=r"set.npz is not an NPZ archive that can be read"):
        batch_of(path)
    path.write_bytes(bytes(200))
    with pytest.raises(InputError, match=r"set.npz is neither an NPZ archive nor a Parquet file"):
        batch_of(path)


def test_parquet_columns_of_arrays_bytes_and_structs_are_images(tmp_path: Path) -> None:
    grey = RNG.integers(0, 255, (3, 4, 5))
    structs = pa.array([{"bytes": png_of(image.astype(np.uint8), 99), "path": None} for image in grey])
    columns = {
        "nested": pa.array(grey.tolist(), pa.list_(pa.list_(pa.int64()))),
        "struct": structs,
        "bytes": pa.array([row["bytes"] for row in structs.to_pylist()]),
        "flat": pa.array(RNG.integers(0, 255, (3, 16)).tolist(), pa.list_(pa.int32(), 16)),
    }
    path = tmp_path / "set.parquet"
    pq.write_table(pa.table({**columns, "label": ["a", "b", "a"], "votes": [["a"], ["b", "a"], None]}), path)
    batch = batch_of(path)
    for name in ("nested", "struct", "bytes"):
        assert np.array_equal(np.asarray(open_png(batch.table[name][2].as_py())), grey[2]), name
    assert open_png(batch.table["flat"][0].as_py()).size == (4, 4)
    assert batch.table["votes"].to_pylist() == [["a"], ["b", "a"], None]


def test_columns_that_only_look_like_images_are_left_out(tmp_path: Path) -> None:
    grey = RNG.integers(0, 255, (24, 5, 5))
    structs = [{"bytes": png_of(image.astype(np.uint8), 99), "path": None} for image in grey]
    columns = {
        "photo": structs,
        "label": ["a", "b"] * 12,
        "votes": [["1", "2"]] * 24,
        "box": [[0.5] * 5] * 24,
        "depth": (grey * 9).tolist(),
    }
    path = tmp_path / "set.parquet"
    pq.write_table(pa.table({**columns, "digest": pa.array([b"x"] * 24)}), path)
    found = run_ingest(tmp_path, source="files", train=[str(path)], image="photo", min_class_count=1)
    assert len(found.table("train")) == 24
    batch = batch_of(path, image_columns=("image", "photo"))
    assert batch.table.column_names == ["photo", "label", "votes", "box"] and batch.table["box"][0].as_py() == ["0.5"] * 5
    archived = npz(tmp_path / "set.npz", photo=grey.astype(np.uint8), depth=grey * 9.0, label=np.arange(24))
    assert batch_of(archived, image_columns=("photo",)).table.column_names == ["photo", "label"]


def test_parquet_cells_that_are_no_images_are_set_aside(tmp_path: Path) -> None:
    cells = [[[1, 2], [3]], None, [[1, 999]], [[1, 2], [3, 4]], []]
    path = tmp_path / "set.parquet"
    pq.write_table(pa.table({"image": pa.array(cells, pa.list_(pa.list_(pa.int64()))), "label": list("abcde")}), path)
    batch = batch_of(path)
    assert batch.rows.to_pylist() == [4]
    assert [row.reason for row in batch.rejected] == ["not an image", "no image", "pixel values out of range", "not an image"]
    pq.write_table(pa.table({"text": ["a"], "label": ["b"]}), path)
    with pytest.raises(InputError, match=r"set.parquet has no column of arrays or image files; its columns are text \(string\)"):
        batch_of(path)


def test_a_picture_does_not_make_a_data_sets_folder_one_of_images(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["a", "b"], "label": ["x", "y"]}), tmp_path / "train.parquet")
    write_files(tmp_path, {"assets/figure.png": picture()})
    assert format_of(str(tmp_path)) == "huggingface"
    assert read(Source(str(tmp_path), "set")).table["text"].to_pylist() == ["a", "b"]


def test_damaged_parquet_of_images_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "set.parquet"
    structs = [{"bytes": picture(), "path": "somewhere"}] * 3
    pq.write_table(pa.table({"picture": structs, "label": list("aba")}), path, compression="none", use_dictionary=False)
    whole = path.read_bytes()
    for name in (b"somewhere", b"picture"):
        path.write_bytes(whole.replace(name, b"\xff" * len(name)))
        with pytest.raises(InputError, match=r"set\.parquet is (damaged|not a Parquet file that can be read)"):
            batch_of(path)


def test_a_hugging_face_folder_of_images_is_read(tmp_path: Path) -> None:
    from datasets import ClassLabel, Dataset, Features, Image, Value

    rows = {"image": [{"bytes": picture(shade), "path": None} for shade in (1, 2, 3)], "label": [0, 1, 0], "note": ["a", "b", "c"]}
    kinds = Features({"image": Image(), "label": ClassLabel(names=["cat", "dog"]), "note": Value("string")})
    Dataset.from_dict(rows, features=kinds).save_to_disk(str(tmp_path / "saved"))
    batch = batch_of(tmp_path / "saved")
    assert values(batch) == [1, 2, 3] and batch.table["label"].to_pylist() == ["cat", "dog", "cat"]
    (tmp_path / "shards").mkdir()
    for number in range(2):
        Dataset.from_dict(rows, features=kinds).to_parquet(str(tmp_path / f"shards/train-0000{number}-of-00002.parquet"))
    batch = batch_of(tmp_path / "shards")
    assert values(batch) == [1, 2, 3] * 2 and batch.rows.to_pylist() == [1, 2, 3, 4, 5, 6]
    assert batch.table["label"].to_pylist() == ["cat", "dog", "cat"] * 2

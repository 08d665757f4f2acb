"""What every reader must do, over whatever ``READERS`` lists."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.errors import InputError
from cartograph.read.formats import READERS, format_of, read
from cartograph.read.source import Source

TEXTS = ["plain words", 'a "quoted" word, and a comma', "naïve café – 日本語", "  spaces kept  inside ", "<script>alert(1)</script>"]

Maker = Callable[[Path, list[str], list[str]], Source]


def _csv(folder: Path, labels: list[str], texts: list[str]) -> Source:
    path = folder / "data.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("label", "text"), *zip(labels, texts, strict=True)])
    return Source(str(path), path.name)


def _lines_of(folder: Path, name: str, lines: list[str]) -> str:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def _tsv(folder: Path, labels: list[str], texts: list[str]) -> Source:
    return Source(_lines_of(folder, "data.tsv", ["label\ttext", *map("\t".join, zip(labels, texts, strict=True))]), "data.tsv")


def _jsonl(folder: Path, labels: list[str], texts: list[str]) -> Source:
    rows = [json.dumps({"label": label, "text": text}) for label, text in zip(labels, texts, strict=True)]
    return Source(_lines_of(folder, "data.jsonl", rows), "data.jsonl")


def _table(labels: list[str], texts: list[str]) -> pa.Table:
    return pa.table({"label": labels, "text": texts})


def _parquet(folder: Path, labels: list[str], texts: list[str]) -> Source:
    path = folder / "data.parquet"
    pq.write_table(_table(labels, texts), path)
    return Source(str(path), path.name)


def _label_first(folder: Path, labels: list[str], texts: list[str]) -> Source:
    rows = [f"{label} {text}" for label, text in zip(labels, texts, strict=True)]
    return Source(_lines_of(folder, "data.txt", rows), "data.txt", format="label-first")


def _lines(folder: Path, labels: list[str], texts: list[str]) -> Source:
    paths = f"label={_lines_of(folder, 'labels.dev', labels)},text={_lines_of(folder, 'texts.dev', texts)}"
    return Source(paths, "labels.dev+texts.dev")


def _excel(folder: Path, labels: list[str], texts: list[str]) -> Source:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in (("label", "text"), *zip(labels, texts, strict=True)):
        sheet.append(row)
    book.save(folder / "data.xlsx")
    return Source(str(folder / "data.xlsx"), "data.xlsx")


def _shards(folder: Path, labels: list[str], texts: list[str]) -> Source:
    half = (len(labels) + 1) // 2
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        for number, part in enumerate((slice(0, half), slice(half, None))):
            if labels[part]:
                rows = [json.dumps({"label": label, "text": text}) + "\n" for label, text in zip(labels[part], texts[part], strict=True)]
                archive.writestr(f"part-{number}.jsonl", "".join(rows))
    return Source(str(folder / "data.zip"), "data.zip")


def _huggingface(folder: Path, labels: list[str], texts: list[str]) -> Source:
    from datasets import Dataset

    Dataset.from_dict({"label": labels, "text": texts}).save_to_disk(str(folder / "saved"))
    return Source(str(folder / "saved"), "saved")


def _hub(folder: Path, labels: list[str], texts: list[str]) -> Source:
    shards = folder / "repository"
    shards.mkdir()
    pq.write_table(_table(labels, texts), shards / "train.parquet")
    return Source(f"hub:{shards}:train", "repository")


MAKERS: dict[str, Maker] = {
    "csv": _csv,
    "tsv": _tsv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "label-first": _label_first,
    "lines": _lines,
    "excel": _excel,
    "shards": _shards,
    "huggingface": _huggingface,
    "hub": _hub,
}


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def test_every_reader_has_a_sample() -> None:
    assert MAKERS.keys() == READERS.keys()


@pytest.mark.parametrize("name", READERS)
def test_a_reader_gives_back_what_was_written(name: str, tmp_path: Path) -> None:
    texts = [text.strip() for text in TEXTS] if name == "label-first" else TEXTS
    labels = ["good", "bad", "good", "bad", "good"]
    batch = read(MAKERS[name](tmp_path, labels, texts))
    assert batch.table.to_pydict() == {"label": labels, "text": texts}
    assert batch.rows.to_pylist() == [1, 2, 3, 4, 5]
    assert batch.rejected == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_rows_beyond_one_batch_keep_order_and_number(name: str, tmp_path: Path) -> None:
    count = 50_003
    source = MAKERS[name](tmp_path, ["x"] * count, [f"text {index}" for index in range(count)])
    batch = read(source)
    assert batch.rows.to_pylist() == list(range(1, count + 1))
    assert batch.table["text"].to_pylist() == [f"text {index}" for index in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_yields_more_than_one_batch_for_many_rows(name: str, tmp_path: Path) -> None:
    source = MAKERS[name](tmp_path, ["x"] * 50_003, ["text"] * 50_003)
    assert sum(1 for _ in READERS[name](source)) > 1


@pytest.mark.parametrize("name", [name for name in READERS if name != "label-first"])
def test_format_is_guessed(name: str, tmp_path: Path) -> None:
    source = MAKERS[name](tmp_path, ["good"], ["text"])
    assert format_of(source.path) == name


@pytest.mark.parametrize("name", [name for name in READERS if name != "hub"])
def test_missing_source_is_named(name: str, tmp_path: Path) -> None:
    path = f"label={tmp_path}/no.txt,text={tmp_path}/no.txt" if name == "lines" else f"{tmp_path}/no.txt"
    with pytest.raises(InputError, match=r"no\.txt does not exist; correct the path"):
        read(Source(path, "no.txt", format=name))


@pytest.mark.parametrize("name", [name for name in READERS if name not in ("hub", "huggingface", "lines")])
def test_empty_file_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match=r"empty is empty\."):
        read(Source(str(tmp_path / "empty"), "empty", format=name))

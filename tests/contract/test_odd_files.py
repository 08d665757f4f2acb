"""Files as they come: each is read right, or refused with the option that solves it."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from cartograph.errors import InputError
from cartograph.read.formats import read
from cartograph.read.source import Source
from tasks.commands.init import init

COUNT = 40
TEXTS = [f"the café number {number} was {'dull' if number % 2 else 'great'}" for number in range(COUNT)]
LABELS = ["bad" if number % 2 else "good" for number in range(COUNT)]
ROWS = list(zip(TEXTS, LABELS, strict=True))
CSV = "text,label\n" + "".join(f"{text},{label}\n" for text, label in ROWS)
OBJECTS = [{"text": text, "label": label} for text, label in ROWS]


def text_file(name: str, content: str | bytes) -> Callable[[Path], str]:
    def write(folder: Path) -> str:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return str(folder / name)

    return write


def workbook(*sheets: tuple[str, list[tuple[Any, ...]]]) -> Callable[[Path], str]:
    def write(folder: Path) -> str:
        from openpyxl import Workbook

        book = Workbook()
        book.remove(book.worksheets[0])
        for title, rows in sheets:
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        book.save(folder / "rows.xlsx")
        return str(folder / "rows.xlsx")

    return write


def archive(**files: str) -> Callable[[Path], str]:
    def write(folder: Path) -> str:
        with zipfile.ZipFile(folder / "rows.zip", "w") as packed:
            for name, content in files.items():
                packed.writestr(name, content)
        return str(folder / "rows.zip")

    return write


def zstandard(folder: Path) -> str:
    with pa.output_stream(str(folder / "rows.csv.zst"), compression="zstd") as file:
        file.write(CSV.encode())
    return str(folder / "rows.csv.zst")


def many(folder: Path) -> str:
    half = COUNT // 2
    for number, part in enumerate((ROWS[:half], ROWS[half:])):
        text_file(f"part-{number}.csv", "text,label\n" + "".join(f"{text},{label}\n" for text, label in part))(folder)
    return str(folder / "part-*.csv")


def folder_of_shards(folder: Path) -> str:
    return str(Path(many(folder)).parent)


def parquet(folder: Path) -> str:
    pq.write_table(pa.table({"text": TEXTS, "label": LABELS}), folder / "rows.parquet")
    return str(folder / "rows.parquet")


def quoted(*columns: list[str]) -> str:
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in zip(*columns, strict=True))


NUMBERS = [str(1 + (label == "good")) for label in LABELS]
TITLES = [f"title {number}" for number in range(COUNT)]
VOTES = [("good", "bad", label) for label in LABELS]

READ: dict[str, tuple[Callable[[Path], str], dict[str, Any]]] = {
    "a header": (text_file("rows.csv", CSV), {}),
    "no header": (text_file("rows.csv", CSV.partition("\n")[2]), {"columns": "text,label"}),
    "class first, in the style of AG News": (text_file("rows.csv", quoted(LABELS, TITLES, TEXTS)), {"columns": "label,,text"}),
    "tabs, ids in columns 2 and 3": (
        text_file("rows.tsv", "".join(f"{label}\ti{at}\tu{at}\t{text}\n" for at, (text, label) in enumerate(ROWS))),
        {"columns": "label,,,text"},
    ),
    "Windows's ends of lines and semicolons": (text_file("rows.csv", CSV.replace(",", ";").replace("\n", "\r\n")), {}),
    "cp1252": (text_file("rows.csv", CSV.encode("cp1252")), {}),
    "utf-16 with a mark": (text_file("rows.csv", CSV.encode("utf-16")), {}),
    "utf-16 without a mark": (text_file("rows.csv", CSV.encode("utf-16-le")), {}),
    "a broken line": (text_file("rows.csv", CSV.encode() + b"caf\xe9,good\n"), {}),
    "a broken line of JSON": (
        text_file("rows.jsonl", "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in OBJECTS).encode() + b'{"text": "caf\xe9"}\n'),
        {},
    ),
    "one array of JSON": (text_file("rows.json", json.dumps(OBJECTS)), {}),
    "an object around an array": (text_file("rows.json", json.dumps({"version": 2, "data": OBJECTS}, indent=1)), {}),
    "an object around an array, on one line": (text_file("rows.json", json.dumps({"version": 2, "data": OBJECTS})), {}),
    "nested JSON": (
        text_file("rows.jsonl", "".join(json.dumps({"message": {"body": text}, "label": label}) + "\n" for text, label in ROWS)),
        {"text": ["message.body"]},
    ),
    "lists in JSON": (
        text_file("rows.json", json.dumps([{"text": text, "marks": [{"choices": [label]}]} for text, label in ROWS])),
        {"label": "marks.0.choices.0"},
    ),
    "gzip": (text_file("rows.csv.gz", gzip.compress(CSV.encode())), {}),
    "bzip2": (text_file("rows.csv.bz2", bz2.compress(CSV.encode())), {}),
    "xz": (text_file("rows.csv.xz", lzma.compress(CSV.encode())), {}),
    "zstandard": (zstandard, {}),
    "zip": (archive(**{"rows.csv": CSV, "__MACOSX/._rows.csv": "x", "README.txt": "y"}), {}),
    "a pattern": (many, {}),
    "a folder of shards": (folder_of_shards, {}),
    "Parquet": (parquet, {}),
    "Excel": (workbook(("rows", [("text", "label"), *ROWS])), {}),
    "Excel without a header": (workbook(("rows", list(ROWS))), {"columns": "text,label"}),
    "several labels, one chosen": (
        text_file("rows.csv", "text,mine,label\n" + "".join(f"{text},x,{label}\n" for text, label in ROWS)),
        {"label": "label"},
    ),
    "several labels, their majority": (
        text_file("rows.csv", "text,a,b,c\n" + "".join(f"{text},{','.join(votes)}\n" for text, votes in zip(TEXTS, VOTES, strict=True))),
        {"label": "a+b+c"},
    ),
}


@pytest.mark.parametrize("name", READ)
def test_an_odd_file_is_read_right(name: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write, options = READ[name]
    (tmp_path / "given").mkdir()
    init("workspaces/odd", [write(tmp_path / "given")], **options)
    said = capsys.readouterr().out
    assert f"classes  bad {COUNT // 2}, good {COUNT // 2}" in said
    assert f"good: {TEXTS[0]}" in said
    assert ("not in the file's encoding" in said) == ("broken" in name)


def test_a_sheet_of_a_workbook_is_chosen_and_numbers_are_text(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = workbook(("notes", [("x",)]), ("rows", [("text", "label"), *((text, 1.0 if label == "good" else 2) for text, label in ROWS)]))
    init("workspaces/odd", [f"{book(tmp_path)}:rows"])
    assert f"classes  1 {COUNT // 2}, 2 {COUNT // 2}" in capsys.readouterr().out


@pytest.mark.parametrize("names", ["bad\ngood\n", "1,bad\n2,good\n", "1 bad\n2 good\n", '{"1": "bad", "2": "good"}', '["bad", "good"]'])
def test_labels_that_are_numbers_get_their_names(names: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = text_file("rows.csv", quoted(NUMBERS, TEXTS))(tmp_path)
    init("workspaces/odd", [given], columns="label,text", label_names=text_file("classes.txt", names)(tmp_path))
    assert f"classes  bad {COUNT // 2}, good {COUNT // 2}" in capsys.readouterr().out
    params = yaml.safe_load((project / "workspaces" / "odd" / "params.yaml").read_text(encoding="utf-8"))
    assert params["ingest"]["label_names"] == {"1": "bad", "2": "good"}
    assert params["ingest"]["labels"] == ["bad", "good"]


def test_names_in_order_are_refused_where_the_first_label_is_unknown(project: Path, tmp_path: Path) -> None:
    given = text_file("rows.csv", quoted(NUMBERS, TEXTS))(tmp_path)
    with pytest.raises(InputError, match=r"names 3 labels in order; the data have `1`, `2`: the first name may be of `0` or of `1`"):
        init("workspaces/odd", [given], columns="label,text", label_names=text_file("classes.txt", "bad\ngood\nfine\n")(tmp_path))


REFUSED: dict[str, tuple[Callable[[Path], str], dict[str, Any], str]] = {
    "no header": (text_file("rows.csv", CSV.partition("\n")[2]), {}, r"its first line looks like data .*`--columns text,label` in `init`"),
    "class first": (text_file("rows.csv", quoted(LABELS, TITLES, TEXTS)), {}, r"`--columns label,,text` in `init`"),
    "too few names": (
        text_file("rows.csv", quoted(LABELS, TITLES, TEXTS)),
        {"columns": "label,text"},
        "3 fields, `columns` names 2; give",
    ),
    "names and a header": (text_file("rows.csv", CSV), {"columns": "text,label"}, "in its first line; leave `columns` out"),
    "a header whose names are others": (text_file("rows.csv", CSV.replace("text,", "Body,")), {}, "its columns are Body, label"),
    "cp1251": (
        text_file(
            "rows.csv",
            "text,label\n" + "фильм очень хороший,good\n" * 40,
        ),
        {"encoding": "ascii"},
        "is not ascii text",
    ),
    "an object without records": (text_file("rows.json", json.dumps({"a": {"text": "x"}}, indent=1)), {}, "as one object per line"),
    "files of several kinds": (archive(**{"a.csv": CSV, "b.jsonl": "{}"}), {}, r"several kinds \(\.csv, \.jsonl\)"),
    "no such sheet": (workbook(("rows", [("text", "label"), *ROWS])), {}, "no sheet `other`; it has rows"),
    "an archive cut short": (text_file("rows.zip", b"PK\x03\x04 and no more"), {}, "ZIP"),
    "an old workbook": (text_file("rows.xlsx", b"\xd0\xcf\x11\xe0 old"), {}, r"save it again as \.xlsx"),
    "a pattern that is not one": (lambda folder: str(folder / "part**.csv"), {}, "is no pattern of files|no file fits"),
    "a pattern of folders": (lambda folder: str((folder / "in.csv").mkdir() or folder / "*.csv"), {}, "no file fits"),
    "a pattern in a home that is not there": (lambda folder: "~nouser/*.csv", {}, "home of a user who is not there"),
    "a pattern that fits nothing": (lambda folder: str(folder / "none-*.csv"), {}, "no file fits"),
    "a list as a label": (
        text_file("rows.json", json.dumps([{"text": text, "label": [label]} for text, label in ROWS])),
        {},
        r"holds lists.*`label\.0`",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_what_solves_it(name: str, project: Path, tmp_path: Path) -> None:
    write, options, message = REFUSED[name]
    given = write(tmp_path) + (":other" if name == "no such sheet" else "")
    with pytest.raises(InputError, match=message):
        init("workspaces/odd", [given], **options)
    assert not (project / "workspaces" / "odd").exists()


def test_the_header_of_orange_says_what_columns_hold(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{20 + at % 30}\t{at % 3}\tperson {at % 7}\t{at % 5}\t{label}\n" for at, label in enumerate(LABELS))
    header = "age\tdegree\tname\told label\tis good\ncontinuous\t0 1 2\tstring\td\tdiscrete\n\t\tmeta\tclass\tclass\n"
    given = text_file("rows.tab", header + rows)(tmp_path)
    init("workspaces/odd", [given], features=True, label="is good")
    said = capsys.readouterr().out
    assert f"classes  bad {COUNT // 2}, good {COUNT // 2}" in said
    assert "age  numbers, 20 to 49" in said and "degree  3 categories" in said
    assert "left out  name, old label" in said
    with pytest.raises(InputError, match="has no column `label`; its header says that `old label` is the class: use `--label 'old label'`"):
        init("workspaces/other", [given], features=True)


def test_a_record_that_spans_lines_is_numbered_as_before(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), ("one\ntwo é", "x"), ("three é", "y")])
    path.write_bytes(path.read_bytes() + b"\xe9,z\nlast,x\n")
    batch = read(Source(str(path), "rows.csv"))
    assert batch.rows.to_pylist() == [1, 2, 4]
    assert [(record.row, record.reason, record.detail, record.record) for record in batch.rejected] == [
        (3, "not in the file's encoding", "0xe9 is not UTF-8", "\\xe9,z")
    ]

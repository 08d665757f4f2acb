"""What divides rows beside their labels: columns, files, and the order of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.errors import InputError
from cartograph.ingest.strata import labellers_of
from cartograph.schema import dataset_info
from tests.ingesting import run_ingest, write_csv


def strata(folder: Path, header: str, lines: list[str], *more: list[str], **params: Any) -> pa.Table:
    paths = [write_csv(folder / f"part{number}.csv", header, *rows) for number, rows in enumerate((lines, *more))]
    columns = {"text": "text", "min_class_count": 1, "quarantine_limit": 0.2} | params
    return run_ingest(folder, source="files", train=paths, **columns).table("strata")


def rows(number: int, *beside: list[str]) -> list[str]:
    return [",".join([f"text number {row}", "ab"[row % 2], *(column[row] for column in beside)]) for row in range(number)]


def test_a_column_of_few_values_a_file_and_the_order_of_rows_are_strata_and_texts_and_identifiers_are_not(tmp_path: Path) -> None:
    who, key = ["ann", "bo", " "] * 40, [f"k{row}" for row in range(120)]
    found = strata(tmp_path, "text,label,who,key", rows(120, who, key))
    assert found.column_names == ["uid", "column label", "column who", "order"]
    assert found["column who"].to_pylist() == ["ann", "bo", None] * 40
    assert found["order"].to_pylist() == [f"{12 * part + 1} to {12 * part + 12}" for part in range(10) for _ in range(12)]
    two = strata(tmp_path, "text,label,who,key", rows(60, who, key), rows(120, who, key)[60:])
    assert two.column_names == ["uid", "column label", "column who", "file"]
    assert two["file"].to_pylist() == ["part0.csv"] * 60 + ["part1.csv"] * 60


def test_numbers_and_dates_of_many_values_are_divided_in_tenths_and_equal_ones_are_not_parted(tmp_path: Path) -> None:
    score = [str(row * 10) for row in range(119)] + ["n/a"]
    day = [f"2024-{1 + row // 28:02}-{1 + row % 28:02}" for row in reversed(range(120))]
    often = ["7"] * 60 + [str(row) for row in range(60)]
    found = strata(tmp_path, "text,label,score,day,often", rows(120, score, day, often))
    parts = found["column score"].to_pylist()
    assert (parts[0], parts[118], parts[119]) == ("0 to 110", "1080 to 1180", None)
    assert found["column day"].to_pylist()[0] == "2024-04-25 to 2024-05-08"
    assert len(set(found["column often"].to_pylist()[:60])) == 1


def test_rows_that_are_set_aside_are_in_no_part(tmp_path: Path) -> None:
    lines = [*rows(60, ["ann"] * 60), ",a,bo", *rows(60, ["bo"] * 60)[30:]]
    found = strata(tmp_path, "text,label,who", [line.replace("text number", f"text {place}") for place, line in enumerate(lines)])
    assert found["column who"].to_pylist() == ["ann"] * 60 + ["bo"] * 30
    assert found.num_rows == 90 and "order" not in found.column_names


def test_of_a_table_of_features_the_categories_are_strata_and_what_is_read_as_numbers_is_not(tmp_path: Path) -> None:
    lines = [f"{row / 7},{'xyz'[row % 3]},{'ab'[row % 2]}" for row in range(120)]
    found = strata(tmp_path, "size,kind,label", lines, text=(), features="all")
    assert found.column_names == ["uid", "column kind", "column label", "order"]


def test_a_column_that_only_one_file_has_parts_the_rows_of_that_file(tmp_path: Path) -> None:
    first = write_csv(tmp_path / "one.csv", "text,label,who", *rows(60, ["ann", "bo"] * 30))
    second = write_csv(tmp_path / "two.csv", "text,label", *[line.replace("number", "of two") for line in rows(60)])
    found = run_ingest(tmp_path, source="files", train=[first, second], text="text").table("strata")
    assert found["column who"].to_pylist() == ["ann", "bo"] * 30 + [None] * 60


def test_who_labelled_is_a_stratum_of_its_own_however_many_they_are(tmp_path: Path) -> None:
    who = [f"worker {row // 2}" if row else "" for row in range(120)]
    found = strata(tmp_path, "text,label,who", rows(120, who), labelled_by="who")
    assert found.column_names == ["uid", "labelled by who", "column label", "order"]
    assert found["labelled by who"].to_pylist() == [None, *who[1:]]
    numbers = labellers_of(found)
    assert numbers is not None and numbers[0] == -1 and len(set(numbers.tolist())) == 61
    assert labellers_of(found.drop_columns("labelled by who")) is None
    with pytest.raises(InputError, match="no column `whom`"):
        strata(tmp_path, "text,label,who", rows(120, who), labelled_by="whom")


def test_of_several_columns_of_labels_it_is_known_how_many_agree(tmp_path: Path) -> None:
    lines = [f"text number {row},{labels}" for row, labels in enumerate(["a,a,a", "a,b,b", " b,,b", "a,,", "b,b, a"] * 10)]
    found = strata(tmp_path, "text,r,s,t", lines, label="r+s+t")
    assert found.column_names == ["uid", "agreeing of r+s+t"]
    assert found["agreeing of r+s+t"].to_pylist() == ["3 of 3", "2 of 3", "2 of 2", "1 of 1", "2 of 3"] * 10
    numbers = labellers_of(found)
    assert numbers is not None and numbers[:5].tolist() == [0, 1, 2, 3, 1]
    # Who labelled says more than how many agree.
    table = strata(tmp_path, "text,r,s,t,who", [f"{line},w{row}" for row, line in enumerate(lines)], label="r+s+t", labelled_by="who")
    assert [name for name in table.column_names if name.startswith("agreeing")] == []


def test_who_labelled_is_no_feature_of_a_table(tmp_path: Path) -> None:
    lines = [f"{row / 7},{'xyz'[row % 3]},{'ab'[row % 2]}" for row in range(120)]
    strata(tmp_path, "size,who,label", lines, text=(), features="all", labelled_by="who")
    info = dataset_info(pq.read_schema(tmp_path / "out/data/ingest/train.parquet"))
    assert [feature.name for feature in info.features] == ["size"]

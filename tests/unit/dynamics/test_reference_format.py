from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from cartograph.dynamics.reference_format import is_reference_folder, read_coordinates, read_reference_dynamics
from cartograph.errors import InputError
from cartograph.schema import COORDINATES


def write_lines(path: Path, records: list[object]) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records), encoding="utf-8")


def reference(folder: Path, *epochs: list[tuple[object, list[float], int]]) -> Path:
    for epoch, rows in enumerate(epochs):
        records = [{"guid": guid, f"logits_epoch_{epoch}": logits, "gold": gold} for guid, logits, gold in rows]
        write_lines(folder / f"dynamics_epoch_{epoch}.jsonl", records)
    return folder


def test_reference_files_are_read_and_aligned(tmp_path: Path) -> None:
    folder = reference(tmp_path, [(12, [1, 2], 0), ("a", [3, 4], 1)], [("a", [7, 8], 1), (12, [5, 6], 0)])
    assert is_reference_folder(folder)
    found = read_reference_dynamics(folder)
    assert found.uids.tolist() == ["12", "a"]
    assert found.gold.tolist() == [0, 1]
    assert found.logits.tolist() == [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]


def test_guids_that_differ_between_epochs_are_named(tmp_path: Path) -> None:
    folder = reference(tmp_path, [(1, [1, 2], 0), (2, [3, 4], 1)], [(2, [7, 8], 1), (3, [5, 6], 0)])
    with pytest.raises(InputError, match=r"epoch 0 lacks 1 uid \('3'\); epoch 1 lacks 1 uid \('1'\); 1 of 3 are in every epoch"):
        read_reference_dynamics(folder)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "is empty; expected one record per training example"),
        (
            [{"guid": 1, "gold": 0}],
            "line 1: expected guid, logits_epoch_0 (a list of numbers) and gold (a label id), but 'logits_epoch_0' is missing",
        ),
        (
            [{"guid": 1.5, "logits_epoch_0": [1, 2], "gold": 0}],
            "line 1: expected guid, logits_epoch_0 (a list of numbers) and gold (a label id), but a guid must be",
        ),
        (
            [{"guid": 1, "logits_epoch_0": [1, 2], "gold": 0}, {"guid": 2, "logits_epoch_0": [1], "gold": 0}],
            "line 2: guid '2' has 1 logits, and line 1 has 2",
        ),
        (["{broken"], "line 1 is not JSON"),
        (["[1, 2]"], "line 1 must hold a JSON object"),
        ([{"guid": 1, "logits_epoch_0": [1, 2], "gold": 0}] * 2, "epoch 0 has 1 uid more than once: '1'"),
    ],
)
def test_an_error_in_a_reference_file_names_its_line(tmp_path: Path, lines: list[object], message: str) -> None:
    write_lines(tmp_path / "dynamics_epoch_0.jsonl", lines)
    with pytest.raises(InputError) as raised:
        read_reference_dynamics(tmp_path)
    assert message in str(raised.value)


def test_a_missing_epoch_is_named(tmp_path: Path) -> None:
    folder = reference(tmp_path, [(1, [1, 2], 0)], [(1, [1, 2], 0)], [(1, [1, 2], 0)])
    (folder / "dynamics_epoch_1.jsonl").unlink()
    with pytest.raises(InputError, match=r"dynamics of epochs 0 and 2 but dynamics_epoch_1\.jsonl is missing"):
        read_reference_dynamics(folder)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".tsv", ".parquet"])
def test_coordinates_come_from_any_table(tmp_path: Path, suffix: str) -> None:
    columns = {"guid": [7, 3], "confidence": [0.5, 0.25], "variability": [0.1, 0.2], "correctness": [6, 3], "index": [0, 1]}
    path = tmp_path / f"map{suffix}"
    if suffix == ".jsonl":
        write_lines(path, [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)])
    elif suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
    else:
        separator = "," if suffix == ".csv" else "\t"
        rows = [columns, *zip(*columns.values(), strict=True)]
        path.write_text("".join(separator.join(map(str, row)) + "\n" for row in rows))
    found = read_coordinates(path)
    assert found.schema == COORDINATES
    assert found.to_pylist() == [
        {"uid": "3", "confidence": 0.25, "variability": 0.2, "correctness": 0.5},
        {"uid": "7", "confidence": 0.5, "variability": 0.1, "correctness": 1.0},
    ]


@pytest.mark.parametrize(
    ("correctness", "epochs", "expected"),
    [
        ([0, 3, 6], None, [0, 0.5, 1]),
        ([0, 3, 6], 12, [0, 0.25, 0.5]),
        ([0, 0.5, 1], None, [0, 0.5, 1]),
        ([0, 0.5, 1], 6, [0, 0.5, 1]),
        ([0, 1, 1], None, [0, 1, 1]),
        ([0, 1, 1], 5, [0, 0.2, 0.2]),
    ],
)
def test_correctness_is_a_count_or_a_fraction(tmp_path: Path, correctness: list[float], epochs: int | None, expected: list[float]) -> None:
    path = tmp_path / "map.parquet"
    pq.write_table(pa.table({"uid": ["a", "b", "c"], "confidence": [0.5] * 3, "variability": [0.1] * 3, "correctness": correctness}), path)
    assert read_coordinates(path, epochs=epochs).column("correctness").to_pylist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("uid,confidence,variability\na,1,0\n", "has no column correctness; its columns are uid, confidence, variability"),
        ("name,confidence,variability,correctness\na,1,0,1\n", "has no column uid or guid"),
        ("uid,confidence,variability,correctness\n", "is empty"),
        ("uid,confidence,variability,correctness\na,1,0,1\na,1,0,1\n", "has 1 uid more than once: 'a'"),
        ("uid,confidence,variability,correctness\na,1.5,0,1\n", "uid 'a' has confidence 1.5, which is not within 0 and 1"),
        ("uid,confidence,variability,correctness\na,,0,1\nb,1,0,1\n", "row 1: column confidence has no number (1 such row)"),
        ("uid,confidence,variability,correctness\na,high,0,1\n", "column confidence must hold numbers"),
        ("uid,confidence,variability,correctness\na,1,0,1,1\n", "cannot be read as .csv"),
    ],
)
def test_an_error_in_coordinates_names_the_fault(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "map.csv"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        read_coordinates(path)
    assert message in str(raised.value)


def test_more_correct_epochs_than_there_were_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "map.csv"
    path.write_text("uid,confidence,variability,correctness\na,1,0,6\n")
    with pytest.raises(InputError, match="correctness up to 6, more than the 5 epochs given"):
        read_coordinates(path, epochs=5)


@pytest.mark.realdata
def test_the_references_own_sample_says_that_its_guids_differ(real_data: Path) -> None:
    with pytest.raises(
        InputError, match=r"no uid is in every epoch: epoch 0 lacks 40 uids \('\d+', '\d+', '\d+', …\); .*; and 2 more epochs"
    ):
        read_reference_dynamics(real_data / "cartography_dynamics_sample")


@pytest.mark.realdata
def test_the_published_map_of_winogrande_has_the_papers_means(real_data: Path) -> None:
    found = read_coordinates(real_data / "winogrande" / "roberta_large_coordinates.jsonl")
    assert found.num_rows == 40_398
    assert pc.mean(found.column("confidence")).as_py() == pytest.approx(0.8974, abs=5e-5)
    assert pc.mean(found.column("variability")).as_py() == pytest.approx(0.1480, abs=5e-5)
    assert sorted(set(np.round(found.column("correctness").to_numpy() * 6, 9))) == [0, 1, 2, 3, 4, 5, 6]

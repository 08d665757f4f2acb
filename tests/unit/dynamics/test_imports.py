from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cartograph.data.parquet import write_parquet
from cartograph.dynamics.epoch_files import dynamics_table, epoch_file
from cartograph.dynamics.imports import read_imported
from cartograph.errors import InputError
from tests.training_sets import info_of, table


def write_epoch(folder: Path, *records: tuple[str, list[float], int]) -> Path:
    uids, logits, gold = zip(*records, strict=True)
    write_parquet(dynamics_table(pa.array(uids), np.array(gold), np.array(logits, np.float32)), epoch_file(folder, 0))
    return folder


def test_dynamics_of_the_data_are_taken_as_they_are(tmp_path: Path) -> None:
    train = table(info_of("single"), {"text": ["x", "y"]}, [1, 0])
    imported = read_imported(write_epoch(tmp_path, ("u0001", [3, 4], 0), ("u0000", [1, 2], 1)), train)
    assert imported.dynamics is not None and imported.classes == ()
    assert imported.dynamics.gold.tolist() == [1, 0]
    assert imported.dynamics.logits.tolist() == [[[1, 2]], [[3, 4]]]
    assert repr(imported) == "ImportedDynamics(Dynamics(2 examples, 1 epoch, 2 classes))"


def test_labels_in_another_order_are_mapped_to_the_datas(tmp_path: Path) -> None:
    train = table(info_of("single"), {"text": ["x", "y"]}, [1, 0])
    imported = read_imported(write_epoch(tmp_path, ("u0000", [1, 2], 0), ("u0001", [3, 4], 1)), train)
    assert imported.dynamics is not None
    assert imported.classes == ("loud", "quiet")
    assert imported.dynamics.gold.tolist() == [1, 0]
    assert imported.dynamics.logits.tolist() == [[[2, 1]], [[4, 3]]]


def test_labels_that_agree_in_no_order_are_refused(tmp_path: Path) -> None:
    train = table(info_of("single"), {"text": ["x", "y", "z"]}, [1, 0, 0])
    folder = write_epoch(tmp_path, ("u0000", [1, 2], 1), ("u0001", [1, 2], 0), ("u0002", [1, 2], 1))
    with pytest.raises(InputError, match=r"uid 'u0002' has gold 1 there and 0 \(quiet\) here \(1 such row\), and no other order"):
        read_imported(folder, train)


def test_another_number_of_classes_is_refused(tmp_path: Path) -> None:
    train = table(info_of("single"), {"text": ["x"]}, [0])
    with pytest.raises(InputError, match=r"has logits of 3 classes, and the data has 2 \(quiet, loud\)"):
        read_imported(write_epoch(tmp_path, ("u0000", [1, 2, 3], 0)), train)


def test_uids_that_do_not_match_are_named_on_both_sides(tmp_path: Path) -> None:
    train = table(info_of("single"), {"text": ["x", "y"]}, [0, 1])
    path = tmp_path / "map.csv"
    path.write_text("uid,confidence,variability,correctness\nu0001,1,0,1\np,1,0,1\nq,1,0,1\n")
    with pytest.raises(
        InputError,
        match=r"2 of 3 uids \('p', 'q'\) have no row in the data, and 1 of 2 uids \('u0000'\) of the data have no dynamics;",
    ):
        read_imported(path, train)


def test_a_folder_without_dynamics_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no training dynamics; expected a folder of epoch=N\.parquet or dynamics_epoch_N\.jsonl"):
        read_imported(tmp_path, table(info_of("single"), {"text": ["x"]}, [0]))

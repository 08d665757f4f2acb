from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.data.parquet import write_parquet
from cartograph.dynamics.epoch_files import dynamics_table, epoch_file, read_dynamics
from cartograph.errors import InputError
from cartograph.frames.recorded import from_dynamics


def write_epoch(folder: Path, epoch: int, uids: list[str], gold: list[int] | None = None, width: int = 2) -> None:
    folder.mkdir(exist_ok=True)
    logits = np.arange(len(uids) * width, dtype=np.float32).reshape(-1, width) + epoch
    write_parquet(dynamics_table(pa.array(uids, pa.string()), np.array(gold or [0] * len(uids)), logits), epoch_file(folder, epoch))


def test_reading_aligns_epochs_by_uid_whatever_the_order_of_rows(tmp_path: Path) -> None:
    pq.write_table(
        dynamics_table(pa.array(["b", "a"]), np.array([1, 0]), np.array([[3, 4], [1, 2]], np.float32)), tmp_path / "epoch=0.parquet"
    )
    plain = pa.table({"gold": pa.array([0, 1], pa.int64()), "uid": ["a", "b"], "logits": pa.array([[5.0, 6.0], [7.0, 8.0]])})
    pq.write_table(plain, tmp_path / "epoch=1.parquet")
    found = read_dynamics(tmp_path)
    assert found.uids.tolist() == ["a", "b"]
    assert found.gold.tolist() == [0, 1]
    assert found.logits.dtype == np.float32
    assert found.logits.tolist() == [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]


def test_ten_epochs_are_read_in_order_of_number(tmp_path: Path) -> None:
    for epoch in range(11):
        write_epoch(tmp_path, epoch, ["a"])
    assert read_dynamics(tmp_path).logits[0, :, 0].tolist() == list(range(11))


def test_uids_missing_from_an_epoch_are_named_and_left_out_on_demand(tmp_path: Path) -> None:
    write_epoch(tmp_path, 0, ["a", "b", "c"])
    write_epoch(tmp_path, 1, ["b", "c", "d"])
    with pytest.raises(
        InputError,
        match=r"epoch 0 lacks 1 uid \('d'\); epoch 1 lacks 1 uid \('a'\); 2 of 4 are in every epoch: remove .* "
        r"`from_dynamics\(read_dynamics\(folder, intersection=True\)\)`",
    ):
        read_dynamics(tmp_path)
    found = read_dynamics(tmp_path, intersection=True)
    assert found.uids.tolist() == ["b", "c"]
    assert found.logits.tolist() == [[[2, 3], [1, 2]], [[4, 5], [3, 4]]]
    assert from_dynamics(found).measures.index.tolist() == ["b", "c"], "what the message says can be done"


def test_no_common_uid_is_an_error_even_with_intersection(tmp_path: Path) -> None:
    write_epoch(tmp_path, 0, ["a"])
    write_epoch(tmp_path, 1, ["b"])
    with pytest.raises(InputError, match="no uid is in every epoch"):
        read_dynamics(tmp_path, intersection=True)


@pytest.mark.parametrize(
    ("epochs", "message"),
    [
        ([], "holds no dynamics: expected files epoch=0.parquet"),
        ([(0, ["a"], [0], 2), (2, ["a"], [0], 2)], "dynamics up to epoch 2 but none of epoch 1: epoch=1.parquet is missing"),
        ([(0, ["a"], [0], 2), (1, ["a"], [0], 3)], "epoch 0 has 2 classes and epoch 1 has 3"),
        ([(0, ["a", "b"], [0, 1], 2), (1, ["a", "b"], [0, 0], 2)], "uid 'b' has gold label 1 in epoch 0 and 0 in epoch 1 (1 such uid)"),
        ([(0, ["a", "b", "a"], [0, 1, 0], 2)], "epoch 0 has 1 uid more than once: 'a'; a uid must name one example"),
    ],
)
def test_faulty_folders_say_what_is_wrong(tmp_path: Path, epochs: list[tuple[int, list[str], list[int], int]], message: str) -> None:
    for epoch in epochs:
        write_epoch(tmp_path, *epoch)
    with pytest.raises(InputError) as raised:
        read_dynamics(tmp_path)
    assert message in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"not parquet", None])
def test_a_file_of_another_kind_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "epoch=0.parquet"
    if content is None:
        pq.write_table(pa.table({"uid": ["a"], "score": [1.0]}), path)
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"epoch=0\.parquet is no file of training dynamics .* expected columns uid \(string\)"):
        read_dynamics(tmp_path)


def test_dynamics_are_shown_by_their_size(tmp_path: Path) -> None:
    write_epoch(tmp_path, 0, ["a", "b"], width=3)
    assert repr(read_dynamics(tmp_path)) == "Dynamics(2 examples, 1 epoch, 3 classes)"

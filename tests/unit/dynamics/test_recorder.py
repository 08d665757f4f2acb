from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.data.kept_logits import KEPT, WHOLE, KeptLogits
from cartograph.dynamics import recorder
from cartograph.dynamics.epoch_files import by_blocks, dynamics_table, epoch_file, logits_of, read_dynamics
from cartograph.dynamics.recorder import DynamicsRecorder, UidsAt
from cartograph.errors import InputError
from cartograph.schema import dynamics_schema
from tests.stand_in_gpu import stand_in_gpu

LOGITS = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_an_epoch_is_written_sorted_by_uid(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path / "deep" / "dynamics")
    recorder.record(["c", "a"], LOGITS[:2], torch.tensor([1, 0]))
    recorder.record(["b"], LOGITS[2:], torch.tensor([1]))
    table = recorder.end_epoch()
    assert table is not None
    assert table.schema == dynamics_schema(2)
    assert pq.read_table(tmp_path / "deep" / "dynamics" / "epoch=0.parquet", partitioning=None).equals(table)
    assert table.to_pylist() == [
        {"uid": "a", "gold": 0, "logits": [3.0, 4.0]},
        {"uid": "b", "gold": 1, "logits": [5.0, 6.0]},
        {"uid": "c", "gold": 1, "logits": [1.0, 2.0]},
    ]
    assert [path.name for path in (tmp_path / "deep" / "dynamics").iterdir()] == ["epoch=0.parquet"]


def test_a_record_does_not_change_with_the_tensor_it_was_made_from(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path)
    reused = torch.tensor([[1.0, 2.0]], requires_grad=True)
    recorder.record(["a"], reused, [0])
    with torch.no_grad():
        reused.fill_(9)
    table = recorder.end_epoch()
    assert table is not None and table.column("logits").to_pylist() == [[1.0, 2.0]]


@pytest.mark.parametrize("buffer", [np.array, torch.tensor, list], ids=["numpy", "tensor", "list"])
def test_a_record_does_not_change_with_the_buffers_of_its_uids_and_labels(tmp_path: Path, buffer: Callable[[list[int]], Any]) -> None:
    recorder = DynamicsRecorder(tmp_path)
    uids, gold = buffer([1, 2]), buffer([0, 1])
    for batch in range(2):
        for row in range(2):
            uids[row], gold[row] = 2 * batch + row, (batch + row) % 2
        recorder.record(uids, LOGITS[:2], gold)
    table = recorder.end_epoch()
    assert table is not None
    assert table.column("uid").to_pylist() == ["0", "1", "2", "3"]
    assert table.column("gold").to_pylist() == [0, 1, 1, 0]


def test_half_precision_logits_are_stored_as_single(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path)
    recorder.record(["a"], torch.tensor([[1.5, -2.0]], dtype=torch.bfloat16), torch.tensor([1], dtype=torch.int32))
    recorder.end_epoch()
    assert read_dynamics(tmp_path).logits.tolist() == [[[1.5, -2.0]]]


def test_a_row_that_a_sampler_repeats_keeps_its_first_record(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path, uids=["a", "b"])
    recorder.record(["b", "a"], LOGITS[:2], [1, 0])
    recorder.record(["b"], LOGITS[2:], [1])
    table = recorder.end_epoch()
    assert table is not None and table.column("logits").to_pylist() == [[3.0, 4.0], [1.0, 2.0]]


@given(st.lists(st.tuples(st.text(min_size=1, max_size=4), st.integers(0, 3)), min_size=1, max_size=40), st.integers(1, 7))
@settings(max_examples=40, deadline=None)
def test_every_uid_has_one_record_whatever_is_recorded(rows: list[tuple[str, int]], batch: int) -> None:
    gold = dict(reversed(rows))
    first: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        recorder = DynamicsRecorder(folder)
        for start in range(0, len(rows), batch):
            uids = [uid for uid, _ in rows[start : start + batch]]
            recorder.record(uids, torch.arange(start, start + len(uids))[:, None].float(), [gold[uid] for uid in uids])
            for place, uid in enumerate(uids, start):
                first.setdefault(uid, place)
        recorder.end_epoch()
        found = read_dynamics(folder)
    assert found.uids.tolist() == sorted(first)
    assert found.logits[:, 0, 0].tolist() == [first[uid] for uid in sorted(first)]
    assert found.gold.tolist() == [gold[uid] for uid in sorted(first)]


def test_two_gold_labels_of_one_uid_are_named(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path)
    recorder.record(["a", "b", "a"], LOGITS, [0, 1, 1])
    with pytest.raises(InputError, match=r"epoch 0: uid 'a' came with gold labels 0 and 1 \(1 such uid\); a uid must name one example"):
        recorder.end_epoch()
    assert not list(tmp_path.iterdir())


def test_missing_and_unknown_uids_are_named(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path, uids=["a", "b", "c", "d", "e", "f"])
    recorder.record(["a", "b"], LOGITS[:2], [0, 1])
    with pytest.raises(InputError, match="epoch 0: 4 of 6 uids were not recorded, among them 'c', 'd', 'e', …"):
        recorder.end_epoch()
    recorder = DynamicsRecorder(tmp_path, uids=["a"])
    recorder.record(["a", "z"], LOGITS[:2], [0, 1])
    with pytest.raises(InputError, match="epoch 0: 1 uid that no training example has came to record: 'z'"):
        recorder.end_epoch()


def test_an_epoch_without_records_and_batches_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path)
    with pytest.raises(InputError, match="nothing was recorded in epoch 0"):
        recorder.end_epoch()
    with pytest.raises(InputError, match=r"2 uids, logits of shape \(3, 2\) and 3 gold labels"):
        recorder.record(["a", "b"], LOGITS, [0, 1, 1])
    recorder.record(["a"], LOGITS[:1], [0])
    with pytest.raises(InputError, match=r"logits of shape \(1, 3\) after \(1, 2\); the number of classes must stay the same"):
        recorder.record(["b"], torch.zeros(1, 3), [0])


@pytest.mark.parametrize(
    "uids",
    [[3, 1, 20], np.array([3, 1, 20]), torch.tensor([3, 1, 20]), np.array(["3", "1", "20"], object), [np.int64(3), torch.tensor(1), "20"]],
    ids=["int", "numpy", "tensor", "strings", "mixed"],
)
def test_whole_numbers_are_stored_as_strings(tmp_path: Path, uids: Any) -> None:
    recorder = DynamicsRecorder(tmp_path, uids=[1, 3, "20"])
    recorder.record(uids, LOGITS, [0, 1, 1])
    recorder.end_epoch()
    assert read_dynamics(tmp_path).uids.tolist() == ["1", "20", "3"]
    assert read_dynamics(tmp_path).gold.tolist() == [1, 1, 0]


def test_a_tensor_of_uids_may_be_used_again(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path)
    uids = torch.tensor([7])
    recorder.record(uids, LOGITS[:1], [0])
    uids.fill_(8)
    recorder.end_epoch()
    assert read_dynamics(tmp_path).uids.tolist() == ["7"]


@pytest.mark.parametrize(
    ("uids", "came"),
    [
        ([1.5, 2, 3], "1.5 is of type float"),
        (torch.tensor([1.0, 2.0, 3.0]), "1.0 is of type float"),
        ([True, 2, 3], "True is of type bool"),
        (torch.zeros(3, 2, dtype=torch.long), r"\[0, 0\] is of type list"),
        (["a", None, "b"], "1 row came without one"),
        (["a", "b", "\ud800"], "surrogates not allowed"),
    ],
)
def test_other_uids_are_refused(tmp_path: Path, uids: Any, came: str) -> None:
    recorder = DynamicsRecorder(tmp_path)
    recorder.record(uids, LOGITS, [0, 1, 1])
    with pytest.raises(InputError, match=f"epoch 0: uids must be strings of valid Unicode or whole numbers, but .*{came}"):
        recorder.end_epoch()


def test_a_recording_goes_on_from_the_unfinished_part_of_an_epoch(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path / "whole", uids=["a", "b", "c"])
    recorder.record(["c", "a"], LOGITS[:2], [1, 0])
    assert repr(recorder) == f"DynamicsRecorder('{tmp_path / 'whole'}', epoch=0, rows=2)"
    part = recorder.unfinished()
    assert part.column("uid").to_pylist() == ["c", "a"]
    recorder.record(["b"], LOGITS[2:], [1])
    recorder.end_epoch()
    assert recorder.rows == 0
    resumed = DynamicsRecorder(tmp_path / "resumed", uids=["a", "b", "c"])
    resumed.record(part.column("uid").to_pylist(), torch.from_numpy(logits_of(part).copy()), part.column("gold").to_pylist())
    resumed.record(["b"], LOGITS[2:], [1])
    resumed.end_epoch()
    assert epoch_file(tmp_path / "resumed", 0).read_bytes() == epoch_file(tmp_path / "whole", 0).read_bytes()


def test_a_discarded_part_of_an_epoch_is_recorded_again(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path)
    recorder.record(["a"], LOGITS[:1], [0])
    recorder.discard_unfinished()
    recorder.record(["a"], LOGITS[1:2], [0])
    recorder.end_epoch()
    assert read_dynamics(tmp_path).logits.tolist() == [[[3.0, 4.0]]]


def test_resuming_discards_the_epochs_that_are_recorded_again(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path)
    for _ in range(3):
        recorder.record(["a", "b"], LOGITS[:2], [0, 0])
        recorder.end_epoch()
    (tmp_path / "epoch=1.parquet.tmp").write_bytes(b"half")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "epoch=1.rank=1.parquet").write_bytes(b"half")
    kept = (tmp_path / "epoch=0.parquet").read_bytes()
    recorder = DynamicsRecorder(tmp_path, start_epoch=1)
    assert [path.name for path in tmp_path.iterdir()] == ["epoch=0.parquet"]
    assert (tmp_path / "epoch=0.parquet").read_bytes() == kept
    recorder.record(["b", "a"], LOGITS[:2], [0, 0])
    recorder.end_epoch()
    assert read_dynamics(tmp_path).logits[:, 1].tolist() == [[3.0, 4.0], [1.0, 2.0]]


def test_resuming_needs_the_epochs_before(tmp_path: Path) -> None:
    recorder = DynamicsRecorder(tmp_path)
    recorder.record(["a"], LOGITS[:1], [0])
    recorder.end_epoch()
    with pytest.raises(InputError, match="has no dynamics of epoch 1, so recording cannot go on at epoch 2"):
        DynamicsRecorder(tmp_path, start_epoch=2)


def test_uids_of_any_text_survive(tmp_path: Path) -> None:
    uids = ["", "<script>", "ü", "\U0001f600", "a\nb", json.dumps({"x": 1})]
    recorder = DynamicsRecorder(tmp_path)
    recorder.record(uids, torch.zeros(len(uids), 2), [0] * len(uids))
    recorder.end_epoch()
    assert read_dynamics(tmp_path).uids.tolist() == sorted(uids)


def test_of_many_classes_a_row_keeps_those_that_count(tmp_path: Path) -> None:
    classes, generator = WHOLE + 72, torch.Generator().manual_seed(1)
    recorder = DynamicsRecorder(tmp_path, uids=["a", "b", "c"])
    scores = [torch.randn(3, classes, generator=generator) for _ in range(2)]
    for logits in scores:
        recorder.record(["c", "a"], logits[:2].to(torch.bfloat16).float(), [7, 2])
        recorder.record(["b"], logits[2:].to(torch.bfloat16).float(), [5])
        recorder.record(["b"], logits[:1], [5])
        table = recorder.end_epoch()
    assert table is not None and epoch_file(tmp_path, 1).stat().st_size < 4_000
    found = read_dynamics(tmp_path)
    assert isinstance(found.logits, KeptLogits)
    assert found.logits.shape == (3, 2, classes) and found.logits.classes.shape == (3, 2, KEPT + 1)
    assert found.gold.tolist() == [2, 5, 7]
    whole = np.stack([logits[[1, 2, 0]].to(torch.bfloat16).float().numpy() for logits in scores], axis=1)
    assert np.array_equal(found.logits[:, 1].argmax(axis=1), whole[:, 1].argmax(axis=1))
    assert np.array_equal(found.logits[:, 0][np.arange(3), found.gold], whole[np.arange(3), 0, found.gold])
    assert by_blocks(table, lambda logits, gold: logits.argmax(axis=1) == gold).shape == (3,)
    same = dynamics_table(table["uid"].combine_chunks(), found.gold, whole[:, 1])
    assert same.schema == table.schema and same.column("classes").equals(table.column("classes"))
    with pytest.raises(InputError, match="the number of classes must stay the same"):
        recorder.record(["a"], scores[0][:1], [2])
        recorder.record(["b"], scores[0][:1, :-1], [2])


@pytest.mark.parametrize("most", [2**28, 3 * 4 * WHOLE])
@pytest.mark.parametrize("classes", [3, WHOLE + 20])
def test_logits_wait_on_a_gpu_and_are_the_same(classes: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "MOST_WAITING", most)
    generator, tables, waits = torch.Generator().manual_seed(1), {}, {}
    logits, gold = torch.randn(10, classes, generator=generator), torch.randint(classes, (10,), generator=generator)
    for name in ("cpu", "cuda"):
        with stand_in_gpu(monkeypatch) as gpu:
            recording = DynamicsRecorder(tmp_path / name)
            for start in range(0, 10, 2):
                rows = slice(start, start + 2)
                recording.record(torch.arange(start, start + 2).to(name), logits[rows].to(name), gold[rows].to(name))
                assert recording.rows == start + 2
            during = len(gpu.waits)
            tables[name] = recording.end_epoch()
        waits[name] = during, len(gpu.waits)
    assert tables["cuda"].equals(tables["cpu"])
    assert waits["cpu"] == (0, 0)
    # Uids, logits and gold labels; of many classes, where few bytes may wait, every second batch is moved before.
    assert waits["cuda"] == ((4, 7) if classes > WHOLE and most < 2**28 else (0, 3))


def test_uids_given_by_place_are_looked_up_once_an_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a", "b", "c"]
    with stand_in_gpu(monkeypatch) as gpu:
        recording = DynamicsRecorder(tmp_path)
        for place, logits in zip((2, 0, 1), LOGITS, strict=True):
            recording.record(UidsAt(torch.tensor([place]).to("cuda"), names), logits[None], [0])
        assert gpu.waits == []
        table = recording.end_epoch()
    assert table is not None and table.column("logits").to_pylist() == [[3.0, 4.0], [5.0, 6.0], [1.0, 2.0]]
    assert gpu.waits == ["cpu"]

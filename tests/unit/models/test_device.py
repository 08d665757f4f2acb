"""Which device, in what precision, and how rows come to it and results back."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from cartograph.models import device
from cartograph.models.base import Side
from cartograph.models.device import CPU, GatheredRows, chosen_device, half_products, has_bfloat16, made_ahead, moved
from cartograph.models.frozen.text_encoder import Encoder
from cartograph.models.last_layer import penultimate_features
from cartograph.models.tiny import Tiny
from tests.stand_in_gpu import GPU, on_gpu, stand_in_gpu
from tests.training_sets import info_of, small_set


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(0)
    Tiny.create(info_of("single"), small_set(), max_length=32).save(path)
    return path


def test_auto_is_a_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with stand_in_gpu(monkeypatch):
        assert [chosen_device(wanted) for wanted in ("auto", "cpu", "cuda")] == [GPU, CPU, GPU]
    assert [chosen_device(wanted) for wanted in ("auto", "cpu", "cuda")] == [CPU, CPU, CPU]


def test_a_batch_is_moved_from_pinned_memory_and_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = {"input_ids": torch.arange(6).reshape(2, 3), "labels": torch.tensor([0, 1])}
    with stand_in_gpu(monkeypatch) as gpu:
        there = moved(batch, GPU)
        assert all(on_gpu(tensor) for tensor in there.values())
        assert (gpu.copies, gpu.slow_copies, gpu.waits) == (2, 0, [])
    assert all(torch.equal(there[name], tensor) for name, tensor in batch.items())
    assert all(tensor is batch[name] for name, tensor in moved(batch, CPU).items())


@pytest.mark.parametrize(("most", "waits"), [(2**28, 1), (5 * 2 * 4, 2)])
def test_results_wait_on_a_gpu_for_the_last_or_until_they_are_many(monkeypatch: pytest.MonkeyPatch, most: int, waits: int) -> None:
    monkeypatch.setattr(device, "MOST_WAITING", most)
    values, order = torch.randn(9, 2, generator=torch.Generator().manual_seed(1)), np.random.default_rng(1).permutation(9)
    found = {}
    for where in (CPU, GPU):
        with stand_in_gpu(monkeypatch) as gpu:
            gathered = GatheredRows(9, where)
            for start in range(0, 9, 3):
                part = values[order[start : start + 3]]
                gathered.put(order[start : start + 3], part if where == CPU else part.to(GPU))
            found[where] = gathered.array()
        assert gpu.waits == ([] if where == CPU else ["cpu"] * waits)
    assert np.array_equal(found[CPU], values.numpy())
    assert np.array_equal(found[GPU], found[CPU])


def test_a_result_that_waits_does_not_keep_what_it_was_cut_from(monkeypatch: pytest.MonkeyPatch) -> None:
    with stand_in_gpu(monkeypatch):
        gathered = GatheredRows(4, GPU)
        states = torch.zeros(4, 100, 3, device=GPU)
        gathered.put(np.arange(4), states[:, 0])
        assert gathered._waiting[0][1].untyped_storage().nbytes() == 4 * 3 * 4


def test_no_rows_have_no_results() -> None:
    assert GatheredRows(0, CPU).array().shape == (0, 0)


def test_products_are_of_bfloat16_only_where_a_gpu_has_them_and_the_model_bears_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, layer = torch.ones(2, 3), torch.nn.Linear(3, 2)
    with half_products(CPU):
        assert layer(rows).dtype == torch.float32
    with stand_in_gpu(monkeypatch) as gpu:
        assert not has_bfloat16(GPU)
        asked: list[bool] = []
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: asked.append(including_emulation) or True)
        assert has_bfloat16(GPU)
        assert not has_bfloat16(CPU)
        assert asked == [False]
        assert gpu.waits == []
    monkeypatch.setattr(device, "has_bfloat16", lambda where: True)
    with half_products(CPU, wanted=False):
        assert layer(rows).dtype == torch.float32
    with half_products(CPU):
        assert layer(rows).dtype == torch.bfloat16


def test_vectors_of_bfloat16_products_are_nearly_those_of_float32(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder.load(str(folder), pooling="mean", max_length=32)
    sides = [Side("The dog barks"), Side("The cat sleeps near the barn"), Side("A horse")]
    exact, _ = encoder.distinct_vectors(sides, batch_size=2)
    monkeypatch.setattr(device, "has_bfloat16", lambda where: True)
    halved, _ = encoder.distinct_vectors(sides, batch_size=2)
    assert halved.dtype == np.float32
    assert not np.array_equal(halved, exact)
    assert np.abs(halved - exact).max() < 0.05


def test_an_encoder_reads_the_same_on_a_gpu_in_fewer_batches_and_one_waits_for_it_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = [Side(f"The dog {'barks ' * (row % 9)}{row}") for row in range(40)]
    batches: dict[str, list[tuple[int, ...]]] = {"cpu": [], "cuda": []}
    found = {}
    for where in (CPU, GPU):
        with stand_in_gpu(monkeypatch) as gpu:
            encoder = Encoder.load(str(folder), pooling="cls", max_length=32)
            own = batches[where.type]
            encoder.network.register_forward_pre_hook(
                lambda module, args, kwargs, own=own: own.append(tuple(kwargs["input_ids"].shape)), with_kwargs=True
            )
            found[where.type] = encoder.distinct_vectors(sides, batch_size=4, device=where)
        assert gpu.waits.count("cpu") == (where == GPU)
    assert np.allclose(found["cuda"][0], found["cpu"][0], atol=1e-6)
    assert np.array_equal(found["cuda"][1], found["cpu"][1])
    assert {rows for rows, _ in batches["cpu"]} == {4}
    # As many tokens in every batch, of 32 each in the longest.
    assert {rows * width for rows, width in batches["cuda"] if 32 % width == 0} == {4 * 32}
    assert len(batches["cuda"]) < len(batches["cpu"])


def test_features_are_the_same_on_a_gpu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {"train": small_set(rows=30)}
    exact = penultimate_features("tiny", folder, tables, batch_size=4, device="cpu")["train"]
    with stand_in_gpu(monkeypatch) as gpu:
        found = penultimate_features("tiny", folder, tables, batch_size=4)["train"]
    assert np.allclose(found, exact, atol=1e-6)
    assert gpu.waits.count("cpu") == 1


def test_batches_are_made_ahead_in_another_thread_in_their_order() -> None:
    made: list[int] = []

    def batches() -> Iterator[int]:
        for number in range(6):
            made.append(threading.get_ident())
            yield number

    coming = made_ahead(batches(), True)
    assert next(coming) == 0
    coming.close()
    assert len(made) <= 3
    assert list(made_ahead(batches(), True)) == list(range(6))
    assert threading.get_ident() not in made
    made.clear()
    assert list(made_ahead(batches(), False)) == list(range(6))
    assert set(made) == {threading.get_ident()}


def test_what_goes_wrong_while_a_batch_is_made_ahead_is_raised() -> None:
    def batches() -> Iterator[int]:
        yield 1
        raise ValueError("cut short")

    coming = made_ahead(batches(), True)
    assert next(coming) == 1
    with pytest.raises(ValueError, match="cut short"):
        next(coming)


@pytest.mark.filterwarnings("error")
def test_batches_that_nobody_asks_for_any_more_may_be_collected_by_the_thread_that_makes_them() -> None:
    left, collected = threading.Event(), threading.Event()

    def batches() -> Iterator[int]:
        yield 1
        assert left.wait(10)
        gc.collect()
        collected.set()
        yield 2

    coming = made_ahead(batches(), True)
    cycle: list[object] = [coming]
    cycle.append(cycle)
    assert next(coming) == 1
    del coming, cycle
    left.set()
    assert collected.wait(10)
    gc.collect()

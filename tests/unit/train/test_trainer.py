"""What the Trainer leaves out beside a plain loop."""

from __future__ import annotations

import gc
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import Trainer

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.dynamics.recorder import DynamicsRecorder
from cartograph.models.isolation import isolated, seed_everything
from cartograph.models.registry import model_class
from cartograph.train import steps
from cartograph.train.half_weights import HalfWeights
from cartograph.train.recipe import Recipe
from cartograph.train.step_graphs import Step, norm_of
from cartograph.train.trainer import DynamicsTrainer, Watch
from tests.stand_in_gpu import stand_in_gpu
from tests.training_sets import info_of, small_set


def made(folder: Path, *, rows: int = 60, watch: Watch | None = None, **changes: object) -> DynamicsTrainer:
    table = small_set(rows=rows)
    recipe = Recipe(**{"epochs": 1, "batch_size": 8, "device": "cpu"} | changes)
    model = model_class(recipe.model).create(info_of("single"), table, max_length=32, pretrained=None)
    return DynamicsTrainer(recipe, model, model.encode(table, info_of("single")), {}, folder, watch=watch)


def collections(first: DynamicsTrainer, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how often the whole process's garbage is collected by request while this trains."""
    asked = []
    collect = gc.collect
    with monkeypatch.context() as patch:
        patch.setattr(gc, "collect", lambda *generation: asked.append(generation) or collect(*generation))
        first.train()
    return len(asked)


def test_garbage_is_collected_only_where_a_training_before_left_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_ALIVE", type(steps._ALIVE)())
    with isolated(1, 1):
        first = made(tmp_path)
        assert collections(first, monkeypatch) == 0
    with isolated(1, 1):
        assert collections(made(tmp_path), monkeypatch) > 0
        assert first.epoch == 1


def test_norms_that_nobody_reads_are_not_computed(tmp_path: Path) -> None:
    with isolated(1, 1):
        alone, live = made(tmp_path), made(tmp_path, live=True)
        for one in (alone, live):
            one.create_optimizer()
            one.model.weight = torch.nn.Parameter(torch.ones(3))
            one.model.weight.grad = torch.full((3,), 2.0)
        assert alone._get_grad_norm(alone.model) is None
        assert float(live._get_grad_norm(live.model)) == pytest.approx(12**0.5)


@pytest.mark.parametrize("pieces", [1, 3])
def test_one_process_on_a_cpu_trains_to_the_same_bits_as_with_what_only_others_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: int
) -> None:
    moved: list[object] = []
    prepare = Trainer._prepare_inputs
    monkeypatch.setattr(Trainer, "_prepare_inputs", lambda self, inputs: moved.append(inputs) or prepare(self, inputs))
    trained = {}
    for alone in (True, False):
        with isolated(1, 1):
            seed_everything(1)
            # The last batch has one row, so that two of its three pieces are fillers.
            one = made(tmp_path, rows=17, model="lstm", gradient_accumulation=pieces)
            assert one._alone
            one._alone = alone
            one.train()
        assert len(moved) == (0 if alone else 3 * pieces)
        trained[alone] = {name: tensor.clone() for name, tensor in one.model.state_dict().items()}
    assert trained[True].keys() == trained[False].keys()
    assert all(torch.equal(tensor, trained[False][name]) for name, tensor in trained[True].items())


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bow", "tiny"])
def test_on_a_gpu_it_trains_the_same_and_waits_only_at_the_end_of_an_epoch(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logits, waits = {}, {}
    for device, rows in (("cpu", 40), ("cuda", 40), ("cuda", 80)):
        with stand_in_gpu(monkeypatch) as gpu, isolated(1, 1):
            seed_everything(1)
            recorder = partial(DynamicsRecorder, tmp_path / f"{device} {rows}")
            one = made(tmp_path, rows=rows, model=model, device=device, watch=Watch(recorder=recorder))
            one._alone = False
            # Graphs are the GPU's own; see test_step_graphs.
            monkeypatch.setattr(one, "_step_graphs", lambda: None)
            gpu.copies = gpu.slow_copies = 0
            one.train()
            logits[device, rows] = read_dynamics(tmp_path / f"{device} {rows}").logits
            # Hugging Face's networks ask in every pass whether a text is padded.
            waits[device, rows] = [name for name in gpu.waits if model == "bow" or name != "__bool__"]
        assert (gpu.copies > 0) == (device == "cuda")
        assert gpu.slow_copies == 0
    assert np.allclose(logits["cuda", 40], logits["cpu", 40], atol=1e-4)
    # Logits and gold labels of the epoch, and the Trainer's running loss.
    assert waits["cuda", 40] == waits["cuda", 80] == ["cpu", "cpu", "item"]


class Launched:
    """What ``StepGraphs`` does, kernel by kernel on a CPU: it counts its batches."""

    def __init__(self, one: DynamicsTrainer) -> None:
        self.one, self.batches = one, 0

    def run(self, inputs: dict[str, torch.Tensor]) -> Step:
        self.batches += 1
        loss, logits = self.one._batch_loss(inputs, None)
        loss.backward()
        norm = norm_of([parameter.grad for parameter in self.one.model.parameters() if parameter.grad is not None])
        return Step(None, inputs, loss.detach(), logits.detach(), norm)  # type: ignore[arg-type]


@pytest.mark.parametrize("weighted", [False, True])
def test_full_batches_are_launched_as_a_whole_and_learn_and_are_recorded_as_any_other(tmp_path: Path, weighted: bool) -> None:
    logits, trained = {}, {}
    for launched in (True, False):
        with isolated(1, 1):
            seed_everything(1)
            recorder = partial(DynamicsRecorder, tmp_path / str(launched))
            # Gradients larger than 1 are cut; the last batch has three rows of eight.
            one = made(tmp_path, rows=43, model="tiny", learning_rate=0.01, watch=Watch(recorder=recorder))
            if weighted:
                one.examples = replace(one.examples, weights=np.linspace(0.1, 2, 43, dtype=np.float32))
            one._alone = False
            graphs = Launched(one)
            if launched:
                one._step_graphs = lambda graphs=graphs: graphs
            one.train()
        assert graphs.batches == (5 if launched else 0)
        logits[launched] = read_dynamics(tmp_path / str(launched)).logits
        trained[launched] = torch.cat([tensor.flatten() for tensor in one.model.state_dict().values()])
    assert np.allclose(logits[True], logits[False], atol=1e-4)
    assert torch.allclose(trained[True], trained[False], atol=1e-4)
    assert float((trained[True] - trained[False]).norm() / trained[False].norm()) < 1e-5


def test_a_batch_read_in_bfloat16_has_nearly_the_same_loss_and_logits_of_float32(tmp_path: Path) -> None:
    with isolated(1, 1):
        one = made(tmp_path, rows=24, model="tiny")
        one.model.eval()
        batch = {name: value for name, value in next(iter(one.get_train_dataloader())).items() if isinstance(value, torch.Tensor)}
        halves = HalfWeights(one.model)
        halves.refresh()
        (loss, logits), (exact, exact_logits) = one._batch_loss(batch, halves), one._batch_loss(batch, None)
    assert logits.dtype == torch.float32 and not torch.equal(logits, exact_logits)
    assert torch.allclose(logits, exact_logits, atol=0.02) and float(loss) == pytest.approx(float(exact), abs=0.01)


def test_accelerate_prepares_model_and_optimiser_and_leaves_the_order_of_rows_alone(tmp_path: Path) -> None:
    with isolated(1, 1):
        one = made(tmp_path, rows=20, model="lstm")
        loader = one.get_train_dataloader()
        assert one.accelerator.prepare(loader) is loader
        one.train()
        assert one.accelerator._models == [one.model]
        assert one.accelerator._optimizers == [one.optimizer]
        assert one.accelerator._dataloaders == []
        batches = [batch["rows"].tolist() for batch in loader]
    assert batches == [rows.tolist() for rows in one.order(0)]

"""Steps as CUDA graphs, on a GPU."""

from __future__ import annotations

import weakref
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import RobertaConfig, masking_utils

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.models import tiny
from cartograph.models.tiny import Tiny
from cartograph.train import step_graphs, steps
from cartograph.train.fit import fit
from cartograph.train.half_weights import HalfWeights
from cartograph.train.recipe import Recipe
from cartograph.train.step_graphs import Step, StepGraphs, norm_of
from cartograph.train.steps import SteppingTrainer
from tests.training_sets import small_set

GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
RECIPE = Recipe(model="tiny", epochs=2, batch_size=8, learning_rate=0.001, device="cuda")


def test_the_norm_of_several_tensors_is_that_of_all_their_numbers() -> None:
    parts = [torch.full((2, 3), 2.0), torch.tensor([-1.0]), torch.zeros(0)]
    assert float(norm_of(parts)) == pytest.approx(5.0)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each batch that was to be launched as a whole was."""
    launched: list[bool] = []
    run = StepGraphs.run

    def spy(self: StepGraphs, inputs: step_graphs.Inputs) -> Step | None:
        step = run(self, inputs)
        launched.append(step is not None)
        return step

    monkeypatch.setattr(StepGraphs, "run", spy)
    return launched


@GPU
def test_a_training_by_graphs_is_the_same_each_time(tmp_path: Path, counted: list[bool]) -> None:
    for name in ("one", "other"):
        fit(RECIPE, small_set(rows=100), {}, tmp_path / name)
    assert counted == [True] * 48
    one, other = (read_dynamics(tmp_path / name / "dynamics").logits for name in ("one", "other"))
    assert one.tobytes() == other.tobytes()


@GPU
def test_a_training_by_graphs_is_as_good_as_kernel_by_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: list[bool]) -> None:
    monkeypatch.setattr(steps, "HalfWeights", lambda network: None)
    # Batches without padding are else read without a mask, by another kernel, whose dropout draws other numbers; graphs read all with one.
    monkeypatch.setattr(masking_utils, "_ignore_bidirectional_mask_sdpa", lambda *_, **__: False)
    fit(RECIPE, small_set(rows=100), {}, tmp_path / "graphs")
    monkeypatch.setattr(SteppingTrainer, "_step_graphs", lambda self: None)
    fit(RECIPE, small_set(rows=100), {}, tmp_path / "kernels")
    assert counted == [True] * 24
    graphs, kernels = (read_dynamics(tmp_path / name / "dynamics").logits for name in ("graphs", "kernels"))
    assert graphs == pytest.approx(kernels, abs=0.02)


@GPU
@pytest.mark.parametrize("launched", [True, False])
def test_weights_in_bfloat16_train_as_those_that_are_converted_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: list[bool], launched: bool
) -> None:
    # Dropout draws other numbers for another width, and for batches without padding, which kernels one by one read another way.
    undropped = partial(RobertaConfig, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    monkeypatch.setattr(tiny, "RobertaConfig", undropped)
    fit(RECIPE, small_set(rows=100), {}, tmp_path / "halves")
    monkeypatch.setattr(steps, "HalfWeights", lambda network: None)
    if not launched:
        monkeypatch.setattr(SteppingTrainer, "_step_graphs", lambda self: None)
    fit(RECIPE, small_set(rows=100), {}, tmp_path / "converted")
    assert len(counted) == (48 if launched else 24)
    halves, converted = (read_dynamics(tmp_path / name / "dynamics").logits for name in ("halves", "converted"))
    assert halves[:, :1] == pytest.approx(converted[:, :1], abs=0.05)
    assert np.corrcoef(halves.ravel(), converted.ravel())[0, 1] > 0.99


@GPU
def test_a_training_that_was_broken_off_ends_in_the_same_bytes(tmp_path: Path, counted: list[bool]) -> None:
    def stop(done: int, _: int) -> None:
        if done > 150:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(RECIPE, small_set(rows=100), {}, tmp_path / "resumed", progress=stop)
    for name in ("resumed", "whole"):
        fit(RECIPE, small_set(rows=100), {}, tmp_path / name)
    assert all(counted)
    resumed, whole = (read_dynamics(tmp_path / name / "dynamics").logits for name in ("resumed", "whole"))
    assert resumed.tobytes() == whole.tobytes()


@GPU
def test_a_network_that_waits_in_its_pass_trains_kernel_by_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: list[bool]
) -> None:
    passed = Tiny.logits_and_features

    def waits(self: Tiny, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        assert int(inputs["input_ids"].sum()) > 0
        return passed(self, **inputs)

    monkeypatch.setattr(Tiny, "logits_and_features", waits)
    fit(RECIPE, small_set(rows=100), {}, tmp_path / "waits")
    assert counted == [False] * 24
    # What failed leaves nothing behind: the next one is launched as a whole.
    monkeypatch.setattr(Tiny, "logits_and_features", passed)
    fit(RECIPE, small_set(rows=100), {}, tmp_path / "plain")
    assert all(counted[24:])


class StandIn:
    """A graph, a stream and a generator that do nothing: what is kept and given up around them can be seen without a GPU."""

    def __init__(self, *_: object) -> None:
        self.states: list[object] = []

    def graphsafe_get_state(self) -> StandIn:
        return self

    clone_state = graphsafe_get_state

    def graphsafe_set_state(self, state: object) -> None:
        self.states.append(state)

    def nothing(self, *_: object, **__: object) -> None:
        return None

    wait_stream = capture_begin = capture_end = replay = nothing


@pytest.fixture
def without_gpu(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    generator = StandIn()
    none: dict[str, object] = {name: lambda *_: None for name in ("graph_pool_handle", "synchronize", "empty_cache")}
    made = {"Stream": StandIn, "CUDAGraph": StandIn, "current_stream": StandIn, "stream": lambda _: nullcontext()}
    for name, value in (none | made | {"default_generators": [generator]}).items():
        monkeypatch.setattr(torch.cuda, name, value)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self)
    return generator


def test_a_shape_is_recorded_once_and_every_batch_of_it_has_its_gradients(without_gpu: StandIn) -> None:
    weight, passed = torch.nn.Parameter(torch.ones(2)), []

    def loss(inputs: step_graphs.Inputs, _: object) -> tuple[torch.Tensor, torch.Tensor]:
        passed.append(inputs["attention_mask"].tolist())
        return (weight * inputs["x"]).sum(), weight * inputs["x"]

    graphs = StepGraphs([weight], loss, torch.device("cpu"))
    for value in (3.0, 4.0):
        step = graphs.run({"x": torch.tensor([value, 4.0]), "attention_mask": torch.ones(1, 2)})
        assert step is not None and step.inputs["x"].tolist() == [value, 4.0]
        assert weight.grad is not None and weight.grad.tolist() == [3.0, 4.0]
        assert float(step.norm) == pytest.approx(5.0)
        weight.grad = None
    # Read once with something padded, and recorded once as it is.
    assert passed == [[[1.0, 0.0]], [[1.0, 1.0]]]


def test_what_cannot_be_recorded_is_given_up_with_all_that_was_kept(without_gpu: StandIn) -> None:
    weight = torch.nn.Parameter(torch.ones(2))

    def loss(inputs: step_graphs.Inputs, _: object) -> tuple[torch.Tensor, torch.Tensor]:
        if len(inputs["x"]) == 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return (weight.sum() * inputs["x"]).sum(), inputs["x"]

    graphs = StepGraphs([weight], loss, torch.device("cpu"))
    assert graphs.run({"x": torch.ones(2)}) is not None
    weight.grad = None
    assert graphs.run({"x": torch.ones(3)}) is None
    assert weight.grad is None
    assert graphs.run({"x": torch.ones(2)}) is None
    assert without_gpu.states


def test_halves_are_read_and_their_gradients_are_the_weights(without_gpu: StandIn) -> None:
    network = torch.nn.Linear(2, 1, bias=False)
    graphs = StepGraphs(list(network.parameters()), _sum_of, torch.device("cpu"), HalfWeights(network))
    for value in (1.0, 2.0):
        network.weight.data.fill_(value)
        step = graphs.run({"input": torch.tensor([[3.0, 4.0]])})
        # A graph of the stand-in computes when it is recorded and not again.
        assert step is not None and float(step.loss) == 7.0 and step.logits.dtype == torch.bfloat16
        assert network.weight.grad is not None and network.weight.grad.dtype == torch.float32
        assert network.weight.grad.tolist() == [[3.0, 4.0]] and float(step.norm) == 5.0


def test_a_network_that_cannot_be_read_in_bfloat16_is_read_as_it_is(without_gpu: StandIn) -> None:
    class Mixing(torch.nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return super().forward(input.float())

    network = Mixing(2, 1, bias=False)

    def loss(inputs: step_graphs.Inputs, halves: HalfWeights | None) -> tuple[torch.Tensor, torch.Tensor]:
        return _sum_of(inputs, halves or network)

    graphs = StepGraphs(list(network.parameters()), loss, torch.device("cpu"), HalfWeights(network))
    step = graphs.run({"input": torch.tensor([[3.0, 4.0]])})
    assert step is not None and graphs.usable and step.logits.dtype == torch.float32
    assert network.weight.grad is not None and network.weight.grad.tolist() == [[3.0, 4.0]]


def test_what_cannot_be_recorded_in_bfloat16_later_is_recorded_again_without(without_gpu: StandIn) -> None:
    network, held = torch.nn.Linear(2, 1, bias=False), []

    def loss(inputs: step_graphs.Inputs, halves: HalfWeights | None) -> tuple[torch.Tensor, torch.Tensor]:
        total, logits = _sum_of(inputs, halves or network)
        if halves is not None and len(inputs["input"]) == 3:
            held.append(weakref.ref(total))
            raise TypeError("Got unsupported ScalarType BFloat16")
        # Nothing of the pass that failed is kept while the others are made.
        assert not [one for one in held if one() is not None]
        return total, logits

    graphs = StepGraphs(list(network.parameters()), loss, torch.device("cpu"), HalfWeights(network))
    dtypes = []
    for rows in (2, 3, 2):
        step = graphs.run({"input": torch.ones(rows, 2)})
        assert step is not None and network.weight.grad is not None and network.weight.grad.tolist() == [[rows, rows]]
        dtypes.append(step.logits.dtype)
    assert dtypes == [torch.bfloat16, torch.float32, torch.float32]
    with pytest.raises(TypeError, match="wrong"):
        graphs.run({"input": torch.ones(4, 2), "wrong": torch.ones(1)})


def test_a_weight_that_is_no_float32_has_its_own_gradient(without_gpu: StandIn) -> None:
    network = torch.nn.ModuleDict({"own": torch.nn.Linear(2, 1, bias=False), "wide": torch.nn.Linear(2, 1, bias=False).double()})

    def loss(inputs: step_graphs.Inputs, halves: HalfWeights | None) -> tuple[torch.Tensor, torch.Tensor]:
        assert halves is not None
        found = inputs["input"] @ network["wide"].weight.float().T + inputs["input"] @ halves.copies[0].float().T
        return found.sum(), found

    graphs = StepGraphs(list(network.parameters()), loss, torch.device("cpu"), HalfWeights(network))
    assert graphs.run({"input": torch.ones(1, 2)}) is not None
    assert [weight.grad.tolist() for weight in network.parameters() if weight.grad is not None] == [[[1.0, 1.0]], [[1.0, 1.0]]]


def _sum_of(inputs: step_graphs.Inputs, network: Any) -> tuple[torch.Tensor, torch.Tensor]:
    logits = network(**inputs)
    return logits.float().sum(), logits

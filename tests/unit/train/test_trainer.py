"""What the Trainer leaves out beside a plain loop."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import torch
from transformers import Trainer

from cartograph.models.isolation import isolated, seed_everything
from cartograph.models.registry import model_class
from cartograph.train import trainer
from cartograph.train.recipe import Recipe
from cartograph.train.trainer import DynamicsTrainer
from tests.training_sets import info_of, small_set


def made(folder: Path, *, rows: int = 60, **changes: object) -> DynamicsTrainer:
    table = small_set(rows=rows)
    recipe = Recipe(**{"epochs": 1, "batch_size": 8, "device": "cpu"} | changes)
    model = model_class(recipe.model).create(info_of("single"), table, max_length=32, pretrained=None)
    return DynamicsTrainer(recipe, model, model.encode(table, info_of("single")), {}, folder)


def collections(first: DynamicsTrainer, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how often the whole process's garbage is collected by request while this trains."""
    asked = []
    collect = gc.collect
    with monkeypatch.context() as patch:
        patch.setattr(gc, "collect", lambda *generation: asked.append(generation) or collect(*generation))
        first.train()
    return len(asked)


def test_garbage_is_collected_only_where_a_training_before_left_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "_ALIVE", type(trainer._ALIVE)())
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

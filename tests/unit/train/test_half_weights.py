"""Weights once more in bfloat16."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from cartograph.models.registry import model_class
from cartograph.train.half_weights import HalfWeights
from tests.training_sets import info_of, small_set


@pytest.fixture
def passes() -> tuple[torch.nn.Module, dict[str, torch.Tensor], torch.Tensor]:
    """A network without dropout, a batch of it, and the labels."""
    torch.manual_seed(0)
    table = small_set(rows=32)
    model = model_class("tiny").create(info_of("single", "train", "train"), table, max_length=32, pretrained=None).eval()
    batch = model.batch(model.encode(table, info_of("single", "train", "train")), np.arange(32))
    return model, batch, batch.pop("labels")


def test_passes_and_gradients_are_nearly_those_of_float32(passes: tuple[torch.nn.Module, dict[str, torch.Tensor], torch.Tensor]) -> None:
    model, batch, labels = passes
    halves = HalfWeights(model)
    halves.refresh()
    logits = halves(**batch)["logits"]
    assert logits.dtype == torch.bfloat16
    functional.cross_entropy(logits.float(), labels).backward()
    assert all(weight.grad is None for weight in model.parameters())
    exact = model(**batch)["logits"]
    functional.cross_entropy(exact, labels).backward()
    assert logits.float().detach() == pytest.approx(exact.detach(), abs=0.02)
    apart = [
        float((copy.grad.float() - weight.grad).norm() / weight.grad.norm())
        for copy, weight in zip(halves.copies, halves.weights, strict=True)
        if copy.grad is not None and weight.grad is not None and weight.grad.norm() > 1e-4
    ]
    assert len(apart) > 20 and max(apart) < 0.1


def test_a_frozen_weight_has_a_copy_without_gradient_and_numbers_of_other_kinds_are_read_as_they_are() -> None:
    network = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1).double())
    network[0].bias.requires_grad_(False)
    halves = HalfWeights(network)
    assert [weight.shape for weight in halves.weights] == [(2, 2), (2,)]
    assert [copy.requires_grad for copy in halves.copies] == [True, False]


def test_what_accelerate_puts_around_a_network_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    network = torch.nn.Linear(2, 1)
    halves = HalfWeights(network)
    halves.refresh()
    monkeypatch.setattr(network, "forward", lambda *_, **__: pytest.fail("read with autocast"))
    assert halves(input=torch.ones(1, 2)).dtype == torch.bfloat16

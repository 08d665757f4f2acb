"""Backward passes in the same order each time."""

from __future__ import annotations

import pytest
import torch

from cartograph.models.backward import Backward
from cartograph.models.isolation import isolated
from tests.stand_in_gpu import stand_in_gpu


class Unordered(torch.autograd.Function):
    """An operation whose backward pass knows no order, as torch's own say it."""

    @staticmethod
    def forward(context: object, value: torch.Tensor) -> torch.Tensor:
        return value * 2

    @staticmethod
    def backward(context: object, gradient: torch.Tensor) -> torch.Tensor:
        if torch.are_deterministic_algorithms_enabled() and not torch.is_deterministic_algorithms_warn_only_enabled():
            raise RuntimeError("unordered_backward does not have a deterministic implementation")
        return gradient * 2


class Seen(torch.autograd.Function):
    """Notes whether order was required of its backward pass."""

    required: list[bool]

    @staticmethod
    def forward(context: object, value: torch.Tensor) -> torch.Tensor:
        return value * 2

    @staticmethod
    def backward(context: object, gradient: torch.Tensor) -> torch.Tensor:
        Seen.required.append(not torch.is_deterministic_algorithms_warn_only_enabled())
        return gradient * 2


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_gpu_is_required_to_keep_to_an_order_and_only_while_it_goes_back(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    Seen.required = []
    with stand_in_gpu(monkeypatch), isolated(1, 1):
        weight = torch.nn.Parameter(torch.ones(3))
        backward = Backward([weight])
        for _ in range(2):
            backward(Seen.apply(weight.to(device)).sum())
        assert torch.is_deterministic_algorithms_warn_only_enabled()
    assert Seen.required == [device == "cuda"] * 2
    assert weight.grad is not None and weight.grad.tolist() == [4.0, 4.0, 4.0]


def test_a_network_that_knows_no_order_goes_without_and_loses_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    with stand_in_gpu(monkeypatch), isolated(1, 1):
        first, second = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
        backward = Backward([first, second])
        first.grad = torch.full((2,), 10.0)
        for _ in range(2):
            # The second has its gradient before the first's operation refuses.
            backward((Unordered.apply(first.to("cuda")) + second.to("cuda") * 3).sum())
    assert first.grad.tolist() == [14.0, 14.0]
    assert second.grad is not None and second.grad.tolist() == [6.0, 6.0]


def test_other_errors_are_not_taken_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    with stand_in_gpu(monkeypatch), isolated(1, 1):
        weight = torch.nn.Parameter(torch.ones(2))
        loss = (weight.to("cuda") * 2).sum()
        loss.backward()
        with pytest.raises(RuntimeError, match="second time"):
            Backward([weight])(loss)

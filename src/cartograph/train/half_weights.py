"""A network's weights once more in bfloat16: what its passes on a GPU read, while an optimiser changes those of float32."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from torch.func import functional_call


class HalfWeights:
    """Copies in bfloat16 of a network's weights, and passes that read these.

    Mixed precision as ``torch.autocast`` has it converts weights, and what lies between products, one by one: a third of the kernels of a
    step with few tokens. Here weights are converted all at once before a pass, and everything between products is of bfloat16 as well;
    what an optimiser adds up stays in float32 (Micikevicius et al. 2018, "Mixed Precision Training", sections 3.1 and 3.3; softmax and
    normalisation have sums of float32 inside).

    >>> network = nn.Linear(2, 1, bias=False)
    >>> halves = HalfWeights(network)
    >>> _ = network.weight.data.copy_(torch.tensor([[1.0, 1.001]]))
    >>> halves.refresh()
    >>> halves(input=torch.tensor([[2.0, 3.0]])).item()
    5.0
    >>> halves(input=torch.tensor([[2.0, 3.0]])).sum().backward()
    >>> halves.copies[0].grad.tolist(), network.weight.grad
    ([[2.0, 3.0]], None)

    Args:
        network: its weights of float32 have copies, which are gradients' leaves where these are; other numbers are read as they are.
    """

    def __init__(self, network: nn.Module) -> None:
        self._whole = _AsWritten(network)
        named = {name: weight for name, weight in self._whole.named_parameters() if weight.dtype == torch.float32}
        self.weights: list[torch.Tensor] = list(named.values())
        self.copies = [torch.empty_like(weight, dtype=torch.bfloat16).requires_grad_(weight.requires_grad) for weight in self.weights]
        self._named = dict(zip(named, self.copies, strict=True))

    def refresh(self) -> None:
        """Have the copies be what the weights are now."""
        with torch.no_grad():
            torch._foreach_copy_(self.copies, self.weights)

    def __call__(self, **inputs: torch.Tensor) -> Any:
        """Return what the network makes of a batch, whose own numbers are read in bfloat16 as well."""
        return functional_call(self._whole, self._named, kwargs=_halved(inputs))


class _AsWritten(nn.Module):
    """A network as its class computes it: accelerate puts autocast around ``forward`` of the one it prepares."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, **inputs: torch.Tensor) -> Any:
        return type(self.network).forward(self.network, **inputs)


def _halved(inputs: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.bfloat16() if tensor.dtype == torch.float32 else tensor for name, tensor in inputs.items()}

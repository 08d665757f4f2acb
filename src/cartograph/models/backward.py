"""Backward passes that give the same bytes each time, on a GPU too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch


class Backward:
    """The backward passes of one network in one process.

    On a CPU they are what torch does. On a GPU torch adds the parts of a long text's attention in whatever order they are ready, unless
    determinism is required: preferring it (``isolation.isolated``) is not enough. Requiring it is an error where an operation knows no
    order; so the first pass finds out whether this network's all do, and if not, every pass goes without.

    >>> weight = torch.nn.Parameter(torch.ones(2))
    >>> backward = Backward([weight])
    >>> backward((weight * torch.tensor([3.0, 4.0])).sum())
    >>> weight.grad.tolist()
    [3.0, 4.0]

    Args:
        parameters: of the network.
    """

    def __init__(self, parameters: Iterable[torch.Tensor]) -> None:
        self._parameters = list(parameters)
        self._orderly: bool | None = None

    def __call__(self, loss: torch.Tensor) -> None:
        """Add the gradients of a loss to the parameters' ``grad``."""
        if loss.device.type == "cpu" or self._orderly is False:
            loss.backward()  # type: ignore[no-untyped-call]
        elif self._orderly:
            with _required():
                loss.backward()  # type: ignore[no-untyped-call]
        else:
            self._find_out(loss)

    def _find_out(self, loss: torch.Tensor) -> None:
        before = [None if parameter.grad is None else parameter.grad.clone() for parameter in self._parameters]
        try:
            with _required():
                loss.backward(retain_graph=True)  # type: ignore[no-untyped-call]
            self._orderly = True
        except RuntimeError as error:
            if "deterministic" not in str(error):
                raise
            self._orderly = False
            for parameter, gradient in zip(self._parameters, before, strict=True):
                parameter.grad = gradient
            loss.backward()  # type: ignore[no-untyped-call]


@contextmanager
def _required() -> Iterator[None]:
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])

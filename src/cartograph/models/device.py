"""The device that a network runs on: which, in what precision, and how rows come to it and results back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar, cast

import numpy as np
import torch

from cartograph.data.arrays import Floats32, Integers
from cartograph.data.memory import MOST_WAITING

CPU = torch.device("cpu")
Batch = TypeVar("Batch")

_AHEAD = 2
"""Batches that are made before they are asked for."""


def chosen_device(wanted: str) -> torch.device:
    """Return the device that ``auto``, ``cpu`` or ``cuda`` means on this machine: a GPU where there is one and it is not forbidden."""
    return torch.device("cuda" if wanted != "cpu" and torch.cuda.is_available() else "cpu")


def device_of(network: torch.nn.Module) -> torch.device:
    """Return the device that a network's parameters are on."""
    return next(network.parameters()).device


def has_bfloat16(device: torch.device) -> bool:
    """Return whether products of bfloat16 are to be used on a device: on GPUs that have instructions for them (Ampere and later)."""
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


def half_products(device: torch.device, wanted: bool = True) -> AbstractContextManager[Any]:
    """Return a context in which a network's products are of bfloat16 where ``has_bfloat16``; elsewhere nothing changes."""
    return torch.autocast(device.type, torch.bfloat16) if wanted and has_bfloat16(device) else nullcontext()


def moved(batch: Mapping[str, torch.Tensor], device: torch.device) -> dict[str, torch.Tensor]:
    """Return a batch of the machine's memory on a device, as ``moved_tensor`` says."""
    return {name: moved_tensor(tensor, device) for name, tensor in batch.items()}


def moved_tensor(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a tensor of the machine's memory on a device: onto a GPU from pinned memory, so that nobody waits for the copy."""
    return tensor if device.type == "cpu" else tensor.pin_memory().to(device, non_blocking=True)


def made_ahead(batches: Iterable[Batch], wanted: bool) -> Iterator[Batch]:
    """Yield batches, the next ones made by another thread while those before are computed.

    >>> list(made_ahead("abc", True))
    ['a', 'b', 'c']

    Args:
        batches: made as they are iterated over, nothing of them drawn at random.
        wanted: where a GPU waits for what takes the processor long; else each is made when it is asked for.
    """
    if not wanted:
        yield from batches
        return
    made, end = iter(batches), object()
    pool = ThreadPoolExecutor(1)
    try:
        coming = deque(pool.submit(next, made, end) for _ in range(_AHEAD))
        while (batch := coming.popleft().result()) is not end:
            coming.append(pool.submit(next, made, end))
            yield cast(Batch, batch)
    finally:
        # Nobody waits: what was left in the middle may be collected in any thread, one of those that make a batch among them.
        pool.shutdown(wait=False, cancel_futures=True)


class GatheredRows:
    """Results of rows that a network reads batch by batch, gathered in the machine's memory.

    >>> gathered = GatheredRows(3, torch.device("cpu"))
    >>> gathered.put(np.array([2, 0]), torch.tensor([[1.0], [2.0]]))
    >>> gathered.put(np.array([1]), torch.tensor([[3.0]]))
    >>> gathered.array().tolist()
    [[2.0], [3.0], [1.0]]

    Those of a GPU wait there until all are computed, or take ``MOST_WAITING`` bytes: only then does anybody wait for the GPU.

    Args:
        n_rows: rows in all.
        device: where the network runs.
    """

    def __init__(self, n_rows: int, device: torch.device) -> None:
        self._n_rows, self._device = n_rows, device
        self._waiting: list[tuple[Integers, torch.Tensor]] = []
        self._bytes = 0
        self._found: Floats32 = np.empty((0, 0), np.float32)

    def put(self, rows: Integers, values: torch.Tensor) -> None:
        """Note the results of some rows, ``(batch, …)``; they are stored as float32."""
        on_host = self._device.type == "cpu"
        # A view keeps all of what it is a part of.
        part = not on_host and values.untyped_storage().nbytes() > values.nbytes
        self._waiting.append((rows, values.clone() if part else values))
        self._bytes += values.nbytes
        if on_host or self._bytes >= MOST_WAITING:
            self._move()

    def array(self) -> Floats32:
        """Return the results, ``(n_rows, …)``; those of no rows are ``(0, 0)``."""
        if self._waiting:
            self._move()
        return self._found

    def _move(self) -> None:
        rows, values = zip(*self._waiting, strict=True)
        moved_values = (values[0] if len(values) == 1 else torch.cat(values)).cpu().numpy()
        if not len(self._found):
            self._found = np.empty((self._n_rows, *moved_values.shape[1:]), np.float32)
        self._found[np.concatenate(rows)] = moved_values
        self._waiting, self._bytes = [], 0

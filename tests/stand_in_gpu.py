"""A stand-in for a GPU on machines without one: tensors that say they are on it and are computed by the CPU.

It shows what code asks of a device: what it moves there and how, where it waits for results, and whether tensors of both places meet in one
operation. It says nothing about a GPU's own kernels, numbers or speed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.nn.utils import clip_grad
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_leaves, tree_map

GPU = torch.device("cuda")
_WAITS = {"cpu", "item", "tolist", "__float__", "__int__", "__bool__", "__index__", "nonzero"}
_ASIDE = {"device", "_parse_to", "_has_compatible_shallow_copy_type", "_set_grad_enabled"}
_EITHER = {"to", "copy_", "__getitem__", "__setitem__", "data.__set__", "grad.__set__", "type_as"}


class StandInGpu(TorchFunctionMode):
    """Function mode under which ``cuda`` is a device.

    Attributes:
        waits: the names of the calls that waited for the device.
        slow_copies: how many tensors were moved onto it of memory that is not pinned, or with somebody waiting.
        copies: how many tensors were moved onto it otherwise.
    """

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[str] = []
        self.copies = self.slow_copies = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if getattr(func, "__name__", "") in _ASIDE:
            return func(*args, **kwargs)
        name = (resolve_name(func) or getattr(func, "__name__", "")).removeprefix("torch.Tensor.").removeprefix("torch.")
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
        there = [tensor for tensor in tensors if on_gpu(tensor)]
        if name == "device.__get__":
            return GPU if there else func(*args, **kwargs)
        if name == "pin_memory":
            pinned = args[0].clone()
            pinned.pinned = True
            return pinned
        if there and name == "numpy":
            raise TypeError("can't convert cuda:0 device type tensor to numpy.")
        if there and name in _WAITS:
            self.waits.append(name)
        if there and name not in _EITHER and any(tensor.ndim and not on_gpu(tensor) for tensor in tensors):
            raise RuntimeError(f"{name}: expected all tensors to be on the same device, but found cuda:0 and cpu.")
        target = _target(args[1:], kwargs) if not tensors or name == "to" else None
        onto = bool(there) if target is None else target.type == "cuda"
        if name == "to" and target is not None:
            if onto and not there:
                self._count(args[0], kwargs)
            if there and not onto:
                self.waits.append(name)
        found = func(*tree_map(_here, args), **tree_map(_here, kwargs))
        if name.endswith("__set__") and onto:
            _mark(args[0])
        if name == "to" and target is not None and found is args[0] and onto != on_gpu(found):
            found = found.clone()
        if name == "cpu":
            return found.clone()
        if onto:
            tree_map(_mark, found)
        return found

    def _count(self, tensor: torch.Tensor, kwargs: dict[str, Any]) -> None:
        if getattr(tensor, "pinned", False) and kwargs.get("non_blocking"):
            self.copies += 1
        else:
            self.slow_copies += 1


@contextmanager
def stand_in_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandInGpu]:
    """Have torch find one GPU, without bfloat16; skip the test where it finds a real one."""
    if torch.cuda.is_available():
        pytest.skip("a GPU is here, and nothing stands in for it")
    answers = {"is_available": True, "is_bf16_supported": False, "device_count": 1, "current_device": 0, "set_device": None}
    with monkeypatch.context() as patch, StandInGpu() as gpu:
        for name, answer in answers.items():
            patch.setattr(torch.cuda, name, lambda *args, answer=answer, **kwargs: answer)
        patch.setattr(torch.cuda, "get_rng_state_all", list)
        # A torch made for CUDA asks the true driver through it.
        patch.setattr(torch.accelerator, "current_accelerator", lambda *args, **kwargs: None)
        # Grouped where no mode sees it, by the device that they are on in truth.
        patch.setattr(clip_grad, "_group_tensors_by_device_and_dtype", _one_group)
        yield gpu


def _one_group(groups: list[list[torch.Tensor]]) -> dict[Any, Any]:
    return {(groups[0][0].device, groups[0][0].dtype): (groups, None)}


def on_gpu(tensor: torch.Tensor) -> bool:
    """Return whether a tensor says that it is on the device."""
    return getattr(tensor, "on_gpu", False)


def _mark(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        value.on_gpu = True
    return value


def _here(value: Any) -> Any:
    place = isinstance(value, torch.device) or (isinstance(value, str) and value.startswith("cuda"))
    return torch.device("cpu") if place and torch.device(value).type == "cuda" else value


def _target(args: Any, kwargs: dict[str, Any]) -> torch.device | None:
    named = [kwargs.get("device"), *args]
    return next((torch.device(each) for each in named if isinstance(each, torch.device) or each in ("cpu", "cuda")), None)

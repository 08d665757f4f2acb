"""The global state of a training."""

from __future__ import annotations

import importlib.util
import sys
from types import SimpleNamespace

import pytest
import torch

from cartograph.models import isolation
from cartograph.models.isolation import isolated
from tests.stand_in_gpu import stand_in_gpu


def test_a_package_that_is_not_there_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_LOOKED_FOR", "nowhere_to_be_found")
    with isolated(1, 1):
        assert sys.modules["nowhere_to_be_found"] is None
        assert importlib.util.find_spec("nowhere_to_be_found") is None
    assert "nowhere_to_be_found" not in sys.modules


def test_a_package_that_is_there_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_LOOKED_FOR", "antigravity")
    sys.modules.pop("antigravity", None)
    with isolated(1, 1):
        assert "antigravity" not in sys.modules
        assert importlib.util.find_spec("antigravity") is not None


def test_a_gpu_multiplies_by_tf32_only_within(monkeypatch: pytest.MonkeyPatch) -> None:
    matmul = torch.backends.cuda.matmul
    before = matmul.fp32_precision
    with isolated(1, 1):
        assert matmul.fp32_precision == before
    with stand_in_gpu(monkeypatch):
        with isolated(1, 1):
            assert matmul.fp32_precision == "tf32"
        assert matmul.fp32_precision == before
        monkeypatch.setattr(torch.backends.cuda, "matmul", SimpleNamespace(allow_tf32=False))
        with isolated(1, 1):
            assert torch.backends.cuda.matmul.allow_tf32 is True
        assert torch.backends.cuda.matmul.allow_tf32 is False

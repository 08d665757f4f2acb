"""A trained model read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from cartograph.models.tiny import Tiny
from cartograph.train.inference import infer
from cartograph.train.recipe import Recipe
from tests.stand_in_gpu import stand_in_gpu
from tests.training_sets import info_of, small_set


def test_on_a_gpu_it_reads_the_same_and_waits_once_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    Tiny.create(info_of("single"), small_set(), max_length=32).save(tmp_path)
    rows = small_set(rows=50)
    exact = infer(Recipe(model="tiny", device="cpu"), tmp_path, rows, batch_size=8)
    assert np.array_equal(infer(Recipe(model="tiny", device="cpu"), tmp_path, rows, passes=2, batch_size=8).logits[1], exact.logits[0])
    with stand_in_gpu(monkeypatch) as gpu:
        found = infer(Recipe(model="tiny"), tmp_path, rows, passes=2, batch_size=8)
    assert np.allclose(found.logits, exact.logits, atol=1e-5)
    assert np.allclose(found.features, exact.features, atol=1e-5)
    # The logits of two passes and the features of the first.
    assert gpu.waits.count("cpu") == 3
    assert gpu.copies > 6

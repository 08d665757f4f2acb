from __future__ import annotations

import numpy as np
import pytest
import torch

from cartograph.data.given import array_of, flags_of, label_ids, numbers_of
from cartograph.errors import InputError


def test_an_array_is_not_copied() -> None:
    labels, scores, flags = np.array([0, 1], np.int32), np.array([0.5, 1.0], np.float32), np.array([True, False])
    assert label_ids(labels) is labels
    assert numbers_of(scores, "scores") is scores
    assert flags_of(flags, "flags") is flags
    assert array_of(torch.tensor([1, 2]), "tensor").tolist() == [1, 2]


def test_no_rows_have_label_ids() -> None:
    assert label_ids([]).dtype == np.int64


def test_what_would_be_cut_off_or_guessed_is_refused() -> None:
    with pytest.raises(InputError, match="gold labels must be integers from 0 on, but are float64; number them with"):
        label_ids([0.0, 1.7], "gold labels")
    with pytest.raises(InputError, match="labels must be integers from 0 on, but are bool"):
        label_ids([True, False])
    with pytest.raises(InputError, match="scores must be numbers, but are object"):
        numbers_of([None, 1.0], "scores")
    with pytest.raises(InputError, match="flags must be True or False for each row, but are int64"):
        flags_of([0, 2], "flags")
    with pytest.raises(InputError, match="logits cannot be read as an array"):
        array_of(torch.ones(2, requires_grad=True), "logits")  # type: ignore[arg-type]

"""Losses where a label is as good as impossible."""

from __future__ import annotations

import torch

from cartograph.adversarial_filter.solver.objective import _loss


def test_a_label_without_any_probability_keeps_its_loss() -> None:
    scores = torch.tensor([[0.0, 500.0, -3.0], [1.0, 2.0, 3.0]])[:, :, None]
    loss, residual = _loss(scores, torch.tensor([0, 2]), None)
    assert torch.allclose(loss[:, 0], torch.tensor([500.0, 0.407606]), atol=1e-4)
    assert torch.allclose(residual[0, :, 0], torch.tensor([-1.0, 1.0, 0.0]))
    assert torch.allclose(residual.sum(dim=1), torch.zeros(2, 1), atol=1e-6)

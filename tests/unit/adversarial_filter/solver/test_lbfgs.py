from __future__ import annotations

import torch

from cartograph.adversarial_filter.solver.lbfgs import minimise


def test_each_quadratic_reaches_its_own_minimum() -> None:
    scales, centres = torch.tensor([[1.0, 10.0], [3.0, 0.2], [50.0, 1.0]]), torch.tensor([[1.0, -1.0], [0.0, 4.0], [2.0, 2.0]])

    def objective(points: torch.Tensor, numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        away = points - centres[numbers]
        return (0.5 * scales[numbers] * away**2).sum(dim=1).double(), scales[numbers] * away

    found = minimise(objective, torch.zeros(3, 2), lambda gradient: gradient.clone(), tolerance=1e-5, most_passes=100)
    assert found.unconverged.tolist() == []
    assert torch.allclose(found.points, centres, atol=1e-4)
    cut = minimise(objective, torch.zeros(3, 2), lambda gradient: gradient.clone(), tolerance=1e-9, most_passes=2)
    assert cut.unconverged.tolist() == [0, 1, 2]

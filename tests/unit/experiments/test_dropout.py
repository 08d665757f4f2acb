"""Dropout's mean and deviation, against passes that the test makes itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cartograph.experiments.dropout import run
from cartograph.experiments.experiment import Material
from cartograph.train.fit import fit
from cartograph.train.inference import infer


@pytest.mark.slow
def test_variability_is_compared_with_the_deviation_of_the_passes_and_confidence_with_their_mean(
    trained: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def draw(title: str, panels: dict[str, tuple[str, str, np.ndarray, np.ndarray]], seed: int) -> None:
        drawn.update({name: panel[2:] for name, panel in panels.items()})

    monkeypatch.setattr("cartograph.experiments.dropout.scatter_figure", draw)
    found = run(replace(trained, folder=tmp_path / "found"))
    held = trained.evaluation["held"]
    alone = fit(replace(trained.recipe, evaluate="end", live=False), trained.examples, {}, tmp_path / "own")
    logits = infer(trained.recipe, alone.model, held, passes=3, dropout=True, seed=5).logits
    odds = np.exp(logits - logits.max(axis=2, keepdims=True))
    gold = held["label"].to_numpy()
    right = (odds / odds.sum(axis=2, keepdims=True))[:, np.arange(len(gold)), gold]
    assert right.shape == (3, 30)
    assert drawn["confidence"][1] == pytest.approx(right.mean(axis=0), abs=1e-5)
    assert drawn["variability"][1] == pytest.approx(right.std(axis=0), abs=1e-5)
    for name, (one, other) in drawn.items():
        assert found.numbers[f"dropout.{name}.r"] == pytest.approx(np.corrcoef(one, other)[0, 1], abs=1e-6)

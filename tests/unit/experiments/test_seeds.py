"""The correlations between seeds, against maps that the test trains itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.experiments.experiment import Material
from cartograph.experiments.seeds import run
from cartograph.train.fit import fit


@pytest.mark.slow
def test_every_pair_of_seeds_is_compared_without_the_burn_in(trained: Material, tmp_path: Path) -> None:
    found = run(replace(trained, folder=tmp_path / "found", options={**trained.options, "map_seeds": 3}))
    maps = {}
    for seed in (5, 6, 7):
        dynamics = read_dynamics(fit(replace(trained.recipe, seed=seed), trained.examples, {}, tmp_path / str(seed)).dynamics)
        odds = np.exp(dynamics.logits - dynamics.logits.max(axis=2, keepdims=True))
        right = (odds / odds.sum(axis=2, keepdims=True))[np.arange(len(dynamics.gold)), :, dynamics.gold][:, 1:]
        maps[seed] = {"confidence": right.mean(axis=1), "variability": right.std(axis=1)}
    rows = found.tables["pairs"].to_pylist()
    assert [(row["seed"], row["other"]) for row in rows] == [(5, 6), (5, 7), (6, 7)]
    for row in rows:
        for name in ("confidence", "variability"):
            expected = np.corrcoef(maps[row["seed"]][name], maps[row["other"]][name])[0, 1]
            assert row[name] == pytest.approx(expected, abs=1e-5)
    assert found.numbers["seeds.confidence"] == pytest.approx(np.mean([row["confidence"] for row in rows]), abs=1e-9)

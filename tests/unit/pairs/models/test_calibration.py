from __future__ import annotations

import numpy as np
import pytest

from cartograph.pairs.models.calibration import Calibration, calibrate


def test_calibration_is_logistic_regression_and_rises() -> None:
    rng = np.random.default_rng(0)
    cosine = rng.uniform(-1, 1, 5000)
    label = (rng.uniform(size=5000) < 1 / (1 + np.exp(-(6 * cosine - 2)))).astype(int)
    fitted = calibrate(cosine, label)
    assert fitted.w / fitted.deviation == pytest.approx(6, rel=0.1)
    assert (fitted.probability(cosine) - label).sum() == pytest.approx(0, abs=1e-4)
    assert np.all(np.diff(fitted.probability(np.linspace(-1, 1, 50))) > 0)


@pytest.mark.parametrize("label", [[0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
def test_calibration_stays_finite_and_rising_whatever_the_labels(label: list[int]) -> None:
    fitted = calibrate(np.array([0.1, 0.2, 0.3, 0.4]), np.array(label))
    probability = fitted.probability(np.array([0.1, 0.4]))
    assert np.isfinite(probability).all()
    assert 0 < fitted.w < 1000
    assert probability[1] >= probability[0]


def test_calibration_survives_a_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    fitted = calibrate(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 1, 0, 1]))
    fitted.save(tmp_path / "calibration.json")
    assert Calibration.load(tmp_path / "calibration.json") == fitted

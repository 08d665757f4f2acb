"""Burn-out and stability of maps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from cartograph.maps.measures import Measures, compute_measures, gold_probabilities
from cartograph.maps.stability import burn_out, stability
from cartograph.statistics.correlation import pearson
from tests.drawn_maps import dynamics


@given(dynamics(min_epochs=2))
def test_burn_out_of_all_epochs_is_one_and_each_prefix_is_the_map_of_that_prefix(case: tuple[list[str], np.ndarray, np.ndarray]) -> None:
    uids, logits, gold = case
    curve = burn_out(gold_probabilities(uids, logits, gold))
    full = compute_measures(uids, logits, gold)
    assert np.isnan(curve.variability[0])
    for name in ("confidence", "variability"):
        for count in range(1, logits.shape[1] + 1):
            part = compute_measures(uids, logits, gold, epochs=count)
            expected = pearson(getattr(part, name), getattr(full, name))
            assert getattr(curve, name)[count - 1] == pytest.approx(expected, nan_ok=True)
        last = getattr(curve, name)[-1]
        assert last == pytest.approx(1.0) or np.isnan(last)


def test_stability_is_the_mean_over_pairs() -> None:
    rng = np.random.default_rng(3)
    maps = [Measures(rng.random(50), rng.random(50), rng.random(50)) for _ in range(3)]
    expected = np.mean([pearson(maps[i].variability, maps[j].variability) for i, j in ((0, 1), (0, 2), (1, 2))])
    assert stability(maps).variability == pytest.approx(expected)
    assert stability([maps[0], maps[0]]).confidence == pytest.approx(1.0)
    with pytest.raises(ValueError, match="two maps or more"):
        stability(maps[:1])

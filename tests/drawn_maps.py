"""Tables of measures as pictures of maps are drawn from."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cartograph.maps.measures import Measures, compute_measures
from cartograph.maps.regions import assign_regions
from cartograph.maps.table import map_table


def make_map(n: int = 400, epochs: int = 6, include_ci: bool = False) -> pa.Table:
    rng = np.random.default_rng(2)
    gold = rng.integers(0, 3, n).astype(np.int32)
    logits = rng.normal(0, 1, (n, epochs, 3)).astype(np.float32)
    logits[np.arange(n), :, gold] += rng.normal(1, 2, (n, 1)).astype(np.float32)
    uids = [f"r{row:06}" for row in range(n)]
    measures = compute_measures(uids, logits, gold, include_ci=include_ci)
    return table_of(uids, gold, measures)


def table_of(uids: list[str], gold: np.ndarray, measures: Measures) -> pa.Table:
    shares = {"easy": 0.33, "ambiguous": 0.33, "hard": 0.1}
    return map_table(
        uids, gold, measures, assign_regions(uids, measures.confidence, measures.variability, **shares, rng=np.random.default_rng(1))
    )

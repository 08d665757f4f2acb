"""Tables of measures as pictures of maps are drawn from, and small dynamics by Hypothesis."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

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


@st.composite
def dynamics(draw: st.DrawFn, min_epochs: int = 1, bound: float = 30.0) -> tuple[list[str], np.ndarray, np.ndarray]:
    shape = draw(st.tuples(st.integers(1, 6), st.integers(min_epochs, 9), st.integers(2, 5)))
    scores = st.floats(-bound, bound, width=32) | st.sampled_from([0.0, 1.0, -1.0])
    logits = draw(arrays.arrays(np.float32, shape, elements=scores))
    gold = draw(arrays.arrays(np.int32, shape[0], elements=st.integers(0, shape[2] - 1)))
    return [f"r{row}" for row in range(shape[0])], logits, gold

"""AL-greedyK: rows spread over the features of a model trained on a small random share (Sener and Savarese 2018; Table 2)."""

from __future__ import annotations

import numpy as np

from cartograph.data.lots import lots
from cartograph.selection.k_centre import k_centre
from cartograph.selection.strategy import ACQUISITION, Candidates, Picks, Strategy


def choose(candidates: Candidates, n: int, rng: np.random.Generator) -> Picks:
    """Return the rows that the model was trained on, then repeatedly the row farthest from all that are chosen.

    The score of a row is its cosine distance from those chosen before it; 0 for the model's own rows, which come first, by lot.
    """
    acquisition = candidates.acquisition
    assert acquisition is not None
    dealt = lots(candidates.uids, rng)
    seen = np.flatnonzero(acquisition.seen)
    seen = seen[np.argsort(dealt[seen], kind="stable")][:n]
    found, distances = k_centre(acquisition.features, n - len(seen), start=seen, lots=dealt, progress=candidates.progress)
    reasons = ["of the random share that the model was trained on"] * len(seen)
    reasons += ["the first" if np.isinf(value) else f"far from what was chosen before: {value:.3g}" for value in distances]
    scores = np.concatenate([np.zeros(len(seen)), distances])
    return Picks(np.concatenate([seen, found]).astype(np.int64), scores, reasons)


STRATEGY = Strategy("AL-greedyK", "rows far from each other in the features of a model of a random share", choose, needs=(ACQUISITION,))

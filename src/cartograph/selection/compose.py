"""compose: suspects out, then the ambiguous rows and a share of easy ones, so that training does not fail on ambiguous rows alone.

At a fraction of 33 % the default share of a quarter leaves just under 25 % of the train set as ambiguous rows. Fewer than 17 % of a train
set as its most ambiguous rows may not train at all (Swayamdipta et al. 2020, §4 and Fig. 3).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cartograph.errors import InputError
from cartograph.selection import mix
from cartograph.selection.strategy import SUSPECT, Candidates, Picks, Strategy


def choose(candidates: Candidates, n: int, rng: np.random.Generator, share: float) -> Picks:
    """Return ``mix`` of the rows that are no suspects.

    Raises:
        InputError: fewer than n rows are left without the suspects.
    """
    assert candidates.suspect is not None
    trusted = np.flatnonzero(~candidates.suspect)
    if len(trusted) < n:
        raise InputError(
            f"selection `compose` is to keep {n:,} of {len(candidates):,} rows, but without the suspects {len(trusted):,} are left; "
            "choose a smaller fraction."
        )
    picks = mix.choose(candidates.take(trusted), n, rng, share)
    return replace(picks, rows=trusted[picks.rows])


STRATEGY = Strategy(
    "compose",
    "no suspects; ambiguous rows and a share of easy ones",
    choose,
    needs=("variability", "confidence", SUSPECT),
    share=0.25,
)

"""Label-free scores of candidates."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.pairs.matcher.blocked import COMBINED, Blocked
from cartograph.pairs.pair_space import PairSpace

ALIKE = {(0, 1): 0.9, (2, 3): 0.9, (0, 2): 0.65, (4, 5): 0.3}


def combined(symmetric: bool) -> dict[tuple[int, int], float]:
    space = PairSpace(np.arange(6), np.arange(6), 6, symmetric)
    keys = space.keys(*np.array(list(ALIKE)).T)
    order = np.argsort(keys)
    table = np.array(list(ALIKE.values()), np.float32)[order, None]
    score = Blocked(space, 6, keys[order], np.ones(4, bool), ("text: words",), table).scores[COMBINED]
    pairs = [list(ALIKE)[place] for place in order.tolist()]
    return dict(zip(pairs, score.tolist(), strict=True))


def test_in_one_table_two_records_without_a_partner_are_no_match_for_being_each_others_best() -> None:
    found = combined(symmetric=True)
    assert found[0, 2] > found[4, 5], "0, 1, 2 and 3 are one thing; 4 and 5 have nothing better than each other"
    assert found[0, 1] == max(found.values())


def test_between_two_tables_being_each_others_best_counts_most() -> None:
    found = combined(symmetric=False)
    assert found[4, 5] == pytest.approx((0.3 + 1 + 1) / 3)
    assert found[4, 5] > combined(symmetric=True)[4, 5]

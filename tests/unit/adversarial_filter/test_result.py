from __future__ import annotations

import numpy as np

from cartograph.adversarial_filter.result import hardest_first


def test_hardest_first_lists_what_stayed_then_what_went_last() -> None:
    order = hardest_first(np.array([0, 2, 1, 0, 2], np.int32), np.array([0.5, 0.8, 1.0, np.nan, 0.9]), np.random.default_rng(0))
    assert order.tolist() == [3, 0, 1, 4, 2]

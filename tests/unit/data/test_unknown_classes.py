"""Classes that models do not know: nearly all of their rows are suspects, and hardly any of them is surely right."""

from __future__ import annotations

import numpy as np

from cartograph.data.unknown_classes import unknown_classes


def test_a_class_with_five_rows_that_are_surely_right_is_known_however_many_are_suspects() -> None:
    labels = np.repeat([0, 1, 2, 3], [100, 100, 100, 10])
    wrong = np.full(310, 0.3)
    wrong[[*range(90), *range(100, 185), *range(200, 279), *range(300, 310)]] = 0.9
    wrong[185:190] = 0.05
    # Of class 1 fifteen rows are no suspects, five of them surely right; of class 2 more than a fifth are none.
    assert unknown_classes(labels, wrong > 0.5, 5, wrong).tolist() == [0, 3]
    wrong[189] = 0.1
    assert unknown_classes(labels, wrong > 0.5, 5, wrong).tolist() == [0, 1, 3]

from __future__ import annotations

import numpy as np

from cartograph.clean.row_weights import row_weights


def test_rows_weigh_by_how_likely_their_label_is_right_and_less_where_the_suggested_one_is_likelier() -> None:
    wrong, suggested = np.array([0.0, 0.4, 0.4, 0.4, 0.6, 0.9]), np.array([0.3, 0.9, 0.4, 0.1, 0.2, 0.9])
    weights = row_weights(wrong, suggested, np.ones(6, bool), np.array([], int))
    # Of the other classes the suggested one has no more than what the label has not.
    np.testing.assert_allclose(weights, 6 * np.array([1.0, 0.2, 0.2, 0.5, 0.2, 0.0]) / 2.1, rtol=1e-6)
    left = row_weights(wrong, suggested, np.array([True] * 5 + [False]), np.array([4]))
    np.testing.assert_allclose(left, 5 * np.array([1.0, 0.2, 0.2, 0.5, 1.0, 0.0]) / 2.9, rtol=1e-6)
    # Where few labels are wrong, exceptions among right ones are not taken away altogether.
    among = row_weights(np.append(wrong, np.zeros(994)), np.append(suggested, np.zeros(994)), np.ones(1_000, bool), np.array([], int))
    np.testing.assert_allclose(among[:6] / among[-1], [1.0, 0.4, 0.4, 0.55, 0.3, 0.0], atol=0.01)

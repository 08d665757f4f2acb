from __future__ import annotations

import numpy as np
import pytest

from cartograph.clean.row_weights import row_weights


def test_rows_weigh_by_how_likely_their_label_is_right_and_less_where_the_suggested_one_is_likelier() -> None:
    wrong, suggested = np.array([0.0, 0.4, 0.4, 0.4, 0.6, 0.9]), np.array([0.3, 0.9, 0.4, 0.1, 0.2, 0.9])
    one, none = np.zeros(6, int), np.array([], int)
    weights = row_weights(wrong, suggested, one, np.ones(6, bool), none)
    # Of the other classes the suggested one has no more than what the label has not.
    np.testing.assert_allclose(weights, 6 * np.array([1.0, 0.2, 0.2, 0.5, 0.2, 0.0]) / 2.1, rtol=1e-6)
    left = row_weights(wrong, suggested, one, np.array([True] * 5 + [False]), np.array([4]))
    np.testing.assert_allclose(left, 5 * np.array([1.0, 0.2, 0.2, 0.5, 1.0, 0.0]) / 2.9, rtol=1e-6)
    # Where few labels are wrong, exceptions among right ones are not taken away altogether.
    among = row_weights(
        np.append(wrong, np.zeros(994)), np.append(suggested, np.zeros(994)), np.zeros(1_000, int), np.ones(1_000, bool), none
    )
    np.testing.assert_allclose(among[:6] / among[-1], [1.0, 0.4, 0.4, 0.55, 0.3, 0.0], atol=0.01)


def test_a_class_that_is_much_doubted_is_brought_half_the_way_to_as_much_as_is_right_of_it() -> None:
    wrong, labels = np.array([0.0] * 80 + [0.4] * 10 + [0.9] * 10), np.array([0] * 80 + [1] * 20)
    weights = row_weights(wrong, wrong, labels, np.ones(100, bool), np.array([], int))
    of_each = np.bincount(labels, weights=weights)
    assert weights[:80].max() == weights[:80].min() and (weights[90:] == 0).all()
    # By what exceeds the suggestion ten rows of the second class would count .27 of a sure one; seven of twenty are expected to be right.
    assert of_each[1] / of_each[0] == pytest.approx(np.sqrt(2.7 * 7) / 80, rel=1e-5)
    kept = row_weights(wrong, wrong, labels, np.ones(100, bool), np.array([95]))
    # Of the nineteen others 2.7 count and 6.9 are expected to be right: a row that people kept counts as a sure one beside them.
    assert kept[95] == kept[80:].max() and kept[95] / kept[0] == pytest.approx(np.sqrt(6.9 / 2.7), rel=1e-5)

"""Labels are put right where a row then has a set of labels that another row has."""

from __future__ import annotations

import numpy as np

from cartograph.clean.whole_sets import turned_as_sets


def test_a_row_of_one_label_keeps_one() -> None:
    rng = np.random.default_rng(1)
    given = np.eye(4, dtype=bool)[rng.integers(0, 4, 300)]
    sure, listed = rng.random(given.shape) < 0.1, rng.random(given.shape) < 0.3
    turned = turned_as_sets(given, sure, listed | sure)
    assert ((given ^ turned).sum(axis=1) == 1).all()
    changed = turned.any(axis=1)
    assert 5 < changed.sum() < sure.any(axis=1).sum()
    assert (turned[changed] >= sure[changed]).all() and not (turned & ~(sure | listed)).any()


def test_labels_that_hang_on_nothing_are_turned_as_they_are() -> None:
    rng = np.random.default_rng(2)
    given, sure = rng.random((500, 3)) < 0.5, rng.random((500, 3)) < 0.1
    np.testing.assert_array_equal(turned_as_sets(given, sure, sure), sure)

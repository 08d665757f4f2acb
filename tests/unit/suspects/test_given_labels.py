"""What given labels are weighed by: a posterior by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.suspects.given_labels import posterior


def test_a_label_is_wrong_as_far_as_other_classes_are_labelled_so() -> None:
    true_classes, transition = np.array([[0.9, 0.1], [0.0, 1.0]]), np.array([[0.8, 0.2], [0.1, 0.9]])
    # Labelled 1: of class 0 with .9 · .2, of class 1 with .1 · .9.
    assert posterior(true_classes, transition, np.array([1, 1]))[0] == pytest.approx(0.18 / 0.27)
    sure = posterior(true_classes, transition, np.array([0, 1]))[1]
    assert 0 < sure < 1e-11, "a model may be certain, and yet no label is beyond doubt"

"""Agreement of annotators against a plain count."""

from __future__ import annotations

import doctest
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.maps import human_agreement
from cartograph.maps.human_agreement import annotator_agreement


def test_the_examples_in_its_docstrings_hold() -> None:
    assert doctest.testmod(human_agreement).failed == 0


def plainly(labels: list[int]) -> float:
    found = []
    for place, label in enumerate(labels):
        others = Counter(labels[:place] + labels[place + 1 :])
        most = [other for other, count in others.items() if count == max(others.values())]
        found.append((label in most) / len(most))
    return sum(found) / len(found)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=2, max_size=7))
def test_agreement_is_each_annotator_against_the_others(labels: list[int]) -> None:
    counts = np.bincount(labels, minlength=3)[None, :]
    assert annotator_agreement(counts)[0] == pytest.approx(plainly(labels))


def test_one_annotator_agrees_with_nobody() -> None:
    assert np.isnan(annotator_agreement(np.array([[1, 0], [0, 0]]))).all()

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.pairs.splits import SPLITS, split_components
from cartograph.pairs.task import Task


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(0, 9))
def test_a_component_stays_in_one_split(raw: list[int], seed: int) -> None:
    _, component = np.unique(raw, return_inverse=True)
    split = split_components(component, np.random.default_rng(seed))
    for number in set(component.tolist()):
        assert len(set(split[component == number].tolist())) == 1
    assert set(split.tolist()) <= {0, 1, 2}


def test_splits_have_their_shares() -> None:
    split = split_components(np.repeat(np.arange(1000), 3), np.random.default_rng(0))
    assert np.abs(np.bincount(split) / 3000 - [0.5, 0.25, 0.25]).max() < 0.002


def test_right_utterances_are_shared_by_all_splits() -> None:
    task = Task(
        ["q", "r"], ["a", "b", "c"], np.array([0, 2], np.int8), False, False, np.array([0, 1]), np.array([2, 2]), np.array([1, 1], np.int8)
    )
    assert [task.space(split).size for split in SPLITS] == [3, 0, 3]
    assert task.positives("test").tolist() == [5]

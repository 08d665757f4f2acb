"""Runs of one label that a mixed file does not have, and those that it has."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.suspects.label_runs import Run, label_runs


def pasted(true: np.ndarray, first: int, last: int, label: int) -> np.ndarray:
    given = true.copy()
    given[first : last + 1] = label
    return given


def test_each_run_that_was_pasted_is_found_the_most_suspects_first() -> None:
    true = np.random.default_rng(1).integers(0, 10, 1000)
    true[[99, 130, 499, 580]] = 9
    given = pasted(pasted(true, 100, 129, 3), 500, 579, 4)
    wrong = given != true
    assert label_runs(given, wrong) == [
        Run(4, 500, 579, int(wrong[500:580].sum())),
        Run(3, 100, 129, int(wrong[100:130].sum())),
    ]


def test_the_label_may_stand_nowhere_else_or_be_the_commonest() -> None:
    true = np.random.default_rng(2).choice(4, 800, p=[0.7, 0.1, 0.1, 0.1])
    for label in (0, 7):
        given = pasted(true, 300, 379, label)
        assert [run.label for run in label_runs(given, given != true)] == [label]


@pytest.mark.parametrize("seed", range(20))
def test_of_files_without_a_run_none_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true, suspect = rng.choice(3, 2000, p=[0.8, 0.1, 0.1]), rng.random(2000) < 0.1
    assert label_runs(true, suspect) == []
    by_class, in_groups = np.sort(true), np.repeat(rng.integers(0, 6, 50), 40)
    assert label_runs(by_class, suspect) == label_runs(in_groups, suspect) == []
    # Suspects that gather in a group, as of one document, whose rows have one label as those of all others do.
    assert label_runs(in_groups, suspect | (np.arange(2000) // 40 == 7)) == []


def test_a_run_without_suspects_or_with_no_more_than_others_is_none() -> None:
    true = np.random.default_rng(3).integers(0, 5, 600)
    given = pasted(true, 200, 249, 1)
    assert label_runs(given, np.arange(600) % 60 == 0) == []
    assert label_runs(given, np.arange(600) % 4 == 0) == []
    assert label_runs(np.array([1]), np.array([True])) == []

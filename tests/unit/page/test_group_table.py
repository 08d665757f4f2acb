"""Groups of an evaluation set's rows as a table, from hand-made predictions of which every accuracy is known."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.compare.versions import EvaluationSet, compare_versions
from cartograph.page.group_table import group_table

LEARNT = {(name, seed): False for name in ("original", "cleaned") for seed in (1, 2)}


def whole() -> EvaluationSet:
    """Forty rows of class 0: `original` is right on the first thirty, `cleaned` on the first thirty-five."""
    right = {"original": 30, "cleaned": 35}
    predicted = {(name, seed): (np.arange(40) >= rows).astype(np.int64) for name, rows in right.items() for seed in (1, 2)}
    return EvaluationSet("test", "ood", np.zeros(40, np.int64), predicted)


def test_each_group_is_a_line_the_largest_first() -> None:
    of_set = whole()
    small, large = of_set.group("far away", np.arange(30, 40)), of_set.group("near", np.arange(0, 30))
    compared = compare_versions([of_set, small, large], LEARNT, ("accuracy",), resamples=200, seed=1)
    table = group_table(compared.of_groups(), "accuracy")
    assert table is not None
    assert [line[:5] for line in table.cells] == [["near", "test", 30, 100.0, 100.0], ["far away", "test", 10, 0.0, 50.0]]
    assert [line[5] for line in table.cells] == pytest.approx([0.0, 50.0])
    assert str(table.cells[1][6]).startswith("+") and " to +" in str(table.cells[1][6])
    assert compared.of_sets().summary["set"].unique().to_pylist() == ["test"]


def test_without_groups_there_is_no_table() -> None:
    compared = compare_versions([whole()], LEARNT, ("accuracy",), resamples=50, seed=1)
    assert group_table(compared.of_groups(), "accuracy") is None
    assert group_table(None, "accuracy") is None

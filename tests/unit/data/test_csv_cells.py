"""Cells are as long as the limit allows, whatever another reader of the process had set."""

from __future__ import annotations

import csv

import pytest

from cartograph.data.csv_cells import MAX_CELL, csv_reader


@pytest.mark.parametrize("before", [10, 131_072, 10 * MAX_CELL])
def test_the_limit_does_not_depend_on_who_read_before(before: int) -> None:
    csv.field_size_limit(before)
    assert [len(cell) for (cell,) in csv_reader(["x" * MAX_CELL])] == [MAX_CELL]
    with pytest.raises(csv.Error, match="field limit"):
        next(csv_reader(["x" * (MAX_CELL + 1)]))


def test_quotes_are_strict() -> None:
    assert next(csv_reader(['a;"b;c"'], delimiter=";")) == ["a", "b;c"]
    with pytest.raises(csv.Error):
        next(csv_reader(['"a"b,c']))

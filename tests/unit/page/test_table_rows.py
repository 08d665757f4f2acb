"""The rows of a table of features as a page carries them."""

from __future__ import annotations

import numpy as np

from cartograph.page.table_rows import table_of_rows
from tests.training_sets import small_table


def test_values_by_column_with_what_is_unusual_and_what_is_usual() -> None:
    found = table_of_rows(small_table(), np.array([3, 5]), np.array([True, False]), 100_000)["table"]
    assert found["names"] == ["size", "colour", "seen"]
    assert [len(column) for column in found["values"]] == [2, 2, 2]
    assert [len(column) for column in found["usual"]] == [2, 2, 2] and found["usual"][1] == ["red", "blue"]
    assert all(set(places) <= {0, 1, 2} for places in found["unusual"])


def test_rows_that_no_section_lists_keep_only_what_is_unusual_where_room_is_short() -> None:
    found = table_of_rows(small_table(), np.arange(60), np.arange(60) < 10, 100)["table"]
    assert all(any(column[row] for column in found["values"]) for row in range(10))
    for row in range(10, 60):
        shown = {place for place, column in enumerate(found["values"]) if column[row]}
        assert shown <= set(found["unusual"][row])

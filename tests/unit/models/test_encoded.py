from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cartograph.models.encoded import Examples, Ragged, read_batches


@given(st.lists(st.lists(st.integers(0, 99), max_size=5), min_size=1, max_size=8), st.data())
def test_rows_are_taken_and_padded_as_lists_would_be(rows: list[list[int]], data: st.DataObject) -> None:
    ragged = Ragged(np.array([value for row in rows for value in row], np.int32), np.cumsum([0, *map(len, rows)]))
    picked = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=6))
    taken = ragged.take(np.array(picked))
    assert taken.lengths.tolist() == [len(rows[place]) for place in picked]
    assert taken.values.tolist() == [value for place in picked for value in rows[place]]
    width = -(-max(1, *(len(rows[place]) for place in picked), 1) // 4) * 4
    assert taken.padded(-1, 4).tolist() == [rows[place] + [-1] * (width - len(rows[place])) for place in picked]


def test_examples_are_shown_by_their_size() -> None:
    examples = Examples(np.array(["a", "b"], object), np.array([0, 1]), {"first": Ragged(np.zeros(2, np.int32), np.arange(3))})
    assert repr(examples) == "Examples(2 rows, fields first)"


@given(st.lists(st.integers(0, 200), max_size=60), st.integers(1, 9), st.booleans())
def test_batches_that_are_only_read_hold_every_row_once_and_take_no_more_room_than_the_longest(
    lengths: list[int], size: int, fill: bool
) -> None:
    found = np.array(lengths, np.int64)
    batches = read_batches(found, size, fill=fill)
    assert sorted(row for rows in batches for row in rows.tolist()) == list(range(len(lengths)))
    room = size * max([8, *lengths])
    for rows in batches[:-1]:
        assert len(rows) == size if not fill else len(rows) >= size
        assert len(rows) * max(found[rows].max(), 8) <= room
    longest = [found[rows].max() for rows in batches]
    assert longest == sorted(longest, reverse=True)


def test_rows_that_are_all_alike_are_read_in_their_own_order() -> None:
    batches = read_batches(np.ones(5, np.int64), 2, fill=True)
    assert [rows.tolist() for rows in batches] == [[0, 1], [2, 3], [4]]

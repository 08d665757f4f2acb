"""Rows that share a text are one group."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.data.shared_texts import linked_rows, shared_texts
from tests.training_sets import info_of, table


def test_rows_with_the_same_premise_are_a_group_and_so_are_chains() -> None:
    premises = np.array([0, 0, 0, 1, 2, *range(10, 50)])
    hypotheses = np.array([100, 101, 102, 102, 103, *range(200, 240)])
    groups = linked_rows([premises, hypotheses])
    assert groups is not None
    # Row 3 shares its hypothesis with row 2, and so belongs to the premise of rows 0 to 2.
    assert groups[:5].tolist() == [0, 0, 0, 0, 1]
    assert sorted(np.bincount(groups).tolist(), reverse=True)[:2] == [4, 1]


def test_a_text_that_is_once_the_first_and_once_the_second_links_too() -> None:
    first, second = np.arange(40), np.arange(100, 140)
    second[7] = 3
    groups = linked_rows([first, second])
    assert groups is not None
    assert groups[7] == groups[3]
    assert groups.max() + 1 == 39


def test_where_chains_link_most_rows_the_text_that_repeats_itself_most_groups() -> None:
    rows = np.arange(120)
    # Questions of four candidates, candidates of two questions each: one chain through all rows.
    questions, candidates = rows // 4, 1000 + (rows + 2) % 120 // 2 * 2 % 118
    chained = linked_rows([questions, candidates])
    assert chained is not None
    np.testing.assert_array_equal(chained, questions)


def test_nothing_is_linked_where_every_text_is_its_own_or_one_text_is_in_every_row() -> None:
    rows = np.arange(50)
    assert linked_rows([rows, 100 + rows]) is None
    assert linked_rows([np.zeros(50, int), 100 + rows]) is None
    assert linked_rows([np.zeros(50, int), np.ones(50, int)]) is None
    assert linked_rows([np.zeros(0, int), np.zeros(0, int)]) is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(40, 100)), min_size=1, max_size=80))
def test_no_text_is_in_two_groups_unless_a_field_groups_alone(pairs: list[tuple[int, int]]) -> None:
    fields = [np.array(column) for column in zip(*pairs, strict=True)]
    groups = linked_rows(fields)
    if groups is None:
        return
    assert np.bincount(groups).max() <= 0.1 * len(pairs)
    whole = [all(len(np.unique(groups[field == text])) == 1 for text in np.unique(field)) for field in fields]
    assert any(whole)


def test_a_table_of_pairs_is_grouped_by_its_texts_and_single_texts_are_not() -> None:
    premises = [f"premise {row // 3}" for row in range(60)]
    hypotheses = [f"hypothesis {row}" for row in range(60)]
    pairs = table(info_of("pair"), {"premise": premises, "hypothesis": hypotheses}, [row % 2 for row in range(60)])
    once = shared_texts(pairs)
    assert once is not None
    chunked = shared_texts(pa.concat_tables([pairs.slice(0, 7), pairs.slice(7)]))
    np.testing.assert_array_equal(once, chunked)
    np.testing.assert_array_equal(np.bincount(once), np.full(20, 3))
    assert len({tuple(once[row : row + 3]) for row in range(0, 60, 3)}) == 20
    single = table(info_of("single"), {"text": premises}, [row % 2 for row in range(60)])
    assert shared_texts(single) is None

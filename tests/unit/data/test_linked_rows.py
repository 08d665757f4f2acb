"""Rows that share a text, or what the user says links them, are one group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.data.linked_rows import LARGEST, MOST, linked_rows, linked_texts, named_by, row_copies, row_groups, same_rows, user_groups
from cartograph.errors import InputError
from cartograph.schema import LINKED, VALUES
from tests.training_sets import info_of, small_table, table


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
    once = row_groups(pairs)
    assert once is not None
    chunked = row_groups(pa.concat_tables([pairs.slice(0, 7), pairs.slice(7)]))
    np.testing.assert_array_equal(once, chunked)
    np.testing.assert_array_equal(np.bincount(once), np.full(20, 3))
    assert len({tuple(once[row : row + 3]) for row in range(0, 60, 3)}) == 20
    single = table(info_of("single"), {"text": premises}, [row % 2 for row in range(60)])
    assert row_groups(single) is None


def test_copies_are_of_one_text_and_one_group_and_pairs_must_share_both() -> None:
    premises = [f"premise {row // 3}" for row in range(60)]
    hypotheses = [f"hypothesis {row - row % 3 + min(row % 3, 1)}" for row in range(60)]
    pairs = table(info_of("pair"), {"premise": premises, "hypothesis": hypotheses}, [row % 2 for row in range(60)])
    copies = row_copies(pairs, row_groups(pairs))
    assert copies is not None and copies[:6].tolist() == [0, 1, 1, 2, 3, 3]
    apart = row_copies(pairs, np.arange(60))
    assert apart is not None and len(set(apart.tolist())) == 60
    assert row_copies(pairs, None) is None


@pytest.mark.parametrize(("copies", "rows", "linked"), [(1, 600, False), (2, 600, True), (4, 600, True), (5, 600, False), (3, 480, False)])
def test_copies_of_a_text_are_linked_where_they_are_many_but_not_those_of_a_frequent_one(copies: int, rows: int, linked: bool) -> None:
    half = rows // 2
    texts = [f"copied {row // copies}" for row in range(half)] + [f"alone {row}" for row in range(rows - half)]
    groups = row_groups(table(info_of("single"), {"text": texts}, [row % 2 for row in range(rows)]))
    assert (groups is not None) == linked
    if groups is not None:
        assert len(set(groups[:half].tolist())) == half // copies and len(set(groups[half:].tolist())) == rows - half
        assert all(len(set(groups[row : row + copies].tolist())) == 1 for row in range(0, half, copies))
    same = linked_texts(texts)
    assert same is None if groups is None else np.array_equal(same, groups)


@pytest.mark.parametrize(("labelled_apart", "linked"), [(0, True), (2, True), (20, False)])
def test_frequent_texts_are_linked_where_nearly_all_have_one_label_on_all_their_rows(labelled_apart: int, linked: bool) -> None:
    texts, labels = [f"copied {row // 6}" for row in range(600)], [row // 6 % 2 for row in range(600)]
    for text in range(labelled_apart):
        labels[6 * text] = 1 - labels[6 * text]
    groups = row_groups(table(info_of("single"), {"text": texts}, labels))
    assert (groups is not None) == linked
    if groups is not None:
        assert np.bincount(groups).tolist() == [1] * 6 * labelled_apart + [6] * (100 - labelled_apart)
        assert np.array_equal(linked_texts(texts, None, np.array(labels)), groups)


def test_one_frequent_text_does_not_undo_the_copies_of_others() -> None:
    texts = ["ok"] * 200 + [f"copied {row // 2}" for row in range(500)] + [f"alone {row}" for row in range(300)]
    labels = [0] * 200 + [row // 2 % 2 for row in range(500)] + [row % 2 for row in range(300)]
    groups = row_groups(table(info_of("single"), {"text": texts}, labels))
    assert groups is not None and np.bincount(groups).tolist() == [1] * 200 + [2] * 250 + [1] * 300


@pytest.mark.parametrize("copies", [2, 5])
def test_rows_of_equal_values_are_linked_in_a_table_too(copies: int) -> None:
    once = small_table(600)
    own = row_groups(once)
    rows = once.slice(0, 600 // copies)
    groups = row_groups(pa.concat_tables([rows] * copies))
    assert groups is not None and np.bincount(groups).min() == copies
    assert np.array_equal(groups[: len(rows)], groups[len(rows) : 2 * len(rows)])
    # A handful of rows that are equal by chance was not copied.
    assert own is None


def test_single_texts_of_the_same_words_are_copies_whatever_stands_between_them() -> None:
    ends = (".", "!", " ...", "")
    texts = [f"a word {row // 2}{ends[row % 4]}" for row in range(600)]
    rows = table(info_of("single"), {"text": texts}, [row % 2 for row in range(600)])
    groups = row_groups(rows)
    assert groups is not None and np.bincount(groups).tolist() == [2] * 300
    copies = row_copies(rows, groups)
    assert copies is not None and np.array_equal(copies, groups)
    given_texts = linked_texts(texts)
    assert given_texts is not None and np.array_equal(given_texts, groups)
    assert same_rows(rows, groups) is None


def test_equal_rows_of_a_table_are_copies_unless_they_may_agree_by_chance() -> None:
    once = small_table(600)
    twice = pa.concat_tables([once.slice(0, 300)] * 2)
    groups = row_groups(twice)
    copies = row_copies(twice, groups)
    # Of rows whose size is missing the colour and the day may be another's, too.
    sized = np.array([row["size"] is not None for row in twice[VALUES].to_pylist()])
    assert copies is not None and (np.bincount(copies[sized])[np.unique(copies[sized])] == 2).all()
    few = [{"size": None, "colour": colour, "seen": None} for colour in ("red", "blue") * 300]
    plain = once.set_column(once.schema.get_field_index(VALUES), once.schema.field(VALUES), pa.array(few, once.schema.field(VALUES).type))
    apart = row_copies(plain, np.arange(600) // 2)
    assert apart is not None and len(np.unique(apart)) == 600


def test_few_copies_are_not_linked_and_texts_of_several_fields_are_copies_of_each_other_in_all_of_them() -> None:
    texts = [f"copied {row // 2}" for row in range(20)] + [f"alone {row}" for row in range(580)]
    assert row_groups(table(info_of("single"), {"text": texts}, [row % 2 for row in range(600)])) is None
    fields = {"text": [f"copied {row // 2}" for row in range(600)], "more": [str(row % 4 // 2 * row) for row in range(600)]}
    groups = row_groups(table(replace(info_of("single"), text=("text", "more")), fields, [row % 2 for row in range(600)]))
    assert groups is not None and np.bincount(groups).tolist() == [2, 1, 1] * 150


# --- what the user links


def linked_to(rows: pa.Table, numbers: list[int | None]) -> pa.Table:
    return rows.append_column(LINKED, pa.array(numbers, pa.int32()))


def test_the_same_rows_are_numbered_alike_but_not_those_of_a_frequent_text_nor_of_rows_that_are_linked() -> None:
    texts = ["A dog barks.", "a DOG barks", "!!!", "???", "a cat", *["yes"] * 5]
    rows = table(info_of("single"), {"text": texts}, [row % 2 for row in range(10)])
    number = same_rows(rows, None)
    assert number is not None and number.tolist() == [0, 0, *range(1, 9)]
    assert same_rows(rows, np.zeros(10, int)) is None
    assert same_rows(rows.slice(2), None) is None
    pairs = {"premise": ["a dog", "A dog", "a dog"], "hypothesis": ["barks", "barks!", "runs"]}
    both = same_rows(table(info_of("pair"), pairs, [0, 1, 0]), None)
    assert both is not None and both.tolist() == [0, 0, 1]


def test_rows_that_the_user_linked_are_a_group_and_others_stand_alone() -> None:
    rows = table(info_of("single"), {"text": [f"row {row}" for row in range(40)]}, [0, 1] * 20)
    numbers = [5, None, 5, 9, None, 9, *[None] * 34]
    groups = row_groups(linked_to(rows, numbers))
    assert groups is not None
    assert groups.tolist() == [0, 1, 0, 2, 3, 2, *range(4, 38)]
    np.testing.assert_array_equal(user_groups(linked_to(rows, numbers)), groups)
    assert row_groups(rows) is None is user_groups(rows)
    assert row_groups(linked_to(rows, [None] * 40)) is None
    assert row_groups(linked_to(rows, list(range(40)))) is None
    assert row_groups(linked_to(rows, numbers).slice(0, 0)) is None


def test_pairs_are_linked_by_the_user_and_by_texts_even_through_others() -> None:
    texts = {"premise": [f"p{row // 2}" for row in range(80)], "hypothesis": [f"h{row}" for row in range(80)]}
    rows = table(info_of("pair"), texts, [0, 1] * 40)
    groups = row_groups(linked_to(rows, [None, 3, 3, *[None] * 77]))
    assert groups is not None
    # Row 0 shares its premise with row 1, which the user linked to row 2, which shares its own with row 3.
    assert groups[:6].tolist() == [0, 0, 0, 0, 1, 1]
    assert user_groups(rows) is None is not row_groups(rows)


def test_where_chains_of_both_link_too_many_rows_the_user_wins() -> None:
    rows = np.arange(200)
    speakers, texts = rows // 5, (rows + 2) % 200 // 5
    chained = linked_rows([1000 + texts], speakers)
    np.testing.assert_array_equal(chained, speakers)
    # Another text, that chains nothing, links all the same.
    other = np.where(rows == 199, 0, rows)
    groups = linked_rows([1000 + texts, 2000 + other], speakers)
    assert groups is not None
    assert groups[199] == groups[0]
    assert groups.max() + 1 == 39


@pytest.mark.parametrize("share", [0.2, 0.4, 0.5])
def test_what_the_user_links_may_be_larger_than_what_texts_may(share: float) -> None:
    assert share > LARGEST
    named = np.where(np.arange(100) < 100 * share, 0, 1 + np.arange(100) // 2)
    groups = linked_rows([], named)
    assert groups is not None
    assert np.bincount(groups).max() == 100 * share
    # Beside it texts link as far as chains grow no larger than that.
    texts = np.arange(100)
    texts[[98, 97]] = 96
    both = linked_rows([texts], named)
    assert both is not None
    assert both[99] == both[96] != both[0]


def test_what_links_most_rows_links_none() -> None:
    named = np.where(np.arange(100) < 100 * MOST + 1, 0, 1 + np.arange(100) // 2)
    groups = linked_rows([], named)
    assert groups is not None
    assert np.bincount(groups).max() == 2
    assert linked_rows([], np.zeros(50, int)) is None
    assert linked_rows([], np.full(50, -1)) is None
    assert linked_rows([], np.zeros(0, int)) is None


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 12), st.integers(0, 60), st.integers(40, 100)), min_size=1, max_size=80),
    st.integers(0, 2),
)
def test_no_value_of_the_user_is_in_two_groups_unless_it_is_in_most_rows(rows: list[tuple[int, int, int]], number: int) -> None:
    named, *texts = (np.array(column) for column in zip(*rows, strict=True))
    groups = linked_rows(texts[:number], named)
    shared = [value for value in np.unique(named[named >= 0]) if 1 < (named == value).sum() <= MOST * len(rows)]
    if groups is None:
        assert not shared
        return
    assert sorted(np.unique(groups).tolist()) == list(range(groups.max() + 1))
    assert all(len(np.unique(groups[named == value])) == 1 for value in shared)
    bound = max(LARGEST * len(rows), *((named == value).sum() for value in shared), 1)
    assert np.bincount(groups).max() <= bound


def test_values_are_numbered_and_nothing_is_no_value() -> None:
    assert named_by(["ann", "", "bo", "ann", None, float("nan"), " ", pd.NA], 8).tolist() == [0, -1, 1, 0, -1, -1, -1, -1]
    assert named_by(np.array([7, 7, 3]), 3).tolist() == [0, 0, 1]
    with pytest.raises(InputError, match="there are 2 values that link rows and 3 labels; give one per row"):
        named_by(["a", "b"], 3)


def test_texts_in_memory_are_linked_too() -> None:
    texts = [f"row {row}" for row in range(30)]
    groups = linked_texts(texts, np.array([0, 0, *range(1, 29)]))
    assert groups is not None
    assert groups[:3].tolist() == [0, 0, 1]
    assert linked_texts(texts) is None

"""Labels of rows that have several, from lists, separated names, and columns of 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.ingest.label_sets import Fault, label_sets, names_of
from cartograph.ingest.missing import MISSING
from cartograph.ingest.values import feature_of

TAGS = st.lists(st.sampled_from(["war", "sea & sky", "Smith, John", "été"]), unique=True, max_size=4)


def sets_of(cells: list[Any]) -> list[set[str]]:
    found = label_sets({"tags": cells}, "films.csv")
    return [{name for name, there in zip(found.names, row, strict=True) if there} for row in found.given]


@given(st.lists(TAGS, min_size=1).filter(any))
def test_lists_are_read_in_each_way_they_are_written(rows: list[list[str]]) -> None:
    import json

    wanted = [set(row) for row in rows]
    assert sets_of(list(rows)) == wanted
    assert sets_of([np.array(row, dtype=object) for row in rows]) == wanted
    assert sets_of([json.dumps(row) for row in rows]) == wanted
    assert sets_of([repr(row) for row in rows]) == wanted
    for mark in "|;":
        assert sets_of([f" {mark} ".join(row) for row in [["war", "sea & sky"], *rows]])[1:] == wanted


def test_a_comma_separates_names_only_where_nothing_else_does() -> None:
    assert sets_of(["war,love", "war", "love"]) == [{"war", "love"}, {"war"}, {"love"}]
    assert sets_of(["war|Smith, John", "a;b"]) == [{"war", "Smith, John"}, {"a", "b"}]


def test_an_empty_cell_of_separated_names_is_none_of_the_labels_and_counted() -> None:
    found = label_sets({"tags": ["war|love", "", None, "love"]}, "films.csv")
    assert found.given.sum(axis=1).tolist() == [2, 0, 0, 1] and found.faults == () and found.empty == 2
    assert (found.form, found.separator) == ("separated", "|")


def test_in_lists_what_is_missing_is_a_fault_and_an_empty_list_is_none() -> None:
    found = label_sets({"tags": [["war"], [], None, ["war", None]]}, "films.parquet")
    assert found.given.tolist() == [[True], [False], [False], [True]]
    assert found.faults == (Fault(2, "tags", None, "no label"),)
    broken = label_sets({"tags": ['["war"]', '["war", ]x]', "[1, [2]]"]}, "films.csv")
    assert [(fault.place, fault.reason) for fault in broken.faults] == [(1, "labels that are no list"), (2, "labels that are no list")]


def test_columns_of_0_and_1_are_read_however_they_are_spelled() -> None:
    found = label_sets({"war": [1, 0.0, "TRUE", "no"], "sea": [True, False, "1.0", "y"]}, "films.csv")
    assert found.names == ("war", "sea") and found.form == "columns"
    assert found.given.tolist() == [[True, True], [False, False], [True, True], [False, True]]


def test_a_cell_that_is_neither_sets_its_row_aside() -> None:
    found = label_sets({"war": ["1", "2", "0", "1"], "sea": ["1", "1", "", "0"]}, "films.csv")
    assert found.faults == (Fault(1, "war", "2", "label neither yes nor no"), Fault(2, "sea", None, "no label"))
    assert not found.given[[1, 2]].any() and found.given[3].tolist() == [True, False]


def test_one_column_of_0_and_1_is_one_label() -> None:
    found = label_sets({"spam": ["1", "0", "1"]}, "mails.csv")
    assert found.names == ("spam",) and found.given.ravel().tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["0", "1"], "b": ["x", "z"]}, "column `b` of films.csv holds neither yes nor no in 2 of 2 rows, such as 'x'"),
        ({"tags": ["", "", None]}, "column `tags` of films.csv names no label in 3 rows; expected lists, or names between"),
        ({"tags": [[], []]}, "column `tags` of films.csv names no label in 2 rows"),
    ],
)
def test_columns_without_labels_are_refused(columns: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        label_sets(columns, "films.csv")


def test_a_cells_names_keep_their_order() -> None:
    assert names_of("b|a; c", "|") == ["b", "a", "c"] and names_of('["b", "a"]') == ["b", "a"] and names_of(None) == []
    assert names_of("b, a", ",") == ["b", "a"]


@pytest.mark.parametrize("text", sorted(MISSING))
def test_what_is_missing_in_a_table_is_missing_among_labels_too(text: str) -> None:
    separated = label_sets({"tags": ["war|love", f" {text.upper()} ", "love"]}, "films.csv")
    assert (separated.names, separated.empty) == (("love", "war"), 1)
    columns = label_sets({"spam": ["1", text, "0"], "urgent": ["0", "1", "1"]}, "mails.csv")
    assert [(fault.place, fault.reason) for fault in columns.faults] == [(1, "no label")]
    assert label_sets({"tags": [["war", text], ["love"]]}, "films.json").names == ("love", "war")
    assert feature_of("x", pa.chunked_array([["1", text, "2.5"]])).kind == "number"

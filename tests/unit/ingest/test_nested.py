"""Paths that lead into lists."""

from __future__ import annotations

import pyarrow as pa

from cartograph.ingest.nested import column_at, outer_column, with_items


def test_a_path_leads_through_lists_and_objects_and_ends_in_null_where_there_is_nothing() -> None:
    lists = [['{"value": {"choices": ["good", "bad"]}}'], [], None, ["no json"]]
    table = pa.table({"a.result": pa.array(lists, pa.list_(pa.string()))})
    assert column_at(table, "a.result.0.value.choices.-1").to_pylist() == ["bad", None, None, None]
    assert column_at(table, "a.result.1.value") is None
    assert column_at(table, "b.0") is None


def test_a_column_of_json_is_led_into_as_well() -> None:
    table = pa.table({"meta": ['{"stars": 4.0}', "[1]", None]})
    assert column_at(table, "meta.stars").to_pylist() == ["4", None, None]


def test_half_of_a_surrogate_pair_is_nothing() -> None:
    table = pa.table({"meta": [r'{"text": "\ud83d"}', r'{"text": "\ud83d\ude00"}']})
    assert column_at(table, "meta.text").to_pylist() == [None, "\U0001f600"]


def test_new_items_stand_where_the_path_leads_in_whatever_form_the_column_has() -> None:
    assert outer_column(["a", "a.b"], "a.b.0.c") == "a.b"
    assert outer_column(["a", "a.b"], "a.b") is None and outer_column(["a"], "b.0") is None
    before = [['{"c": "x", "d": 1}'], [{"c": "x"}], '[{"c": "é"}]', ['{"c": "x"}']]
    after = with_items(before, "a.b", "a.b.0.c", ["y", "y", "y", None])
    assert after == [['{"c": "y", "d": 1}'], [{"c": "y"}], '[{"c": "y"}]', ['{"c": "x"}']]
    assert before[1] == [{"c": "x"}]
    assert with_items([{"b.c": "x"}, {}], "a", "a.b.c", ["y", "y"]) == [{"b.c": "y"}, {"b.c": "y"}]

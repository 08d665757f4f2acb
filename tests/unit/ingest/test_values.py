"""The values of a table of features, read from texts."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from cartograph.ingest.values import kind_of, says_nothing, table_columns
from cartograph.schema import FEATURES, UNREAD, VALUES, Feature


def column(*texts: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(texts, pa.string())])


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", " 2.5", "-3e2", "?", "", None], "number"),
        (["1,234", "12,345.5"], "number"),
        (["2024-01-31", "2024-02-01T10:00:00", "NA"], "date"),
        (["31.01.2024", "01.02.2024"], "date"),
        (["a", "b", "1"], "category"),
        (["yes", "no"], "category"),
        (["", None, "NaN"], "category"),
    ],
)
def test_the_kind_of_a_column(texts: list[str | None], kind: str) -> None:
    assert kind_of(column(*texts)) == kind


def test_one_stray_word_in_a_hundred_numbers_does_not_make_categories_of_them() -> None:
    assert kind_of(column(*map(str, range(99)), "about 7")) == "number"
    assert kind_of(column(*map(str, range(20)), "about 7")) == "category"


def test_columns_that_say_nothing() -> None:
    rows = range(100)
    assert says_nothing(column(*map(str, rows)), "number")
    assert not says_nothing(column(*(str(2 * row) for row in rows)), "number")
    assert says_nothing(column(*(f"name {row}" for row in rows)), "category")
    assert not says_nothing(column(*(f"name {row % 10}" for row in rows)), "category")
    assert says_nothing(column("", None), "number")


def test_rows_have_typed_values_a_text_and_what_could_not_be_read() -> None:
    features = (Feature("age", "number"), Feature("job; title", "category"), Feature("seen", "date"))
    found = table_columns([column("39", "old", "?"), column("clerk", "a=b", None), column("2024-01-31", "2024-01-31 10:30", "")], features)
    assert found[VALUES].to_pylist()[0] == {"age": 39.0, "job; title": "clerk", "seen": datetime.datetime(2024, 1, 31)}
    assert found[VALUES].to_pylist()[2] == {"age": None, "job; title": None, "seen": None}
    assert found[FEATURES].to_pylist()[:2] == [
        'age=39; "job; title"=clerk; seen=2024-01-31',
        'age=old; "job; title"="a=b"; seen=2024-01-31 10:30',
    ]
    assert found[FEATURES].to_pylist()[2] == ""
    assert found[UNREAD].to_pylist() == [[], ["age"], []]


def test_infinite_numbers_are_no_values() -> None:
    found = table_columns([column("1", "inf", "1e999")], [Feature("x", "number")])
    assert [row["x"] for row in found[VALUES].to_pylist()] == [1.0, None, None]
    assert found[UNREAD].to_pylist() == [[], ["x"], ["x"]]


def test_columns_without_a_value_or_a_row_and_values_that_only_look_like_some() -> None:
    features = (Feature("n", "number"), Feature("d", "date"), Feature("c", "category"))
    for texts in ((), (None, "")):
        found = table_columns([column(*texts)] * 3, features)
        assert found[VALUES].to_pylist() == [{"n": None, "d": None, "c": None}] * len(texts)
        assert found[FEATURES].to_pylist() == [""] * len(texts)
    odd = table_columns([column("0x10", "1_000"), column("2024-13-45", "1500-01-01"), column("=cmd", "a\nb")], features)
    assert odd[UNREAD].to_pylist() == [["n", "d"], ["n"]]
    assert odd[VALUES].to_pylist()[1] == {"n": None, "d": datetime.datetime(1500, 1, 1), "c": "a\nb"}
    assert odd[FEATURES].to_pylist()[1] == 'n=1_000; d=1500-01-01; c="a\\nb"'

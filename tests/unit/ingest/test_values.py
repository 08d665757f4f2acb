"""The values of a table of features, read from texts."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from cartograph.ingest.values import feature_of, says_nothing, table_columns
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
        (["31/01/2024 14:05", "01/02/2024 09:30"], "date"),
        (["01/31/24 2:05 PM", "02/01/24 11:30 AM"], "date"),
        (["Jan 31, 2024", "Feb 1, 2024"], "date"),
        (["$1,234.50", "-$3.00", "$ 7"], "number"),
        (["12.5%", "3 %"], "number"),
        (["1.234,50 €", "7,5", "-3"], "number"),
        (["1 234", "12\u202f345,5", "0,5"], "number"),
        (["1.2.3", "4.5.6"], "category"),
        (["1,2,3", "4,5,6"], "category"),
        (["$", "%"], "category"),
        (["a", "b", "1"], "category"),
        (["yes", "no"], "category"),
        (["", None, "NaN"], "category"),
    ],
)
def test_the_kind_of_a_column(texts: list[str | None], kind: str) -> None:
    assert feature_of("x", column(*texts)).kind == kind


def test_one_stray_word_in_a_hundred_numbers_does_not_make_categories_of_them() -> None:
    assert feature_of("x", column(*map(str, range(99)), "about 7")).kind == "number"
    assert feature_of("x", column(*map(str, range(20)), "about 7")).kind == "category"


def test_columns_that_say_nothing() -> None:
    rows = range(100)
    assert says_nothing(column(*map(str, rows)), Feature("x", "number"))
    assert not says_nothing(column(*(str(2 * row) for row in rows)), Feature("x", "number"))
    assert says_nothing(column(*(f"name {row}" for row in rows)), Feature("x", "category"))
    assert not says_nothing(column(*(f"name {row % 10}" for row in rows)), Feature("x", "category"))
    assert says_nothing(column("", None), Feature("x", "number"))
    odd = [str(3 * row) for row in rows]
    assert says_nothing(column(*odd), Feature("PassengerId", "number")) and not says_nothing(column(*odd), Feature("paid", "number"))
    assert not says_nothing(column(*odd, "0"), Feature("customer_id", "number")), "a customer who comes twice says something"
    assert not says_nothing(column(*odd[:20]), Feature("id", "number")) and not says_nothing(column("0.5", *odd), Feature("id", "number"))


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


def test_a_file_is_read_in_the_form_of_the_column_whatever_its_own_values_look_like() -> None:
    price, day = feature_of("price", column("1.234,50", "0,5", "3")), feature_of("day", column("31/12/2023", "01/02/2024"))
    assert (price.form, day.form) == ("decimal comma", "%d/%m/%Y")
    found = table_columns([column("1,234", "1.5"), column("02/03/2024", "2024-03-02")], (price, day))
    assert found[VALUES].to_pylist() == [{"price": 1.234, "day": datetime.datetime(2024, 3, 2)}, {"price": None, "day": None}]
    assert found[UNREAD].to_pylist() == [[], ["price", "day"]]
    found = table_columns([column("1,234", "1,234.5", "$1,000")], [feature_of("n", column("1,234", "5.5"))])
    assert [row["n"] for row in found[VALUES].to_pylist()] == [1234.0, 1234.5, 1000.0]


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

"""The forms of numbers and dates."""

from __future__ import annotations

import pandas as pd
import pytest

from cartograph.ingest.forms import COMMA, ISO, POINT, dates, form_of, numbers


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("-3e2", -300.0, None),
        ("1,234", 1234.0, 1.234),
        ("1.234", 1.234, 1234.0),
        ("1,234.5", 1234.5, None),
        ("1.234,5", None, 1234.5),
        ("1'234'567", 1234567.0, 1234567.0),
        ("1,234 567", None, None),
        ("-€5", -5.0, -5.0),
        ("€ -5", -5.0, -5.0),
        ("12 %", 12.0, 12.0),
        ("12 apples", None, None),
        ("%", None, None),
    ],
)
def test_numbers_by_form(text: str, point: float | None, comma: float | None) -> None:
    for form, expected in ((POINT, point), (COMMA, comma)):
        found = numbers(pd.Series([text, None], dtype=object), form).tolist()
        assert pd.isna(found[1])
        assert pd.isna(found[0]) if expected is None else found[0] == pytest.approx(expected)


def test_a_decimal_comma_is_assumed_only_where_more_values_can_be_read_so() -> None:
    assert form_of(pd.Series(["1,234", "2,000"]), "number") == POINT
    assert form_of(pd.Series(["1,234", "2,00"]), "number") == COMMA


def test_dates_keep_their_times_and_lose_their_zones() -> None:
    known = pd.Series(["2024-01-31T10:00:00+02:00", "31.01.2024"], dtype=object)
    assert [str(day) for day in dates(known, ISO)] == ["2024-01-31 08:00:00", "NaT"]
    assert [str(day) for day in dates(known, "%d.%m.%Y")] == ["NaT", "2024-01-31 00:00:00"]
    assert form_of(pd.Series(["31/12/2023 14:05", "01/02/2024 09:30"]), "date") == "%d/%m/%Y %H:%M"
    assert form_of(pd.Series(["a", "b"]), "date") == ISO

"""First lines that are no header."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cartograph.ingest.headers import names_by_position


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"good": ["bad", "good"], "It was one": ["It was another of them", "And a third"]}, "label,text"),
        ({"0": ["1", "0"], "i7": ["i8", "i9"], "so it began then": ["a b c d e f", "g"]}, "label,,text"),
        ({"review": ["It was great", "It was not"], "stars": ["5", "1"]}, None),
        ({"text": ["It was great", "It was not"], "label": ["good", "bad"], "column 3": ["x", "y"]}, None),
        ({"3": ["1"]}, None),
    ],
)
def test_names_by_position(columns: dict[str, list[str]], expected: str | None) -> None:
    assert names_by_position(pa.table(columns)) == expected

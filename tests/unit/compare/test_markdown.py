from __future__ import annotations

import doctest

from hypothesis import given
from hypothesis import strategies as st

from cartograph.compare import markdown as comparison_text
from cartograph.compare.markdown import digits, points


def test_the_examples_in_its_docstrings_hold() -> None:
    assert doctest.testmod(comparison_text).failed == 0


@given(st.floats(-100, 100), st.floats(0, 50))
def test_an_interval_never_seems_to_touch_what_it_excludes(low: float, wide: float) -> None:
    high = low + wide
    decimals = digits(low, high)
    for end in (low, high):
        if abs(end) >= 0.0006:
            assert float(points(end, decimals).replace("−", "-")) != 0


def test_what_is_written_as_0_has_no_sign() -> None:
    assert [points(value, 1) for value in (-0.04, 0.0, -0.06)] == ["0.0", "0.0", "−0.1"]
    assert points(-0.04, 1, signed=True) == "+0.0"


def test_names_are_no_markup() -> None:
    row = {"set": "test/[x](javascript:a) | <b>", "domain": "id", "metric": "accuracy", "subset": "original", "seeds": 1, "failed": 0}
    table = comparison_text._means([{**row, "mean": 0.5, "sd": None}], {"original": 10})
    assert "test/\\[x\\]\\(javascript:a\\) \\| &lt;b&gt; (in distribution), accuracy" in table.splitlines()[0]

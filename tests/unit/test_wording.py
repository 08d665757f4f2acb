from __future__ import annotations

import doctest

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cartograph import wording


def test_examples() -> None:
    assert doctest.testmod(wording).failed == 0


@given(st.integers(1, 10**7).flatmap(lambda whole: st.tuples(st.integers(0, whole), st.just(whole))))
def test_a_share_never_says_none_or_all_where_there_are_some_or_others(numbers: tuple[int, int]) -> None:
    part, whole = numbers
    text = wording.share(part, whole)
    assert (text == "0\u00a0%") == (part == 0)
    assert (text == "100\u00a0%") == (part == whole)
    if not text.startswith(("under", "over")):
        shown = 100 * part / whole
        assert abs(float(text.split("\u00a0")[0]) - shown) <= (0.051 if shown < 9.9 or shown > 99.1 else 0.501)


@example(0.9995)
@example(0.0005)
@given(st.floats(0, 1))
def test_percentages_are_never_rounded_to_certainty(share: float) -> None:
    text = wording.percent(share)
    assert (text == "0\u00a0%") == (share == 0) and (text == "100\u00a0%") == (share == 1)
    value = float(text.removeprefix("under ").removeprefix("over ").removesuffix("\u00a0%"))
    assert value == pytest.approx(100 * share, abs=0.51)


@given(st.text(), st.integers(1, 30))
def test_a_cut_text_is_no_longer_than_asked(text: str, limit: int) -> None:
    cut = wording.cut(text, limit)
    assert len(cut) <= limit
    assert cut == text if len(text) <= limit else cut.endswith("…") and text.startswith(cut[:-1])


def test_a_table_whose_rows_are_uneven_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a table of 2 columns \(Set, Rows\) has a row of 1 cells: \['train'\]"):
        wording.markdown_table(["Set", "Rows"], [["train"]])
    with pytest.raises(ValueError, match="has a row of 3 cells"):
        wording.markdown_table(["Set", "Rows"], [], "lrr")


def test_what_belongs_to_writing_stays() -> None:
    text = "5\u00a0% [bold] Übung 日本語 می‌خواهم 👩\u200d🔬\nnext"
    assert wording.visible(text) == text

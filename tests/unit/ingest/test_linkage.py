"""What a column links, and what is said of it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cartograph.ingest.linkage import EXPECTED, LINKS, NOT_TOO_MANY, NOT_WHOLE, Linkage, linkage_of, linked_numbers


def linkage(values: list[str | None], labels: list[int] | None = None) -> Linkage:
    texts = pa.chunked_array([values], pa.string())
    ids = labels or [row % 2 for row in range(len(values))]
    return linkage_of("speaker", texts, linked_numbers(texts), pa.chunked_array([ids], pa.int32()), ("bad", "good"))


def test_equal_values_have_one_number_in_whatever_file_and_blank_ones_none() -> None:
    numbers = linked_numbers(pa.chunked_array([["ann", None, " "], ["bo", "ann ", "Ann"]], pa.string()))
    assert numbers.to_pylist() == [0, None, None, 1, 0, 2]
    assert numbers.type == pa.int32()
    assert linked_numbers(pa.chunked_array([], pa.string())).to_pylist() == []


def test_rows_are_held_out_together_and_it_says_how_many() -> None:
    found = linkage([f"s{row // 3}" for row in range(60)] + ["", None, "alone"])
    assert (found.used, found.linked, found.groups, found.most) == (63, 60, 20, 3)
    assert found.sentence == "Rows with the same `speaker` are held out together: 60 of 63 in 20 groups."
    assert found.warnings == {}


@pytest.mark.parametrize("values", [[f"s{row}" for row in range(40)], [""] * 40])
def test_a_column_that_links_nothing_is_doubtful(values: list[str]) -> None:
    found = linkage([*values])
    assert found.sentence == "`speaker` links no rows."
    assert found.warnings == {LINKS: "no value of `speaker` is in two rows, so each is held out on its own"}


@pytest.mark.parametrize(
    ("rows", "held"),
    [(30, "together, so models that score them learn from the others alone"), (60, "on their own")],
)
def test_a_value_in_too_many_rows_is_named(rows: int, held: str) -> None:
    found = linkage(["ann"] * rows + [f"s{row // 2}" for row in range(100 - rows)])
    assert found.warnings == {NOT_TOO_MANY: f"“ann” of `speaker` is in {rows} of 100 rows ({rows}\xa0%), which are held out {held}"}
    assert found.linked == (100 if rows == 30 else 40)


def test_a_class_that_is_linked_as_a_whole_is_named() -> None:
    found = linkage(["ann"] * 4 + [f"s{row // 2}" for row in range(60)], [1] * 4 + [0] * 60)
    assert found.warnings == {NOT_WHOLE: "rows of “good” have one `speaker` each, so no model that scores them knows their class"}
    # Its only row is no whole.
    assert linkage(["ann", *(f"s{row // 2}" for row in range(60))], [1] + [0] * 60).warnings == {}


def test_every_finding_has_what_was_expected() -> None:
    assert set(EXPECTED) == {LINKS, NOT_TOO_MANY, NOT_WHOLE}
    assert EXPECTED[NOT_TOO_MANY] == "at most 10\xa0% of the rows"

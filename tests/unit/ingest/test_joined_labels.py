from __future__ import annotations

import pytest

from cartograph.ingest.joined_labels import joined_sentence


@pytest.mark.parametrize("mark", ["|", "; ", ", "])
def test_names_that_several_classes_join_are_labels_of_their_own(mark: str) -> None:
    counts = {f"sphinx{mark}docs": 9, f"sphinx{mark}web": 20, f"docs{mark}web": 3, "docs": 5, "web": 2}
    said = joined_sentence(counts)
    start = f"Some classes may be several labels in one cell, such as `sphinx{mark}web`: 5 classes are made of 3 names. If so, each is "
    assert said.startswith(start)
    assert "--labels COLUMN" in said


@pytest.mark.parametrize(
    "names",
    [
        ("pos", "neg", "neutral"),
        ("Arts, crafts", "Food, drink", "Home, garden", "Sport"),
        ("Lyon, France", "Nice, France", "Rome, Italy", "Pisa, Italy"),
        ("war|love", "war", "love"),
        ("a", "b; c", "c; b"),
    ],
)
def test_of_classes_as_they_are_nothing_is_said(names: tuple[str, ...]) -> None:
    assert joined_sentence(dict.fromkeys(names, 10)) == ""


def test_classes_without_a_row_do_not_count() -> None:
    assert joined_sentence({"a; b": 3, "b; c": 4, "c; a": 5, "a": 0, "b": 0, "c": 0}) == ""
    assert joined_sentence({"a; b": 3, "b; c": 4, "c; a": 5, "a": 1, "b": 0, "c": 0})

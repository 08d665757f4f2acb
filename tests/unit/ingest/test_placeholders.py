from __future__ import annotations

import pytest

from cartograph.ingest.placeholders import placeholders, placeholders_phrase, placeholders_sentence

_WORDS = "? ??? -- NA n/a N.A. #N/A <NA> none None. NULL (null) Unknown <unk> __unknown__ nan NaT nil not_labelled #REF!"


@pytest.mark.parametrize("name", [*_WORDS.split(), "\u2014", "\uff1f", "Un\u200blabelled", "no label", "Not  available"])
def test_what_stands_for_no_label_is_found(name: str) -> None:
    assert placeholders({"pos": 9, name: 2}) == (name,)


@pytest.mark.parametrize(
    "name", ["0", "-1", "no", "neutral", "other", "nap", "nana", "ref", "N", "?!", "+", "#", ".", "()", "none of these"]
)
def test_what_is_a_name_is_not(name: str) -> None:
    assert placeholders({"pos": 9, name: 2, "NA": 0}) == ()


def test_minus_one_beside_three_ids_or_more_is_one() -> None:
    assert placeholders({"-1": 4, "0": 9, "1": 9, "2": 9}) == ("-1",)
    for grades in (["-1", "0", "1"], ["-2", "-1", "0", "1", "2"], ["-1", "1", "2", "3"], ["-1", "0", "1", "2", "x"]):
        assert placeholders(dict.fromkeys(grades, 9)) == ()


def test_the_most_frequent_are_named_with_what_sets_their_rows_aside() -> None:
    counts = {"pos": 9, "NA": 1200, "?": 3, "null": 3, "nan": 2, "nil": 1, 'none"': 1, "tbd": 1}
    assert placeholders_phrase(counts, ("-", "x")) == (
        "`NA` 1,200 rows, `?` 3, `null` 3, `nan` 2, `nil` 1, and 2 more such classes; if these rows have no label, "
        'set ingest.unlabelled: ["-", "x", "NA", "?", "null", "nan", "nil", …] and they are set aside'
    )


def test_nothing_is_said_where_there_are_none() -> None:
    assert placeholders_sentence({"pos": 9, "neg": 3}) == ""

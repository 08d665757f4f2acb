from __future__ import annotations

import random
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.ingest.misspelt import _DISTINCT, misspelt


@pytest.mark.parametrize(
    "other",
    ["positivee", "spositive", "ositive", "pasitive", "psoitive", "positiev", "posi tive", "positives", "xpositive", "positivo"],
)
def test_one_slip_is_found(other: str) -> None:
    assert misspelt({"positive": 400, other: 3, "negative": 300}) == {other: "positive"}


@pytest.mark.parametrize(("often", "other"), [("guns", "gunss"), ("for sale", "for salee"), ("ill", "illl"), ("feed", "fed")])
def test_of_short_words_a_letter_that_is_there_twice_is_a_slip(often: str, other: str) -> None:
    found = misspelt({often: 400, other: 3, "negative": 300})
    assert found == ({} if often == "ill" else {other: often}), "two different letters are too few"


@pytest.mark.parametrize(
    ("often", "other"),
    [
        ("positive", "psitve"),
        ("aaa", "aa"),
        ("positive", "positive1"),
        ("class1", "class2"),
        ("class1", "class10"),
        ("class12", "class21"),
        ("spam", "ham"),
        ("spam", "spa"),
        ("typical", "atypical"),
        ("atypical", "typical"),
        ("type i", "type ii"),
        ("hepatitis a", "hepatitis b"),
        ("hepatitis a", "hepatitis ab"),
        ("not good", "now good"),
        ("中国人民银行", "中国农民银行"),
        ("positive", "p" * 70),
    ],
)
def test_another_name_is_not(often: str, other: str) -> None:
    assert misspelt({often: 400, other: 3, "negative": 300}) == {}


def test_only_rare_names_beside_far_more_frequent_ones_are() -> None:
    assert misspelt({"positive": 400, "psoitive": 13}) == {}
    assert misspelt({"positive": 400, "psoitive": 12}) == {"psoitive": "positive"}
    assert misspelt({"invoices": 230, "invocies": 10, "other": 660}) == {"invocies": "invoices"}
    assert misspelt({"positive": 29, "psoitive": 3, "other": 900}) == {}
    assert misspelt({"positive": 32, "psoitive": 1, "o": 0}) == {}
    assert misspelt({"positive": 33, "psoitive": 1, "other": 3}) == {"psoitive": "positive"}
    assert misspelt({"positive": 400, "psoitive": 0}) == {}
    assert misspelt({"games": 180, "game": 12, "other": 3000}) == {"game": "games"}
    assert misspelt({"games": 179, "game": 12, "other": 3000}) == {}
    assert misspelt({"games": 600, "game": 35, "other": 500}) == {}


def test_the_most_frequent_name_is_taken_and_marks_between_short_words_count() -> None:
    assert misspelt({"maples": 100, "maplex": 400, "maple": 1}) == {"maple": "maplex"}
    assert misspelt({"top_up by card": 100, "top-up by card": 1, "top_upby card": 1}) == {
        "top-up by card": "top_up by card",
        "top_upby card": "top_up by card",
    }


def one_slip(first: str, second: str) -> bool:
    """The same by its definition, for names of one word of letters."""
    edits = {first[:place] + first[place + 1 :] for place in range(len(first))}
    edits |= {
        first[:place] + letter + first[place + skip :] for place in range(len(first) + 1) for letter in set(second) for skip in (0, 1)
    }
    edits |= {first[:place] + first[place + 1 : place + 2] + first[place] + first[place + 2 :] for place in range(len(first) - 1)}
    doubled = re.sub(r"(.)\1+", r"\1", first) == re.sub(r"(.)\1+", r"\1", second) and len(set(first)) >= _DISTINCT
    return (second in edits or doubled) and first != second


@given(st.lists(st.text("bcde", min_size=5, max_size=7), min_size=1, max_size=6, unique=True), st.text("bcde", min_size=4, max_size=8))
def test_it_finds_what_comparing_all_pairs_finds(often: list[str], other: str) -> None:
    counts = {name: 500 - place for place, name in enumerate(often)} | {other: 2}
    if other in often:
        return
    expected = [name for name in often if one_slip(name, other)]
    assert misspelt(counts) == ({other: expected[0]} if expected else {})


def test_of_thousands_of_names_each_finds_its_own() -> None:
    rng = random.Random(3)
    words = sorted({"".join(rng.choices(string.ascii_lowercase, k=12)) for _ in range(5_000)})
    slips = {f"{word[:5]}{word[6:]}": word for word in words}
    assert misspelt(dict.fromkeys(words, 50) | dict.fromkeys(slips, 1)) == slips

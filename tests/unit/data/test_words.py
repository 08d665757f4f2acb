"""Words of any script are found whole."""

from __future__ import annotations

import re
from unicodedata import normalize

import pytest

from cartograph.data.words import WORD, WORD_OR_SIGN


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("हिन्दी में लिखा", ["हिन्दी", "में", "लिखा"]),
        ("বাংলা ভাষা", ["বাংলা", "ভাষা"]),
        ("العَرَبِيَّة لغة", ["العَرَبِيَّة", "لغة"]),
        (normalize("NFD", "déjà vu"), [normalize("NFD", "déjà"), "vu"]),
        ("Сложный текст 12", ["Сложный", "текст", "12"]),
    ],
)
def test_marks_are_part_of_the_word_that_they_are_on(text: str, words: list[str]) -> None:
    assert re.findall(WORD, text) == words


def test_signs_stand_alone_and_without_marks_words_are_those_of_w() -> None:
    text = "It's 5 % of “them”, isn’t it? (a_b) — 漢字。"
    assert re.findall(WORD_OR_SIGN, text) == re.findall(r"\w+|[^\w\s]", text)

from __future__ import annotations

import pytest

from cartograph.pairs.label_words import meaning
from cartograph.pairs.tables import SKIPPED


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("yes", "Y", "1", "1.0", "TRUE", "ja", "WAHR", "oui", "VRAI", "Sí", "x", " match "), 1),
        (("no", "N", "0", "0.0", "FALSE", "nein", "FALSCH", "non", "FAUX", "No  Match"), 0),
        (("skip", "?"), SKIPPED),
        (("perhaps", "2", "=1", "yes!", ""), None),
    ],
)
def test_words_of_people_and_spreadsheets(words: tuple[str, ...], expected: int | None) -> None:
    assert {meaning(word) for word in words} == {expected}

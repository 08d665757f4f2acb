"""How people and spreadsheets write that a pair is positive, negative, or not to be decided."""

from __future__ import annotations

from cartograph.pairs.tables import SKIPPED

_WORDS = {
    1: "1 1.0 1,0 yes y true x match same duplicate ja j wahr oui vrai si sí s verdadero sim sì vero",
    0: "0 0.0 0,0 no n false nomatch different nein falsch non faux falso não nao",
    SKIPPED: "skip ? -",
}
_MEANINGS = {word: meaning for meaning, words in _WORDS.items() for word in words.split()} | {
    "no match": 0,
    "non-match": 0,
    "not a match": 0,
}


def meaning(word: str) -> int | None:
    """Return 1 for a word that means yes, 0 for no, ``SKIPPED`` for a pair that is left undecided, None for any other word.

    English, German, French, Spanish, Italian and Portuguese words are known, and what spreadsheets make of TRUE and of 1.

    >>> [meaning(word) for word in ("Yes", "1.0", "FALSCH", "no match", "?", "perhaps")]
    [1, 1, 0, 0, -1, None]
    """
    return _MEANINGS.get(" ".join(word.split()).casefold())

"""Rare class names that are one slip of the keyboard away from a frequent one: a letter too many, too few, another, or two swapped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

RARE_ROWS, RARE_SHARE, TIMES, MANY_TIMES = 4, 0.03, 10, 15
"""A name may be misspelt that has a smaller share of the rows, and a frequent one so many times as many at least; more if it has more rows
than so many: a slip is copied, too (`game` for `games`)."""

_LETTERS, _DISTINCT, _LONGEST = 5, 3, 60
_BETWEEN = frozenset(" -_./")
_FIRST_IDEOGRAPH = "\u2e80"


def misspelt(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the rare names that may be a frequent one misspelt, with that one; by the frequent ones, the most frequent first.

    What differs is a letter in a word that has five letters or more in the frequent name, or a mark between words. Digits that differ make
    another name (``class1`` and ``class2``), as do ideographs, each a word of its own, and an ``a`` in front (``typical``, ``atypical``).
    Of shorter words, of three different letters at least (``AA`` and ``AAA``, ``I`` and ``II`` are no slips), a letter that is there twice.
    The time is linear in the length of the names and not in their pairs.

    Args:
        counts: name -> rows; names as ``label_forms.plain_name`` returns them.

    >>> misspelt({"negative": 900, "positive": 800, "psoitive": 2, "negatvie": 1, "neutral": 3})
    {'negatvie': 'negative', 'psoitive': 'positive'}
    >>> misspelt({"guns": 900, "cars": 800, "gunss": 2, "aaa": 500, "aa": 2})
    {'gunss': 'guns'}
    """
    total = sum(counts.values())
    slips: dict[str, list[str]] = {}
    for name, rows in counts.items():
        if 0 < rows < RARE_SHARE * total and len(name) <= _LONGEST:
            for slip in _of_rare(name):
                slips.setdefault(slip, []).append(name)
    if not slips:
        return {}
    found: dict[str, str] = {}
    for name in sorted((name for name, rows in counts.items() if rows >= TIMES), key=lambda name: (-counts[name], name)):
        if len(name) > _LONGEST:
            continue
        long = sum(map(str.isalpha, name)) >= _LETTERS
        for slip in (_once(name), *(_of_frequent(name) if long else ())):
            # The most frequent name comes first: what is not rare beside it is not rare beside those after it either.
            for other in slips.pop(slip, ()):
                if other not in found and counts[other] * (TIMES if counts[other] <= RARE_ROWS else MANY_TIMES) <= counts[name]:
                    found[other] = name
    return found


def _of_rare(name: str) -> Iterator[str]:
    """Yield what a rare name shares with a frequent one that is one slip away: the kind of slip, its place, and the letters beside it."""
    yield f"whole {name}"
    yield _once(name)
    for place, letter in enumerate(name):
        without = f"{name[:place]}\0{name[place + 1 :]}"
        if _is_spelling(letter):
            yield f"other {without}"
            if letter in _BETWEEN:
                yield f"mark {name[:place]}{name[place + 1 :]}"
            elif place or letter != "a":
                yield f"more {without}"


def _of_frequent(name: str) -> Iterator[str]:
    """Yield the same of a frequent name: what is as a rare one as a whole is without a letter or has two swapped."""
    in_word = _in_long_words(name)
    yield f"mark {name}"
    for place, letter in enumerate(name):
        before, after = name[:place], name[place + 1 :]
        if in_word[place] or (place and in_word[place - 1]):
            yield f"more {before}\0{name[place:]}"
        if not (in_word[place] or letter in _BETWEEN) or not _is_spelling(letter):
            continue
        yield f"other {before}\0{after}"
        if place or letter != "a":
            yield f"whole {before}{after}"
        if after and after[0] != letter and _is_spelling(after[0]) and (in_word[place] or in_word[place + 1]):
            yield f"whole {before}{after[0]}{letter}{after[1:]}"
    if in_word and in_word[-1]:
        yield f"more {name}\0"


def _once(name: str) -> str:
    """Return what names share that differ in letters that are there twice in a row, in words of some different letters."""
    words = ("".join(word) for _, word in groupby(name, str.isalpha))
    once = ("".join(letter for letter, _ in groupby(word)) if word.isalpha() and len(set(word)) >= _DISTINCT else word for word in words)
    return f"once {''.join(once)}"


def _in_long_words(name: str) -> list[bool]:
    """Return of each character whether it is a letter of a word of five letters or more."""
    found = [False] * len(name)
    start = 0
    for place, letter in enumerate(f"{name} "):
        if not letter.isalpha():
            if place - start >= _LETTERS:
                found[start:place] = [True] * (place - start)
            start = place + 1
    return found


def _is_spelling(letter: str) -> bool:
    return letter in _BETWEEN or (letter.isalpha() and letter < _FIRST_IDEOGRAPH)

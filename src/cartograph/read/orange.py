"""The three header lines of Orange's `.tab` files: names, what each column holds, and which is the class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Stated = Literal["number", "category", "class", "left out"]
"""What a header says of a column; its class is a category."""

_NUMBER, _CATEGORY, _TEXT = {"c", "continuous", "n", "numeric"}, {"d", "discrete"}, {"s", "string", "text"}
_OTHER = {"t", "time", "b", "basket", ""}
_CLASS, _LEFT_OUT = {"class"}, {"m", "meta", "i", "ignore", "s", "skip", "w", "weight"}
_LISTED = re.compile(r"\S+(?<!\\) ")
"""The values of a category, with a blank between two; one in a value has a backslash before it."""


def stated(names: Sequence[str], types: Sequence[str], flags: Sequence[str]) -> dict[str, Stated] | None:
    """Return what the second and third line of a file say of the columns that its first names; None where they are rows.

    Types are `continuous`, `discrete`, `string`, `time`, their first letters, or the values of a category; flags `class`, `meta`,
    `ignore`, `weight`, or attributes (`key=value`). Columns of text and all that are no features are left out.

    Args:
        names: the first line's cells.
        types: the second line's.
        flags: the third line's, maybe fewer.

    >>> stated(["age", "name", "sick"], ["continuous", "string", "no yes"], ["", "meta", "class"])
    {'age': 'number', 'name': 'left out', 'sick': 'class'}
    >>> stated(["text", "label"], ["c", "d"], ["a good film", "d"])
    """
    kinds = [cell.strip().lower() for cell in types]
    marks = [set(_flags(cell)) for cell in [*flags, *[""] * len(names)][: len(names)]]
    known = _NUMBER | _CATEGORY | _TEXT | _OTHER
    if len(kinds) != len(names) or len(flags) > len(names) or not any(kinds):
        return None
    if not all(kind in known or _LISTED.match(kind) for kind in kinds) or not any(kind and kind in known for kind in kinds):
        return None
    if not all(mark <= _CLASS | _LEFT_OUT for mark in marks) or (not any(marks) and any(kind not in known for kind in kinds)):
        return None
    found: dict[str, Stated] = {}
    for name, kind, mark in zip(names, kinds, marks, strict=True):
        if mark & _CLASS:
            found[name] = "class"
        elif mark or kind in _TEXT:
            found[name] = "left out"
        elif kind not in _OTHER:
            found[name] = "number" if kind in _NUMBER else "category"
    return found


def _flags(cell: str) -> list[str]:
    return [word for word in re.split(r"(?<!\\) ", cell.strip().lower()) if word and "=" not in word]

"""What people and programs write where a value is missing: in a table of features, and among the labels of a row."""

from __future__ import annotations

MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none", "?", "-"})
"""Texts that stand for a missing value, in lower case, without white space around them.

``-`` is one: alone in a cell it is how tables mark that there is nothing, and neither a number nor, among several labels, a name.
"""


def is_missing(text: str) -> bool:
    """Return whether a text stands for a missing value.

    >>> [text for text in ("N/A", " - ", "0", "no", "") if is_missing(text)]
    ['N/A', ' - ', '']
    """
    return text.strip().lower() in MISSING

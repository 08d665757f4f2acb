"""Numbers in sentences: counts, shares and intervals, rounded to what their size supports."""

from __future__ import annotations

import math

_SPACE = "\u00a0"


def count(number: int) -> str:
    """Return a count with thousands separators: ``6,000``."""
    return f"{number:,}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun.

    >>> counted(1, "row"), counted(6000, "row"), counted(2, "class", "classes")
    ('1 row', '6,000 rows', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def share(part: int, whole: int) -> str:
    """Return a share in per cent, with a decimal only where the whole has at least a thousand.

    >>> share(184, 6000).replace(chr(160), " "), share(3, 40).replace(chr(160), " "), share(1, 6000).replace(chr(160), " ")
    ('3.1 %', '8 %', 'under 0.1 %')
    """
    if whole <= 0:
        return f"0{_SPACE}%"
    digits = 1 if whole >= 1000 else 0
    percent = 100 * part / whole
    least = 10.0**-digits
    if 0 < percent < least / 2:
        return f"under {least:.{digits}f}{_SPACE}%"
    if 100 - least / 2 < percent < 100:
        return f"over {100 - least:.{digits}f}{_SPACE}%"
    if part in (0, whole):
        return f"{percent:.0f}{_SPACE}%"
    return f"{percent:.{digits}f}{_SPACE}%"


def probability(value: float, digits: int = 2) -> str:
    """Return a number in [0, 1] with two decimals unless told otherwise."""
    return f"{value:.{digits}f}"


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """Return the 95 % interval of a proportion (Wilson 1927), both ends in [0, 1].

    Args:
        successes: how many of the trials succeeded, or the proportion times the trials.
        trials: at least 1.
    """
    z = 1.959964
    rate = successes / trials
    centre = (rate + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    return max(0.0, centre - half), min(1.0, centre + half)


def cut(text: str, limit: int) -> str:
    """Return the text, or its first ``limit`` characters with an ellipsis as the last of them.

    >>> cut("a long story", 7)
    'a long…'
    """
    return text if len(text) <= limit else text[: max(limit - 1, 0)].rstrip() + "…"


def listing(items: list[str]) -> str:
    """Return items as a phrase.

    >>> listing(["a", "b", "c"])
    'a, b and c'
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""

"""Class names that are measurements, such as prices, or dates: an audit of classes knows nothing of how near one number is to another."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_DATE = re.compile(r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?:[ T]\d{1,2}:\d{2}.*)?")
_FEWEST, _SPARSE, _FEW_ROWS = 20, 0.5, 5.0
"""Fewest classes; most of the whole numbers of a range that are classes, where none has a fraction; and most rows a class then."""


def measurements_sentence(counts: Mapping[str, int]) -> str:
    """Return that labels are measurements or dates rather than classes, with the way out; empty where nothing speaks for that.

    All names are dates, at least twenty; or numbers, as many, half of them with a fraction; or whole numbers that leave out half of their
    range, and have few rows each: numbers that number classes leave out few.

    Args:
        counts: class name -> rows.

    >>> measurements_sentence({f"{place / 8:.2f}": 3 for place in range(40)}).partition(";")[0]
    'The labels look like measurements, not classes: 40 numbers from 0.00 to 4.88'
    >>> measurements_sentence({str(place): 3 for place in range(77)})
    ''
    >>> measurements_sentence({f"2024-01-{day:02}": 3 for day in range(1, 32)}).partition(";")[0]
    'The labels look like dates, not classes: 31 of them, such as 2024-01-01'
    """
    rows = {name: number for name, number in counts.items() if number}
    if len(rows) >= _FEWEST and all(map(_DATE.fullmatch, rows)):
        return (
            f"The labels look like dates, not classes: {len(rows):,} of them, such as {next(iter(rows))}; here each is a class of its own. "
            "Name another column, or put them in a few classes in the data, such as months."
        )
    if len(rows) < _FEWEST or not all(map(_NUMBER.fullmatch, rows)):
        return ""
    lowest, highest = min(rows, key=float), max(rows, key=float)
    with_fraction = sum(not float(name).is_integer() for name in rows)
    sparse = len(rows) < _SPARSE * (float(highest) - float(lowest) + 1) and sum(rows.values()) <= _FEW_ROWS * len(rows)
    if 2 * with_fraction < len(rows) and (with_fraction or not sparse):
        return ""
    return (
        f"The labels look like measurements, not classes: {len(rows):,} numbers from {lowest} to {highest}; here each is a class of its "
        "own, and a label just beside the right one counts as wrong. Put them in a few classes in the data, such as low, middle and high, "
        "or name another column."
    )

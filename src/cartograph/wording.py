"""Numbers, lists and tables as text: counts, shares and intervals, rounded to what their size supports; what is typed and shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from unicodedata import category

_SPACE = "\u00a0"
_SOME, _FAR = 10, 0.1
"""From which number on, and from which share of it below, the lower end of an interval makes an estimate say hardly anything."""


def count(number: int) -> str:
    """Return a count with thousands separators: ``6,000``."""
    return f"{number:,}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun.

    >>> counted(1, "row"), counted(6000, "row"), counted(2, "class", "classes")
    ('1 row', '6,000 rows', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(value: float, digits: int | None = None) -> str:
    """Return a proportion in per cent, never as 0 or 100 where it is neither.

    Args:
        value: in [0, 1].
        digits: decimals; None: one below 10 and above 99, none in between.

    >>> [percent(value).replace(chr(160), " ") for value in (0.027, 0.05, 0.42, 0.994, 0.9996, 0.0001)]
    ['2.7 %', '5 %', '42 %', '99.4 %', 'over 99.9 %', 'under 0.1 %']
    """
    shown = 100 * value
    decimals = int(shown < 9.95 or shown > 99) if digits is None else digits
    text, least = f"{shown:.{decimals}f}", 10.0**-decimals
    if value > 0 and float(text) == 0:
        return f"under {least:.{decimals}f}{_SPACE}%"
    if value < 1 and float(text) == 100:
        return f"over {100 - least:.{decimals}f}{_SPACE}%"
    return f"{text.removesuffix('.0') if digits is None or value in (0, 1) else text}{_SPACE}%"


def percent_range(low: float, high: float) -> str:
    """Return the ends of an interval in per cent, without the sign.

    >>> percent_range(-0.004, 0.0132)
    '−0.4 to 1.3'
    """
    return f"{100 * low:.1f} to {100 * high:.1f}".replace("-", "\u2212")


def about(number: float) -> str:
    """Return an estimated count, rounded to two digits.

    >>> about(156.7), about(88.4), about(3.2), about(1234.0)
    ('160', '88', '3', '1,200')
    """
    digits = max(len(str(round(number))) - 2, 0)
    return f"{round(number, -digits):,.0f}"


def labels_wrong(expected: float, low: float, high: float, which: str = "labels", scattered: float | None = None) -> str:
    """Return an estimate of how many labels are wrong, with its 95 % interval.

    Where that begins below a tenth of ten or more, or hardly one is expected, only its upper end is said, and never that none is.

    Args:
        expected: how many, by estimate.
        low: lower end of the interval.
        high: upper end.
        which: of which labels, such as ``of 2,000 labels``.
        scattered: upper end if errors do not gather on hard rows; None where that is not known.

    >>> labels_wrong(11.2, 2, 204).replace(chr(160), " "), labels_wrong(1.1, 0, 56).replace(chr(160), " ")
    ('about 11 labels are wrong (95 % CI 2 to 200)', 'about 1 label is wrong (95 % CI 0 to 56)')
    >>> labels_wrong(126.0, 3, 677, "of 3,150 labels").replace(chr(160), " "), labels_wrong(86.0, 0, 175).replace(chr(160), " ")
    ('at most 680 of 3,150 labels are wrong (95 % CI)', 'at most 180 labels are wrong (95 % CI)')
    >>> labels_wrong(126.0, 3, 677, scattered=210).replace(chr(160), " ")
    'at most 680 labels are wrong (95 % CI; 210 unless errors gather on hard rows)'
    >>> labels_wrong(0.3, 0, 7).replace(chr(160), " "), labels_wrong(0.2, 0, 1).replace(chr(160), " ")
    ('at most 7 labels are wrong (95 % CI)', 'at most 1 label is wrong (95 % CI)')
    >>> labels_wrong(0.0, 0, 0.2).replace(chr(160), " ")
    'at most 1 label is wrong (95 % CI)'
    >>> labels_wrong(126.0, 40, 310, scattered=210).replace(chr(160), " ")
    'about 130 labels are wrong (95 % CI 40 to 310; to 210 unless errors gather on hard rows)'
    """
    number = about(expected)
    upper_only = _upper_only(expected, low)
    high = max(high, 1.0) if upper_only else high
    one = (about(high) if upper_only else number) == "1"
    what = which.replace("labels", "label", 1) if one and which.startswith("labels") else which
    are_wrong = f"{what} {'is' if one else 'are'} wrong"
    if upper_only:
        return f"at most {upper_end(are_wrong, high, scattered)}"
    end, unless = _ends(high, scattered)
    return f"about {number} {are_wrong} (95{_SPACE}% CI {about(low)} to {end}{unless and f'; to {unless}'})"


def _upper_only(expected: float, low: float) -> bool:
    return about(expected) == "0" or (expected >= _SOME and low < _FAR * expected)


def wrong_in_short(expected: float, low: float, high: float) -> str:
    """Return the same as a few numbers, not rounded.

    >>> wrong_in_short(39.6, 17.0, 78.0), wrong_in_short(81.0, 0.0, 450.0)
    ('about 40 (17 to 78)', 'at most 450')
    """
    return f"at most {max(high, 1.0):,.0f}" if _upper_only(expected, low) else f"about {expected:,.0f} ({low:,.0f} to {high:,.0f})"


def labels_said_wrong(wrong: Mapping[str, float], which: str = "labels") -> str:
    """Return the same of a record, with ``expected``, ``low``, ``high`` and (not of earlier audits) ``scattered``.

    >>> labels_said_wrong({"expected": 30.0, "low": 9.0, "high": 60.0, "scattered": 44.0}).replace(chr(160), " ")
    'about 30 labels are wrong (95 % CI 9 to 60; to 44 unless errors gather on hard rows)'
    """
    return labels_wrong(wrong["expected"], wrong["low"], wrong["high"], which, wrong.get("scattered"))


def upper_end(which: str, high: float, scattered: float | None) -> str:
    """Return the upper end of an interval; ``which``: labels are wrong, the others as of ``labels_wrong``.

    >>> upper_end("are wrong", 40, 12).replace(chr(160), " ")
    '40 are wrong (95 % CI; 12 unless errors gather on hard rows)'
    """
    end, unless = _ends(high, scattered)
    return f"{end} {which} (95{_SPACE}% CI{unless and f'; {unless}'})"


def between_ends(low: float, high: float, scattered: float | None) -> str:
    """Return an interval alone, as of ``labels_wrong``.

    >>> between_ends(0, 150, 110).replace(chr(160), " "), between_ends(0, 40, None).replace(chr(160), " ")
    ('0 to 150 (95 % CI; to 110 unless errors gather on hard rows)', '0 to 40 (95 % CI)')
    """
    end, unless = _ends(high, scattered)
    return f"{about(low)} to {end} (95{_SPACE}% CI{unless and f'; to {unless}'})"


def between_wrong(which: str, low: float, high: float, scattered: float | None) -> str:
    """Return that the number of wrong labels lies in such an interval; ``which``: labels are wrong.

    >>> between_wrong("are wrong", 0, 150, 110).replace(chr(160), " ")
    '0 to 150 are wrong (95 % CI; to 110 unless errors gather on hard rows)'
    """
    end, unless = _ends(high, scattered)
    return f"{about(low)} to {end} {which} (95{_SPACE}% CI{unless and f'; to {unless}'})"


def _ends(high: float, scattered: float | None) -> tuple[str, str]:
    """Return where an interval ends, and where unless errors gather on hard rows; the latter empty if it is no other."""
    scattered_end = about(high if scattered is None else scattered)
    return about(high), "" if scattered_end == about(high) else f"{scattered_end} unless errors gather on hard rows"


def duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> duration(8.4), duration(95), duration(7500)
    ('8 s', '1 min 35 s', '2 h 5 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def roughly(seconds: float) -> str:
    """Return a time that is only estimated, without digits that nobody knows.

    >>> roughly(3), roughly(47), roughly(372), roughly(9300)
    ('5 s', '45 s', '6 min', '2.6 h')
    """
    if (fives := max(5 * round(seconds / 5), 5)) < 60:
        return f"{fives} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:,.1f} h"


def share(part: int, whole: int) -> str:
    """Return a share of a count in per cent.

    >>> share(184, 6000).replace(chr(160), " "), share(17, 40).replace(chr(160), " "), share(0, 0).replace(chr(160), " ")
    ('3.1 %', '42 %', '0 %')
    """
    return percent(part / whole if whole > 0 else 0.0)


def probability(value: float, digits: int = 2) -> str:
    """Return a number in [0, 1] with two decimals, or as many as asked for."""
    return f"{value:.{digits}f}"


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


def plain_markdown(text: str) -> str:
    """Return text that Markdown shows as it is: no markup, no link, no picture, no end of a table's cell.

    >>> print(plain_markdown("[x](javascript:y) | <b>"))
    \\[x\\]\\(javascript:y\\) \\| &lt;b&gt;
    """
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(text.split()))
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = re.sub(r"([\\`*_{}\[\]()#!|~])", r"\\\1", line)
    return line.replace("://", ":\u200b//")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str = "") -> str:
    """Return a table as Markdown, without a line break at its end; what a cell must not hold is for the caller to escape.

    Args:
        head: names of the columns.
        rows: cells, as many in each row as there are columns.
        align: ``l`` or ``r`` for each column; empty = all left.

    Raises:
        ValueError: a row or ``align`` is not as long as the head.

    >>> print(markdown_table(["Set", "Rows"], [["train", "6,000"]], "lr"))
    | Set | Rows |
    | --- | ---: |
    | train | 6,000 |
    """
    rules = ["---:" if side == "r" else "---" for side in align or "l" * len(head)]
    lines = [list(head), rules, *map(list, rows)]
    uneven = next((cells for cells in lines if len(cells) != len(head)), None)
    if uneven is not None:
        raise ValueError(f"a table of {len(head)} columns ({', '.join(head)}) has a row of {len(uneven)} cells: {uneven}")
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def names_between_commas(given: str) -> list[str]:
    """Return the names in a list as it is typed: a comma that belongs to a name has a backslash before it; one left out is empty.

    >>> names_between_commas(r"age, , weight\\, kg")
    ['age', '', 'weight, kg']
    """
    return [name.replace("\\,", ",").strip() for name in re.split(r"(?<!\\),", given)]


def visible(text: str) -> str:
    """Return text that a terminal shows and does not obey: control characters, and those that turn the direction, by their codes.

    >>> print(visible("a\x1b[31mb\u202ec"), visible("5\u00a0%"))
    a\\x1b[31mb\\u202ec 5\u00a0%
    """
    return "".join(letter if _is_plain(letter) else letter.encode("unicode_escape").decode() for letter in text)


def _is_plain(letter: str) -> bool:
    # Joiners belong to the writing of some languages.
    return letter.isprintable() or letter in "\n\u200c\u200d" or category(letter) == "Zs"

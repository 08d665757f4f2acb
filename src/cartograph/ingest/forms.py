"""The forms in which tables write numbers and dates: the form of a column is found once, in the train set, and read by it everywhere.

Numbers have a decimal point or, where more of a column's values can be read so, a decimal comma; thousands may be apart by commas, points,
blanks or apostrophes; a currency's sign and a per cent sign are left out. ``1,234`` alone is a thousand and more.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from cartograph.schema import Kind

POINT, COMMA = "", "decimal comma"
"""Forms of numbers."""

_SIGNS = re.compile(r"^([-+]?)\s*[$€£¥₹]\s*|\s*[%$€£¥₹]$")
_SIGNED = re.compile(r"[%$€£¥₹]")
_BLANKS = " '’\u00a0\u202f"
_THOUSANDS = {
    POINT: rf"[-+]?\d{{1,3}}([,{_BLANKS}])\d{{3}}(?:\1\d{{3}})*(?:\.\d+)?",
    COMMA: rf"[-+]?\d{{1,3}}([.{_BLANKS}])\d{{3}}(?:\1\d{{3}})*(?:,\d+)?",
}
_WITH_COMMA = r"[-+]?\d+(?:,\d+)?"

ISO = ""
"""The form of ISO 8601's dates, with a time or without."""

_ISO = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:[T ].*)?\Z")
_DAYS = ("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%y", "%m/%d/%y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_HAS_DIGIT = re.compile(r"\d")


def form_of(known: pd.Series, kind: Kind) -> str:
    """Return the form in which most of a column's values can be read; of several the first, which is ``""``.

    Args:
        known: texts; null where missing.
        kind: what they are to be read as.

    >>> form_of(pd.Series(["1,5", "2,25", "3"]), "number"), form_of(pd.Series(["1,234", "5,678"]), "number")
    ('decimal comma', '')
    >>> form_of(pd.Series(["31.01.2024", "01.02.2024"]), "date")
    '%d.%m.%Y'
    """
    if kind == "number":
        by_point = int(numbers(known, POINT).notna().sum())
        return COMMA if by_point < len(known) and by_point < int(numbers(known, COMMA).notna().sum()) else POINT
    if kind == "date":
        return _date_form(known)
    return ""


def numbers(known: pd.Series, form: str) -> pd.Series:
    """Return texts as numbers by a form; NaN where they are none, or not finite."""
    found = pd.Series(np.nan, known.index) if form == COMMA else pd.to_numeric(known, errors="coerce").astype("float64")
    rest = found.isna() & known.notna()
    if rest.any():
        found[rest] = _spelled(known[rest], form)
    return found.where(np.isfinite(found))


def _spelled(known: pd.Series, form: str) -> pd.Series:
    """Return texts as numbers, without currencies' signs, per cent signs and what is between thousands."""
    bare = known.where(~known.str.contains(_SIGNED), known.str.replace(_SIGNS, r"\1", regex=True))
    thousands = bare.str.fullmatch(_THOUSANDS[form])
    plain = bare.where(~thousands, bare.str.replace(f"[{',' if form == POINT else '.'}{_BLANKS}]", "", regex=True))
    if form == COMMA:
        plain = plain.where(plain.str.fullmatch(_WITH_COMMA)).str.replace(",", ".")
    return pd.to_numeric(plain, errors="coerce").astype("float64")


def dates(known: pd.Series, form: str) -> pd.Series:
    """Return texts as dates by a form, to the second and in UTC where they have a zone; NaT where they are none."""
    if form == ISO:
        known, form = known.where(known.str.match(_ISO).fillna(False).astype(bool)), "ISO8601"
    found = pd.to_datetime(known, format=form, errors="coerce", utc=True)
    return found.dt.tz_localize(None).astype("datetime64[s]")


def _date_form(known: pd.Series) -> str:
    most, best = int(dates(known, ISO).notna().sum()), ISO
    if most == len(known) or not known.str.contains(_HAS_DIGIT).any():
        return best
    for form in (day + time for time in _TIMES for day in _DAYS):
        found = int(dates(known, form).notna().sum())
        if found > most:
            most, best = found, form
        if most == len(known):
            break
    return best

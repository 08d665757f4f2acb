"""The values of a table of features, read from texts: numbers, dates, categories, and what is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from cartograph.data.arrays import Bools
from cartograph.schema import FEATURES, UNREAD, VALUES, Feature, Kind, values_type

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "?", "-"})
"""What stands for a missing value, in lower case."""

MOSTLY = 0.98
"""Share of a column's values, missing ones apart, that must be numbers or dates for it to be a column of them."""

_ISO = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:[T ].*)?\Z")
_DATES = ("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")
_THOUSANDS = r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?"
_PLAIN = re.compile(r"[^;=\s](?:[^;=\n\r\t]*[^;=\s])?\Z")


def kind_of(texts: pa.ChunkedArray) -> Kind:
    """Return what a column holds: numbers or dates where nearly all of its values can be read so, else categories.

    >>> [kind_of(pa.chunked_array([column])) for column in (["1", "2.5", "?"], ["2024-01-31", "2024-02-01"], ["a", "b"])]
    ['number', 'date', 'category']
    """
    known = _known(texts).dropna()
    known = known[~known.duplicated()]
    if not len(known):
        return "category"
    if _numbers(known).notna().mean() >= MOSTLY:
        return "number"
    return "date" if _dates(known).notna().mean() >= MOSTLY else "category"


def says_nothing(texts: pa.ChunkedArray, kind: Kind) -> bool:
    """Return whether a column cannot help to tell classes apart: it has no value, it counts the rows, or nearly each has its own name."""
    known = _known(texts).dropna()
    if not len(known):
        return True
    if kind == "number":
        numbers = _numbers(known).dropna().to_numpy()
        whole = bool((numbers == np.rint(numbers)).all())
        return whole and len(numbers) > _FEW and len(set(numbers)) == len(numbers) == numbers.max() - numbers.min() + 1
    return kind == "category" and len(known) > _FEW and known.nunique() > _NAMES * len(known)


_FEW, _NAMES = 20, 0.5


def table_columns(texts: Sequence[pa.ChunkedArray], features: Sequence[Feature]) -> dict[str, pa.ChunkedArray]:
    """Return the columns of a table of features: each row as a text, its values by type, and where a value is not what its column holds.

    Args:
        texts: a column per feature, as read.
        features: what each holds.
    """
    known = [_known(column) for column in texts]
    values = [_values(column, feature.kind) for column, feature in zip(known, features, strict=True)]
    wrong = [(column.notna() & value.isna()).to_numpy() for column, value in zip(known, values, strict=True)]
    struct = values_type(features)
    arrays = [pa.array(value, field.type, from_pandas=True) for value, field in zip(values, struct, strict=True)]
    return {
        FEATURES: pa.chunked_array([pa.array(_shown(known, features), pa.string())]),
        VALUES: pa.chunked_array([pa.StructArray.from_arrays(arrays, fields=list(struct))]),
        UNREAD: pa.chunked_array([pa.array(_names(wrong, features), pa.list_(pa.string()))]),
    }


def _names(wrong: Sequence[Bools], features: Sequence[Feature]) -> list[list[str]]:
    found: list[list[str]] = [[] for _ in range(len(wrong[0]))]
    for mask, feature in zip(wrong, features, strict=True):
        for row in np.flatnonzero(mask).tolist():
            found[row].append(feature.name)
    return found


def _shown(known: Sequence[pd.Series], features: Sequence[Feature]) -> list[str]:
    columns = []
    for column, feature in zip(known, features, strict=True):
        name = _quoted(feature.name)
        spelled = {text: f"{name}={_quoted(text)}" for text in column.dropna().unique()}
        columns.append([spelled.get(text) for text in column])
    return ["; ".join(part for part in row if part is not None) for row in zip(*columns, strict=True)]


def _quoted(text: str) -> str:
    """Return a name or value so that it can be told where it ends."""
    return text if _PLAIN.match(text) else json.dumps(text, ensure_ascii=False)


def _known(texts: pa.ChunkedArray) -> pd.Series:
    """Return texts without white space around them; null where they stand for a missing value."""
    column = pd.Series(texts.to_pylist(), dtype=object)
    spelled = {text: None if text is None or text.strip().lower() in MISSING else text.strip() for text in column.unique()}
    return column.map(spelled).astype(object)


def _values(known: pd.Series, kind: Kind) -> pd.Series:
    return {"number": _numbers, "date": _dates}.get(kind, lambda column: column)(known)


def _numbers(known: pd.Series) -> pd.Series:
    thousands = known.str.fullmatch(_THOUSANDS).fillna(False).astype(bool)
    plain = known.where(~thousands, known.str.replace(",", ""))
    numbers = pd.to_numeric(plain, errors="coerce").astype("float64")
    return numbers.where(np.isfinite(numbers))


def _dates(known: pd.Series) -> pd.Series:
    """Return dates, read in the form that fits most of the values."""
    iso = known.where(
        known.map(lambda text: text is not None and _ISO.match(text) is not None, na_action="ignore").fillna(False).astype(bool)
    )
    found = [pd.to_datetime(iso, format="ISO8601", errors="coerce", utc=True)]
    if found[0].notna().sum() < known.notna().sum():
        found += [pd.to_datetime(known, format=form, errors="coerce", utc=True) for form in _DATES]
    best = max(found, key=lambda dates: int(dates.notna().sum()))
    return best.dt.tz_localize(None).astype("datetime64[s]")

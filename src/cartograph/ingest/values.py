"""The values of a table of features, read from what a file has: numbers, dates, categories, texts, and what is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from cartograph.data.arrays import Bools
from cartograph.data.shared_words import is_unspaced
from cartograph.ingest.forms import dates, form_of, numbers
from cartograph.ingest.missing import is_missing
from cartograph.ingest.row_names import names_rows
from cartograph.schema import FEATURES, UNREAD, VALUES, Feature, Kind, values_type

MOSTLY = 0.98
"""Share of a column's values, missing ones apart, that must be numbers or dates for it to be a column of them."""

_PLAIN = re.compile(r"[^;=\s](?:[^;=\n\r\t]*[^;=\s])?\Z")


def feature_of(name: str, texts: pa.ChunkedArray, *, named: bool = False) -> Feature:
    """Return what a column holds: numbers or dates where nearly all of its values can be read so, texts where these hardly repeat and
    most have three words or more (or are of a script without blanks between words), else categories.

    Args:
        name: of the column.
        texts: its values.
        named: whether they are names, such as codes, whatever they look like.

    >>> [feature_of("x", pa.chunked_array([column])).kind for column in (["1", "2.5", "?"], ["2024-01-31", "2024-02-01"], ["a", "b"])]
    ['number', 'date', 'category']
    >>> feature_of("x", pa.chunked_array([[f"a cup of tea, {row} g" for row in range(30)]])).kind
    'text'
    """
    all_known = _known(texts).dropna()
    known = all_known[~all_known.duplicated()]
    if named or not len(known):
        return Feature(name, "category")
    kinds: tuple[Kind, ...] = ("number", "date")
    for kind in kinds:
        form = form_of(known, kind)
        if _values(known, Feature(name, kind, form)).notna().mean() >= MOSTLY:
            return Feature(name, kind, form)
    prose = hardly_repeat(len(all_known), len(known)) and known.map(_is_prose).mean() > _HALF
    return Feature(name, "text" if prose else "category")


def _is_prose(text: str) -> bool:
    return len(_WORD.findall(text)) >= _PROSE or is_unspaced(text)


def hardly_repeat(known: int, different: int) -> bool:
    """Return whether so many values that are known are mostly different ones, as names and texts are.

    >>> hardly_repeat(30, 29), hardly_repeat(30, 10), hardly_repeat(5, 5)
    (True, False, False)
    """
    return known > _FEW and different > _NAMES * known


def strays(texts: pa.ChunkedArray) -> list[str]:
    """Return the different values of categories that are no numbers where at least half of the values are; else none.

    >>> strays(pa.chunked_array([["23", "61", "35 years", "23", "forty"]])), strays(pa.chunked_array([["a", "1", "b"]]))
    (['35 years', 'forty'], [])
    """
    known = _known(texts).dropna()
    found = _values(known, Feature("", "number", form_of(known[~known.duplicated()], "number")))
    return list(dict.fromkeys(known[found.isna()])) if found.notna().mean() >= _HALF else []


def says_nothing(texts: pa.ChunkedArray, feature: Feature) -> bool:
    """Return whether a column cannot help to tell classes apart.

    It has no value, it counts the rows, nearly each has its own name, or its name says that it numbers the rows and no number comes twice:
    of some rows of a set, drawn for training, the numbers have gaps.
    """
    known = _known(texts).dropna()
    if not len(known):
        return True
    if feature.kind == "number":
        found = _values(known, feature).dropna().to_numpy()
        if len(found) <= _FEW or known.nunique() < len(known) or not (found == np.rint(found)).all():
            return False
        return names_rows(feature.name) or bool(len(set(found)) == len(found) == found.max() - found.min() + 1)
    return feature.kind == "category" and hardly_repeat(len(known), known.nunique())


_FEW, _NAMES, _HALF, _PROSE = 20, 0.5, 0.5, 3
_WORD = re.compile(r"[^\W\d_]{2,}")


def table_columns(texts: Sequence[pa.ChunkedArray], features: Sequence[Feature]) -> dict[str, pa.ChunkedArray]:
    """Return the columns of a table of features: each row as a text, its values by type, and where a value is not what its column holds.

    Args:
        texts: a column per feature, as read.
        features: what each holds.
    """
    known = [_known(column) for column in texts]
    values = [_values(column, feature) for column, feature in zip(known, features, strict=True)]
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
    """Return a name or value so that its end is visible."""
    return text if _PLAIN.match(text) else json.dumps(text, ensure_ascii=False)


def _known(texts: pa.ChunkedArray) -> pd.Series:
    """Return texts without white space around them; null where they stand for a missing value."""
    column = pd.Series(texts.to_pylist(), dtype=object)
    spelled = {text: None if text is None or is_missing(text) else text.strip() for text in column.unique()}
    return column.map(spelled).astype(object)


def _values(known: pd.Series, feature: Feature) -> pd.Series:
    if feature.kind in ("category", "text"):
        return known
    return numbers(known, feature.form) if feature.kind == "number" else dates(known, feature.form)

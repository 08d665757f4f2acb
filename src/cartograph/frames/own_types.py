"""The cells of a file, which are read as texts, with the types that pandas gives them."""

from __future__ import annotations

import numpy as np
import pandas as pd

_NUMBER = r"[-+]?(?:0|[1-9]\d{0,17})(?:\.\d*)?(?:[eE][-+]?\d{1,3})?|[-+]?\.\d+(?:[eE][-+]?\d{1,3})?"
"""Neither codes that begin with a nought, nor identifiers of so many digits that a number would round them."""

_TRUTH = {spelled: spelled.lower() == "true" for spelled in ("True", "False", "TRUE", "FALSE", "true", "false")}


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of texts whose columns of nothing but numbers are numbers, and of nothing but true and false truth values.

    An empty cell among numbers is missing. Codes that begin with a nought (``007``), numbers of more than 18 digits, dates, and all other
    columns stay as they are.

    >>> frame = pd.DataFrame({"age": ["31", ""], "code": ["007", "12"], "label": ["1", "0"]})
    >>> typed(frame).dtypes.map(str).to_dict()["age"], typed(frame)["label"].tolist(), typed(frame)["code"].tolist()
    ('float64', [1, 0], ['007', '12'])
    """
    columns = [_column(frame.iloc[:, place]) for place in range(frame.shape[1])]
    return pd.concat(columns, axis=1) if columns else frame


def _column(cells: pd.Series) -> pd.Series:
    texts = pd.api.types.is_object_dtype(cells) or pd.api.types.is_string_dtype(cells)
    there = cells[cells.notna() & (cells != "")] if texts else cells.iloc[:0]
    if not len(there) or not there.map(lambda cell: isinstance(cell, str)).all():
        return cells
    if there.str.fullmatch(_NUMBER).all():
        numbers: pd.Series = pd.to_numeric(cells.where(cells != "", np.nan))
        return numbers
    if len(there) == len(cells) and there.isin(list(_TRUTH)).all():
        return cells.map(_TRUTH).astype(bool)
    return cells

"""How many rows of a table agree in all columns by chance: equal rows of few values are not copies of one another.

Of one row: those that agree in some columns but not in all, times the share of rows that agree in the others. Columns are divided at every
place of their order, as those that stand for one category stand together, and each is set against all others. Were the parts independent,
so many rows would agree in both; a continuous column leaves none.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from cartograph.data.arrays import Floats, Hashes, Integers

MOST_BY_CHANCE = 0.05
"""Expected number of rows that agree with a row by chance from which on equal rows may not be copies. Of 43 tables without copies those of
few values have equal rows, of which a tenth at most is below."""


def agreeing_by_chance(columns: pd.DataFrame) -> Floats:
    """Return how many rows are expected to agree with each row in all columns by chance, ``(n_rows,)``.

    Cost: O(n_rows · n_columns).

    Args:
        columns: values of any kind; missing ones agree. Of one column or none every row may.

    >>> agreeing_by_chance(pd.DataFrame({"size": [1.31, 1.31, 2.05, 3.7], "kind": list("aaab")})).tolist()
    [0.0, 0.0, 0.0, 0.0]
    >>> agreeing_by_chance(pd.DataFrame({"size": [1, 1, 2, 1], "kind": list("aaab")})).tolist()
    [0.25, 0.25, 0.0, 0.0]
    """
    number = len(columns)
    if columns.shape[1] < 2:
        return np.full(number, float(number))
    # Sums of hashes, each multiplied by its column's own odd number: what is left without a column, or up to one, is a subtraction away.
    hashes: list[Hashes] = [
        pd.util.hash_pandas_object(columns.iloc[:, place], index=False).to_numpy().astype(np.uint64) * np.uint64(2 * place + 1)
        for place in range(columns.shape[1])
    ]
    together: Hashes = np.add.reduce(hashes)
    equal, before = _alike(together), np.zeros(number, np.uint64)
    expected = np.zeros(number)
    for values in hashes:
        before += values
        for part in (values, before):
            expected = np.maximum(expected, (_alike(part) - equal) * (_alike(together - part) - equal) / max(number, 1))
    return expected


def _alike(values: Hashes) -> Integers:
    """Return how many rows have the value of each."""
    number, first = pd.factorize(values)
    found: Integers = np.bincount(number, minlength=len(first))[number]
    return found

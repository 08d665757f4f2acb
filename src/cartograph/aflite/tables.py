"""A filter's result as Arrow tables."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cartograph.aflite.result import Filtered, Result
from cartograph.schema import AFLITE, AFLITE_HISTORY


def rows_table(uids: pa.Array, result: Result | Filtered, n_predictions: npt.NDArray[np.int32]) -> pa.Table:
    """Return ``schema.AFLITE``, sorted by uid.

    Args:
        uids: (n_examples,) strings, in the order of the result.
        result: of these rows.
        n_predictions: (n_examples,) out-of-sample predictions of each in its last round.
    """
    columns: dict[str, Any] = {
        "uid": uids,
        "kept": pa.array(result.kept),
        "removed_in_round": pa.array(result.removed_in_round, mask=result.kept),
        "predictability_first": pa.array(result.predictability_first, mask=np.isnan(result.predictability_first)),
        "predictability_last": pa.array(result.predictability_last, mask=np.isnan(result.predictability_last)),
        "n_predictions": pa.array(n_predictions.astype(np.int32)),
    }
    return pa.table(columns, schema=AFLITE).sort_by("uid")


def history_table(result: Result) -> pa.Table:
    """Return ``schema.AFLITE_HISTORY``."""
    columns = zip(*(astuple(step) for step in result.history), strict=True)
    return pa.table([list(column) for column in columns], schema=AFLITE_HISTORY)

"""A filter's result as Arrow tables."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.adversarial_filter.result import FilteredSet, Result
from cartograph.data.arrays import Floats, Integers32
from cartograph.schema import AFLITE, AFLITE_HISTORY


def rows_table(uids: pa.Array, result: FilteredSet, n_predictions: Integers32) -> pa.Table:
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
    rounds = [dict(zip(AFLITE_HISTORY.names, astuple(step), strict=True)) for step in result.history]
    return pa.Table.from_pylist(rounds, schema=AFLITE_HISTORY)


def resistance(rows: pa.Table, uids: pa.Array) -> Floats:
    """Return how long the filter kept each row, ``(n_examples,)``, higher = longer: the number of its round plus 1 − its last
    predictability, in (round, round + 1]; a row that stayed has a round more than the last. −1 for a row outside the pool.

    Args:
        rows: ``schema.AFLITE``.
        uids: strings, of any rows.
    """
    beside = rows.take(pc.index_in(uids, value_set=rows["uid"].combine_chunks()))
    gone = beside["removed_in_round"].to_numpy(zero_copy_only=False).astype(np.float64)
    last = np.nan_to_num(beside["predictability_last"].to_numpy(zero_copy_only=False).astype(np.float64), nan=0.0)
    past = float(pc.max(rows["removed_in_round"]).as_py() or 0) + 1
    # A predictability of 1 would fall into the round before.
    found = np.where(np.isnan(gone), past, gone) + np.clip(1.0 - last, 1e-9, 1.0)
    return np.where(pc.is_valid(beside["uid"]).to_numpy(zero_copy_only=False), found, -1.0)

"""Rows whose wrong labels could not be looked for: a list without suspects, and the sentence that says why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.schema import LABEL, NOISE, UID


def all_alike(rows: int) -> str:
    """Return why no wrong label can be found among so many rows of one class."""
    which = f"all {rows:,} rows have the same label" if rows > 1 else "there is one row"
    return f"Wrong labels could not be looked for: {which}. Add rows of other classes."


def not_looked_for(by_uid: pa.Table, reason: str, asked: Mapping[str, Any]) -> tuple[pa.Table, dict[str, Any]]:
    """Return a list without suspects (``schema.NOISE``), and its record, of which ``impossible`` is the reason.

    Args:
        by_uid: the rows (``schema.examples_schema``), of which ``uid`` and ``label`` are read.
        reason: why, in whole sentences.
        asked: what the user set, as ``threshold``.
    """
    rows = by_uid.num_rows
    columns = {
        UID: by_uid[UID],
        "probability": np.zeros(rows),
        "flagged": np.zeros(rows, bool),
        "suggested": by_uid[LABEL],
        "suggested_probability": np.zeros(rows),
        "rank": np.arange(1, rows + 1),
        "reason": ["not looked for"] * rows,
    }
    table = pa.table([columns[field.name] for field in NOISE], names=NOISE.names).cast(NOISE)
    record = {"rows": rows, "suspects": 0, "flips": 0, "detector": None, "calibrated": False, "wrong": None, "explained": None}
    return table, record | dict(asked) | {"assumption": None, "unknown": None, "impossible": reason}

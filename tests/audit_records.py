"""The records of two audits of nearly the same rows."""

from __future__ import annotations

import pyarrow as pa

from cartograph.audits.record import Record
from cartograph.schema import RECORD

EASY, AMBIGUOUS, HARD = "easy-to-learn", "ambiguous", "hard-to-learn"


def record(*rows: tuple[str, str, str, str, bool]) -> Record:
    """A record of (uid, content, label, region, suspect)."""
    columns = dict(zip(("uid", "content", "label", "region", "suspect"), zip(*rows, strict=True), strict=True))
    size = len(rows)
    columns |= {"confidence": [0.5] * size, "variability": [0.1] * size, "probability": [0.2] * size, "suggested": ["x"] * size}
    return Record(pa.table({name: columns[name] for name in RECORD.names}, schema=RECORD), {"rows": size})


BEFORE = record(
    ("a", "1", "cat", EASY, False),
    ("b", "2", "cat", EASY, True),
    ("c", "3", "dog", HARD, True),
    ("d", "4", "dog", EASY, False),
    ("e", "5", "dog", EASY, True),
)


NOW = record(
    ("a", "1", "cat", EASY, True),
    ("b", "9", "cat", AMBIGUOUS, True),
    ("z", "3", "cat", HARD, False),
    ("d", "4", "dog", EASY, False),
    ("f", "6", "dog", EASY, True),
)

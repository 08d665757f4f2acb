"""Tables that the tests of cleaning and review start from, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from cartograph.schema import NOISE, DatasetInfo, examples_schema

LABELS = ("bad", "good", "odd")


def make_examples(rows: Sequence[tuple[str, str, int]], labels: tuple[str, ...] = LABELS, text: str = "text") -> pa.Table:
    """Return a train set of single texts: uid, text, label id."""
    info = DatasetInfo("train", "train", "single", (text,), (), labels)
    columns = [[row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]]
    return pa.table([*columns, ["train.csv"] * len(rows), list(range(1, len(rows) + 1))], schema=examples_schema(info))


def make_noise(examples: pa.Table, flagged: dict[str, tuple[int, float]]) -> pa.Table:
    """Return the suspects of a train set; ``flagged`` in order of rank: uid -> suggested label id and its probability."""
    labels = dict(zip(examples["uid"].to_pylist(), examples["label"].to_pylist(), strict=True))
    others = [uid for uid in sorted(labels, reverse=True) if uid not in flagged]
    rows: list[dict[str, Any]] = []
    for rank, uid in enumerate([*flagged, *others], start=1):
        other = 0 if labels[uid] else 1
        suggested, sure = flagged.get(uid, (other, 0.1))
        rows.append(
            {
                "uid": uid,
                "probability": round(1 - rank / (len(labels) + 1), 6),
                "flagged": uid in flagged,
                "suggested": suggested,
                "suggested_probability": sure,
                "rank": rank,
                "reason": f"low confidence {rank}",
            }
        )
    return pa.Table.from_pylist(rows, NOISE).sort_by("uid")

"""Where what was planted lies on a data map, and how well low confidence finds the flipped labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cartograph import schema
from cartograph.metrics import average_precision, precision_recall_at

SCORE = pa.schema(
    [
        pa.field("uid", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("true_label", pa.string()),
        pa.field("give_away", pa.bool_(), nullable=False),
        pa.field("rank", pa.int64(), nullable=False),
        pa.field("flipped", pa.bool_(), nullable=False),
    ]
)
"""One row per train example, sorted by uid; rank 1 has the lowest confidence, and equal ones are ranked by uid."""

_QUARTILES = {"q25": 0.25, "median": 0.5, "q75": 0.75}


def score(measures: pa.Table, truth: pa.Table) -> tuple[pa.Table, dict[str, float]]:
    """Compare a map of a generated train set with what was planted in it.

    Args:
        measures: ``schema.MEASURES`` of the train set.
        truth: ``schema.TRUTH``; rows of other sets are passed over.

    Returns:
        A table of ``SCORE``, and flat numbers. ``average_precision`` of ranking by low confidence against the flipped
        rows; ``precision`` and ``recall`` of as many least confident rows as there are flipped ones (so the two are equal).
        For each kind its ``count``, ``kind.<kind>.region.<region>`` (share of the kind's rows, in [0, 1]), and of confidence and
        variability the mean (``kind.<kind>.confidence``) and the quartiles (``kind.<kind>.confidence.median``, …).

    Raises:
        ValueError: the measures are not of the rows that the truth is about, or no row is flipped.
    """
    table = _joined(measures, truth)
    confidence, variability = (table.column(name).to_numpy() for name in ("confidence", "variability"))
    kinds, regions = (np.asarray(table.column(name).to_pylist(), dtype=object) for name in ("kind", "region"))
    flipped = kinds == "flipped"
    rank = np.empty(len(confidence), np.int64)
    rank[np.argsort(confidence, kind="stable")] = np.arange(1, len(confidence) + 1)
    metrics = {"average_precision": average_precision(flipped, -confidence)}
    metrics["precision"], metrics["recall"] = precision_recall_at(flipped, rank, int(flipped.sum()))
    for kind in sorted(set(kinds.tolist())):
        rows = kinds == kind
        metrics[f"kind.{kind}.count"] = int(rows.sum())
        for name, values in (("confidence", confidence[rows]), ("variability", variability[rows])):
            metrics |= {f"kind.{kind}.{key}": value for key, value in _spread(name, values).items()}
        metrics |= {f"kind.{kind}.region.{region}": float(np.mean(regions[rows] == region)) for region in schema.REGIONS}
    columns = {**{name: table.column(name) for name in ("uid", "kind", "true_label", "give_away")}, "rank": rank, "flipped": flipped}
    return pa.table(columns, schema=SCORE), metrics


def _joined(measures: pa.Table, truth: pa.Table) -> pa.Table:
    """Return the train rows' truth beside their place on the map, sorted by uid."""
    planted = truth.filter(pc.equal(truth.column("set"), "train")).sort_by("uid")
    mapped = measures.select(["uid", "confidence", "variability", "region"]).sort_by("uid")
    known, found = planted.column("uid").to_pylist(), mapped.column("uid").to_pylist()
    if known != found:
        odd = sorted(set(known) ^ set(found))
        where = "truth" if odd and odd[0] in known else "measures"
        example = f"uid {odd[0]!r} is in the {where} alone" if odd else "some uid is there twice"
        raise ValueError(f"the truth is about {len(known):,} train rows, the measures are of {len(found):,}, and {example}")
    for name in ("confidence", "variability", "region"):
        planted = planted.append_column(name, mapped.column(name))
    return planted


def _spread(name: str, values: npt.NDArray[Any]) -> dict[str, float]:
    quartiles = {f"{name}.{key}": float(np.quantile(values, share)) for key, share in _QUARTILES.items()}
    return {name: float(values.mean()), **quartiles}

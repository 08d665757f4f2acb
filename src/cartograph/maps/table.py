"""The data map as a table: measures and region of every training example, and its summary in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cartograph.data.given import label_ids
from cartograph.errors import InputError
from cartograph.maps.measures import NEVER_LEARNT, Measures, Uids
from cartograph.maps.regions import AMBIGUOUS, EASY, HARD, Regions, assign_regions
from cartograph.maps.stability import BurnOut
from cartograph.schema import MEASURES, REGIONS

_QUANTILES = (10, 25, 50, 75, 90)
_SUMMARISED = (
    *("confidence", "variability", "correctness", "aum", "el2n", "loss"),
    *("out_of_fold_confidence", "out_of_fold_variability", "out_of_fold_margin"),
)
_BOUNDS = {"confidence": 1.0, "variability": 0.5, "correctness": 1.0}


def coordinates(table: pa.Table) -> Measures:
    """Return a map that came without logits (``schema.COORDINATES``) as measures; what needs logits is None.

    Raises:
        InputError: a coordinate outside its range, naming uid and column.
    """
    columns = {name: table.column(name).to_numpy().astype(np.float64) for name in _BOUNDS}
    for name, values in columns.items():
        # The widened variability of `include_ci` may exceed one half.
        bound = 0.56 if name == "variability" else _BOUNDS[name]
        outside = np.flatnonzero(~((values >= 0) & (values <= bound)))
        if len(outside):
            raise InputError(
                f"uid {table.column('uid')[outside[0]].as_py()!r} has {name} {values[outside[0]]:g}, where 0 to {_BOUNDS[name]:g} is "
                f"expected ({len(outside):,} such); correctness must be the fraction of epochs, not their count."
            )
    return Measures(**columns)


def map_table(uids: Uids, gold: npt.ArrayLike, measures: Measures, regions: Regions | None = None) -> pa.Table:
    """Return the data map as a table: uid, label, measures and region of every row, sorted by uid (``schema.MEASURES``).

    Args:
        uids: unique names, length n_examples.
        gold: given label ids, ``(n_examples,)``.
        measures: of the same rows; what is None becomes null.
        regions: of the same rows; None: those that ``assign_regions`` gives by default.

    Raises:
        InputError: gold labels that are no integers, measures that are no numbers, or arrays of different lengths.

    >>> measures = Measures(confidence=np.array([0.9, 0.2]), variability=np.array([0.0, 0.3]), correctness=np.array([1.0, 0.5]))
    >>> map_table(["b", "a"], np.array([0, 1]), measures).select(["uid", "gold", "confidence"]).to_pylist()
    [{'uid': 'a', 'gold': 1, 'confidence': 0.2}, {'uid': 'b', 'gold': 0, 'confidence': 0.9}]
    """
    labels, measures = label_ids(gold, "gold labels"), Measures(**measures.by_name())
    if regions is None:
        regions = assign_regions(uids, measures.confidence, measures.variability)
    columns: dict[str, Any] = {"uid": uids, "gold": labels, "region": regions.names}
    if measures.forgetting is not None:
        columns["forgetting"] = pa.array(measures.forgetting, mask=measures.never_learnt)
    arrays = []
    for field in MEASURES:
        values = columns[field.name] if field.name in columns else getattr(measures, field.name)
        if values is not None and len(values) != len(uids):
            raise InputError(f"`{field.name}` must have one entry per uid ({len(uids):,}), but has {len(values):,}.")
        arrays.append(pa.nulls(len(uids), field.type) if values is None else pa.array(values, field.type))
    return pa.Table.from_arrays(arrays, schema=MEASURES).sort_by("uid")


BURN_OUT = pa.schema([("epochs", pa.int32()), ("confidence", pa.float64()), ("variability", pa.float64())])
"""Pearson's r between the map of the first so many epochs and the map of all; null where it has no meaning."""


def burn_out_table(curve: BurnOut | None) -> pa.Table:
    """Return a burn-out curve as a table of ``BURN_OUT``: a row per epoch, none where only coordinates were given."""
    if curve is None:
        return BURN_OUT.empty_table()
    columns = [pa.array(values, mask=np.isnan(values)) for values in curve]
    return pa.Table.from_arrays([pa.array(np.arange(1, len(curve.confidence) + 1, dtype=np.int32)), *columns], schema=BURN_OUT)


DENSITY = pa.schema([("measure", pa.string()), ("value", pa.float64()), ("share", pa.float64())])
"""The share of all rows about a value of a measure: the map's densities, for plotting."""

_BINS = 40


def density_table(measures: pa.Table) -> pa.Table:
    """Return how the rows of a map are spread, as a table of ``DENSITY``.

    Confidence and variability are counted in 40 bins each and named by their middles; correctness at the values that it takes.

    Args:
        measures: a table of ``schema.MEASURES``.
    """
    rows: list[tuple[str, float, float]] = []
    for name in ("confidence", "variability"):
        values = measures.column(name).to_numpy()
        counts, edges = np.histogram(values, bins=_BINS, range=(0.0, max(_BOUNDS[name], float(values.max(initial=0.0)))))
        rows += [(name, middle, count) for middle, count in zip((edges[:-1] + edges[1:]) / 2, counts, strict=True)]
    taken, counts = np.unique(measures.column("correctness").to_numpy().round(6), return_counts=True)
    rows += [("correctness", value, count) for value, count in zip(taken, counts, strict=True)]
    n_examples = max(measures.num_rows, 1)
    columns = [[row[0] for row in rows], [round(float(row[1]), 6) for row in rows], [round(row[2] / n_examples, 8) for row in rows]]
    return pa.table(columns, schema=DENSITY)


def map_metrics(measures: Measures, regions: Regions) -> dict[str, float]:
    """Return the map in numbers: counts and shares of regions, their lists and cuts, means and quantiles; only what is defined."""
    n_examples = len(measures.confidence)
    metrics: dict[str, float] = {"rows": n_examples}
    for region in REGIONS:
        metrics[f"region.{region}.count"] = regions.count(region)
        metrics[f"region.{region}.share"] = round(regions.count(region) / n_examples, 6)
    for region, name in ((EASY, "min_confidence"), (AMBIGUOUS, "min_variability"), (HARD, "max_confidence")):
        cut = regions.cuts[region]
        if cut.value is not None:
            metrics[f"region.{region}.{name}"] = round(cut.value, 6)
        metrics |= {f"region.{region}.{key}": getattr(cut, key) for key in ("listed", "elsewhere", "tied")}
    for name in _SUMMARISED:
        values = getattr(measures, name)
        if values is not None:
            metrics[f"{name}.mean"] = round(float(values.mean()), 6)
            quantiles = np.percentile(values, _QUANTILES)
            metrics |= {f"{name}.p{percent}": round(float(value), 6) for percent, value in zip(_QUANTILES, quantiles, strict=True)}
    if measures.forgetting is not None:
        metrics["never_learnt.count"] = int(np.count_nonzero(measures.forgetting == NEVER_LEARNT))
        metrics["forgotten.count"] = int(np.count_nonzero(measures.forgetting > 0))
    return metrics

"""The score against the planted truth: where each kind lies on the map, and how well suspects and low confidence find flipped labels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph import schema
from cartograph.data.arrays import Array, Bools
from cartograph.schema import schema_of
from cartograph.statistics.metrics import average_precision, precision_recall_at

SCORE = schema_of(
    {
        "uid": "string",
        "kind": "string",
        "true_label": "string?",
        "error": "string?",
        "give_away": "bool",
        "rank": "int64",
        "flipped": "bool",
        "suspect_rank": "int64?",
        "flagged": "bool?",
        "filtered": "bool?",
    }
)
"""One row per train example, sorted by uid; rank 1 has the lowest confidence, and equal ones are ranked by uid. ``suspect_rank`` 1 is the
most suspect, ``flagged`` says that it is a suspect; both null where no suspects were looked for.
``filtered`` says that AFLite took it out; null where it was not in the filter's pool."""

_QUALITIES = ("average_precision", "precision", "recall")
_QUARTILES = {"q25": 0.25, "median": 0.5, "q75": 0.75}


def score(
    measures: pa.Table, truth: pa.Table, suspects: pa.Table | None = None, aflite: pa.Table | None = None
) -> tuple[pa.Table, dict[str, float]]:
    """Compare a map of a generated train set, and its suspects, with what was planted in it.

    Args:
        measures: ``schema.MEASURES`` of the train set.
        truth: ``schema.TRUTH``; rows of other sets are passed over.
        suspects: ``schema.NOISE`` of the train set; None where none were looked for.
        aflite: ``schema.AFLITE`` of the filter's pool; None where nothing was filtered.

    Returns:
        A table of ``SCORE``, and flat numbers. Against the flipped rows: ``average_precision`` of the suspects' ranking, ``precision`` and
        ``recall`` of the flagged ones (precision 0 where none is); ``low_confidence.average_precision`` of ranking by low
        confidence, ``low_confidence.precision`` and ``.recall`` of as many least confident rows as there are flipped ones (so
        the two are equal). Without suspects the three are those of low confidence.
        Of the filter, where any row has a planted give-away word, ``give_away.odds_ratio``: the odds that such a row is taken out, over
        those of a row without one (higher than 1 = taken out by preference), the ends of its 95 % interval (``.low``, ``.high``), and
        the shares taken out (``give_away.filtered``, ``no_give_away.filtered``).
        For each error (``schema.TRUTH``) its ``error.<error>.count`` and, where suspects were looked for, ``error.<error>.recall``.
        For each kind its ``count``, ``kind.<kind>.region.<region>`` (share of the kind's rows, in [0, 1]), and of confidence and
        variability the mean (``kind.<kind>.confidence``) and the quartiles (``kind.<kind>.confidence.median``, …).

    Raises:
        ValueError: the measures, or the suspects, are not of the rows that the truth is about, or no row is flipped.
    """
    table = _joined(measures, truth, suspects)
    confidence, variability = (table.column(name).to_numpy() for name in ("confidence", "variability"))
    kinds, regions = (np.asarray(table.column(name).to_pylist(), dtype=object) for name in ("kind", "region"))
    flipped = kinds == "flipped"
    if not flipped.any():
        raise ValueError("no row is flipped")
    rank = np.empty(len(confidence), np.int64)
    rank[np.argsort(confidence, kind="stable")] = np.arange(1, len(confidence) + 1)
    low = (average_precision(flipped, -confidence), *precision_recall_at(flipped, rank, int(flipped.sum())))
    metrics = {f"low_confidence.{name}": value for name, value in zip(_QUALITIES, low, strict=True)}
    metrics |= dict(zip(_QUALITIES, low if suspects is None else _found(table, flipped), strict=True))
    errors = np.asarray(table.column("error").to_pylist(), dtype=object)
    for error in sorted(set(errors[flipped].tolist()) - {None}):
        metrics[f"error.{error}.count"] = int((errors == error).sum())
        if suspects is not None:
            metrics[f"error.{error}.recall"] = float(_flagged(table)[errors == error].mean())
    for kind in sorted(set(kinds.tolist())):
        rows = kinds == kind
        metrics[f"kind.{kind}.count"] = int(rows.sum())
        for name, values in (("confidence", confidence[rows]), ("variability", variability[rows])):
            metrics |= {f"kind.{kind}.{key}": value for key, value in _spread(name, values).items()}
        metrics |= {f"kind.{kind}.region.{region}": float(np.mean(regions[rows] == region)) for region in schema.REGIONS}
    if aflite is not None:
        table = table.append_column("filtered", _filtered(table, aflite))
        if pc.any(table.column("give_away")).as_py():
            metrics |= _preference(table)
    table = table.append_column("rank", pa.array(rank)).append_column("flipped", pa.array(flipped))
    for field in SCORE:
        if field.name not in table.column_names:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table.select(SCORE.names).cast(SCORE), metrics


def _found(table: pa.Table, flipped: Bools) -> tuple[float, float, float]:
    rank, flagged = table.column("suspect_rank").to_numpy(), _flagged(table)
    hits = int(np.count_nonzero(flipped & flagged))
    return average_precision(flipped, -rank.astype(np.float64)), hits / max(int(flagged.sum()), 1), hits / int(flipped.sum())


def _flagged(table: pa.Table) -> Bools:
    return np.asarray(table.column("flagged").to_numpy(zero_copy_only=False), dtype=np.bool_)


def _filtered(table: pa.Table, aflite: pa.Table) -> pa.Array:
    places = pc.index_in(table.column("uid"), value_set=aflite["uid"].combine_chunks())
    return pc.invert(aflite["kept"].combine_chunks().take(places.combine_chunks()))


def _preference(table: pa.Table) -> dict[str, float]:
    """Return the odds ratio of being taken out, by Haldane and Anscombe's correction (half a row added to each count)."""
    known = table.filter(pc.is_valid(table.column("filtered")))
    gone, planted = (known.column(name).to_numpy(zero_copy_only=False).astype(np.bool_) for name in ("filtered", "give_away"))
    counts = {(a, b): int(((planted == a) & (gone == b)).sum()) for a in (True, False) for b in (True, False)}
    log = sum((1 if a == b else -1) * np.log(number + 0.5) for (a, b), number in counts.items())
    half = 1.959964 * np.sqrt(sum(1 / (number + 0.5) for number in counts.values()))
    odds = {"odds_ratio": log, "odds_ratio.low": log - half, "odds_ratio.high": log + half}
    shares = {
        f"{name}.filtered": float(gone[planted == value].mean()) if (planted == value).any() else 0.0
        for name, value in (("give_away", True), ("no_give_away", False))
    }
    return {f"give_away.{name}": float(np.exp(value)) for name, value in odds.items()} | shares


def _joined(measures: pa.Table, truth: pa.Table, suspects: pa.Table | None) -> pa.Table:
    """Return the train rows' truth beside their place on the map and among the suspects, sorted by uid."""
    planted = truth.filter(pc.equal(truth.column("set"), "train")).sort_by("uid")
    planted = _beside(planted, measures.select(["uid", "confidence", "variability", "region"]), "measures")
    if suspects is None:
        return planted
    return _beside(planted, suspects.select(["uid", "rank", "flagged"]).rename_columns(["uid", "suspect_rank", "flagged"]), "suspects")


def _beside(planted: pa.Table, others: pa.Table, what: str) -> pa.Table:
    others = others.sort_by("uid")
    uids, other_uids = planted.column("uid").to_pylist(), others.column("uid").to_pylist()
    if uids != other_uids:
        odd = sorted(set(uids) ^ set(other_uids))
        where = "truth" if odd and odd[0] in uids else what
        example = f"uid {odd[0]!r} is in the {where} alone" if odd else "some uid is there twice"
        raise ValueError(f"the truth is about {len(uids):,} train rows, the {what} are of {len(other_uids):,}, and {example}")
    for name in others.column_names[1:]:
        planted = planted.append_column(name, others.column(name))
    return planted


def _spread(name: str, values: Array) -> dict[str, float]:
    quartiles = {f"{name}.{key}": float(np.quantile(values, share)) for key, share in _QUARTILES.items()}
    return {name: float(values.mean()), **quartiles}

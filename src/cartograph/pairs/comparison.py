"""Methods compared: means over seeds with intervals, paired differences, and how many labels each needs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Floats
from cartograph.schema import schema_of
from cartograph.statistics.resampling import interval

MEASURES = {"average_precision": "average precision", "precision_at_recall_20": "precision at recall 20 %"}
"""Name of a number -> its name in sentences; in the order of the draws' columns."""

BALANCED = ("accuracy", "f1", "clean_map")
"""Scores on the stated test pairs, in the order of the columns of their draws."""

RESULTS = schema_of(
    {
        "method": "string",
        "seed": "int64",
        "round": "int64",
        "labels": "int64",
        "positive": "int64",
        "set": "string",
        "measure": "string",
        "value": "double",
    }
)
"""One number of one model on the ``dev`` or ``test`` pairs."""

SUMMARY = schema_of(
    {
        "method": "string",
        "round": "int64",
        "labels": "double",
        "positive": "double",
        "positive_low": "double",
        "positive_high": "double",
        "measure": "string",
        "seeds": "int64",
        "mean": "double",
        "low": "double",
        "high": "double",
    }
)
"""The mean over seeds on the test pairs, with its 95 % interval for other utterances of the same kind and other seeds; positives found,
with the fewest and the most of any seed."""

DIFFERENCES = schema_of(
    {"method": "string", "against": "string", "measure": "string", "difference": "double", "low": "double", "high": "double"}
)
"""The best method less each other, and less the model before any label, after the last round, on the same draws and seeds."""

UNTRAINED = "untrained"
"""The model before any label: round 0 of every method."""


@dataclass(frozen=True)
class RoundResult:
    """One round of one method and seed.

    Attributes:
        numbers: flat, as the round wrote them.
        draws: (resamples, 2) of the test pairs' measures.
        balanced: (resamples, 3) of ``BALANCED`` on the stated test pairs; None where no negative pair is stated.
    """

    method: str
    seed: int
    round: int
    numbers: Mapping[str, float]
    draws: Floats
    balanced: Floats | None = None


def results(arms: Sequence[RoundResult]) -> pa.Table:
    """Return every measure of every arm as ``RESULTS``."""
    rows = []
    for arm in arms:
        for name, value in arm.numbers.items():
            split, _, measure = name.partition(".")
            if split in ("dev", "test"):
                head = {"method": arm.method, "seed": arm.seed, "round": arm.round}
                counts = {"labels": int(arm.numbers["labels"]), "positive": int(arm.numbers["positive"])}
                rows.append({**head, **counts, "set": split, "measure": measure, "value": value})
    return pa.Table.from_pylist(rows, schema=RESULTS)


def summary(arms: Sequence[RoundResult], seed: int) -> pa.Table:
    """Return the mean of each measure over seeds, by method and round, as ``SUMMARY``."""
    rows: list[dict[str, Any]] = []
    for method, number in dict.fromkeys((arm.method, arm.round) for arm in arms):
        own = [arm for arm in arms if (arm.method, arm.round) == (method, number)]
        for place, measure in enumerate(MEASURES):
            values = np.array([arm.numbers[f"test.{measure}"] for arm in own])
            drawn = np.stack([arm.draws[:, place] for arm in own], axis=1)
            ends = _ends(values, drawn, seed)
            counts = {name: float(np.mean([arm.numbers[name] for arm in own])) for name in ("labels", "positive")}
            positives = [arm.numbers["positive"] for arm in own]
            counts |= {"positive_low": float(min(positives)), "positive_high": float(max(positives))}
            rows.append({"method": method, "round": number, **counts, "measure": measure, "seeds": len(own), "mean": values.mean(), **ends})
    return pa.Table.from_pylist(rows, schema=SUMMARY)


def differences(arms: Sequence[RoundResult], seed: int) -> pa.Table:
    """Return the best method less each other, and less the untrained model, after the last round, as ``DIFFERENCES``.

    Best is the one with the highest mean average precision.
    """
    final: dict[str, list[RoundResult]] = {}
    before = [arm for arm in arms if not arm.round]
    last = max(arm.round for arm in arms)
    for arm in arms:
        if arm.round == last:
            final.setdefault(arm.method, []).append(arm)
    best = max(final, key=lambda method: float(np.mean([arm.numbers["test.average_precision"] for arm in final[method]])))
    if before:
        final[UNTRAINED] = [arm for arm in before if arm.method == best]
    rows = []
    for method in (name for name in final if name != best):
        for place, measure in enumerate(MEASURES):
            values, draws = _less(final[best], final[method], measure, place)
            ends = interval(values, _whole(draws), np.random.default_rng(seed))
            rows.append({"method": best, "against": method, "measure": measure, "difference": float(values.mean()), **ends})
    return pa.Table.from_pylist(rows, schema=DIFFERENCES)


def balanced_scores(arms: Sequence[RoundResult], seed: int) -> dict[str, float]:
    """Return the mean over seeds of each score on the stated test pairs, by name, with ``.low`` and ``.high``.

    Args:
        arms: one round of one method, a seed each.
        seed: of the intervals' draws.
    """
    scores: dict[str, float] = {}
    for place, name in enumerate(BALANCED):
        values = [arm.numbers[f"test.stated.{name}"] for arm in arms if arm.balanced is not None and f"test.stated.{name}" in arm.numbers]
        if len(values) < len(arms):
            continue
        drawn = np.stack([arm.balanced[:, place] for arm in arms if arm.balanced is not None], axis=1)
        ends = _ends(np.array(values), drawn, seed)
        scores |= {name: float(np.mean(values)), **{f"{name}.{end}": value for end, value in ends.items()}}
    return scores


def labels_needed(table: pa.Table, method: str, target: float) -> int | None:
    """Return after how many labels, at least one, a method's mean average precision reaches a target; None where it never does.

    Args:
        table: of ``SUMMARY``.
        method: which.
        target: in [0, 1].
    """
    for row in sorted(table.to_pylist(), key=lambda row: row["round"]):
        if (row["method"], row["measure"]) == (method, "average_precision") and row["round"] and row["mean"] >= target:
            return int(row["labels"])
    return None


def collection_version(left: Sequence[str], right: Sequence[str], label: Sequence[int]) -> str:
    """Return the version of a collected dataset: 12 hexadecimal digits of its content; the order of its rows does not count."""
    lines = sorted(repr(row) for row in zip(left, right, label, strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def _ends(values: Floats, draws: Floats, seed: int) -> dict[str, float]:
    """Return the interval of a mean of shares: within [0, 1], where t's wide tails of few seeds may not be."""
    ends = interval(values, _whole(draws), np.random.default_rng(seed))
    return {end: min(max(value, 0.0), 1.0) for end, value in ends.items()}


def _less(ones: Sequence[RoundResult], others: Sequence[RoundResult], measure: str, place: int) -> tuple[Floats, Floats]:
    """Return one method's numbers less another's, seed by seed: as they are, and on each draw."""
    name = f"test.{measure}"
    values = [one.numbers[name] - other.numbers[name] for one, other in zip(ones, others, strict=True)]
    draws = [one.draws[:, place] - other.draws[:, place] for one, other in zip(ones, others, strict=True)]
    return np.array(values), np.stack(draws, axis=1)


def _whole(draws: Floats) -> Floats:
    """Return the draws that had a positive pair."""
    kept: Floats = draws[~np.isnan(draws).any(axis=1)]
    return kept

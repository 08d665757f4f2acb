"""The numbers that gates are about, from the tables and records that an audit leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cartograph.audits.gates import GateValue
from cartograph.data.uids import with_places
from cartograph.statistics.proportion import least_share
from cartograph.wording import percent

_NAMED = 5
"""Most rows, classes, reasons or checks that a gate names."""

_DID = {True: ("did", "did"), False: ("was", "were")}
_CHANGED = ("added", "edited", "relabelled")
_SUSPECTS_FILE, _CHANGES_FILE = "data/noise/noise.parquet", "data/compare/rows.parquet"


def suspect_values(noise: pa.Table, changes: pa.Table | None, examples: pa.Table, *, known: bool = True) -> Iterator[GateValue]:
    """Yield the share of suspects, of those that are new, and of those among rows that were added or changed.

    Args:
        noise: ``schema.NOISE`` of the train set.
        changes: ``schema.ROW_CHANGES`` since the last audit; None for a first audit.
        examples: ``uid``, ``source`` and ``row`` of the train set.
        known: whether it could be estimated how many labels are wrong; else suspects are only worth a second look.
    """
    verbs = ("looks wrong", "look wrong") if known else ("is worth a second look", "are worth a second look")
    flagged = noise.filter(noise["flagged"]).sort_by("rank")["uid"]
    yield _share("suspects", flagged.to_pylist(), noise.num_rows, verbs, _SUSPECTS_FILE, examples)
    if changes is None:
        yield from (GateValue("new_suspects", None), GateValue("changed_suspects", None))
        return
    new = changes.filter(pc.equal(changes["what"], "new suspect"))["uid"]
    rows = flagged.filter(pc.is_in(flagged, value_set=new.combine_chunks())).to_pylist()
    looks = (f"{verbs[0]} that {_DID[known][0]} not in the last audit", f"{verbs[1]} that {_DID[known][1]} not in the last audit")
    yield _share("new_suspects", rows, noise.num_rows, looks, _CHANGES_FILE, examples)
    changed = changes.filter(pc.is_in(changes["what"], value_set=pa.array(_CHANGED)))["uid"].unique()
    yield _changed_suspects(flagged.filter(pc.is_in(flagged, value_set=changed)).to_pylist(), len(changed), examples)


def _changed_suspects(uids: list[str], changed: int, examples: pa.Table) -> GateValue:
    if not changed:
        return GateValue("changed_suspects", 0.0, "No row was added or changed since the last audit")
    looks = ("added or changed since the last audit looks wrong", "added or changed since the last audit look wrong")
    value = _share("changed_suspects", uids, changed, looks, _CHANGES_FILE, examples)
    least = least_share(len(uids), changed)
    return replace(value, value=least, statement=f"{value.statement.removesuffix(')')}; at least {percent(least)} with 95 % confidence)")


def _share(gate: str, uids: list[str], rows: int, verbs: tuple[str, str], where: str, examples: pa.Table) -> GateValue:
    number = len(uids)
    statement = f"{number:,} of {rows:,} labels {verbs[number != 1]} ({percent(number / rows)})"
    # Of more, the first few say nothing: all are in the file.
    named = with_places(uids, examples) if number <= _NAMED else []
    return GateValue(gate, number / rows, statement, rows=named, where=where)


def quarantine_value(metrics: Mapping[str, float], reasons: Mapping[str, int]) -> GateValue:
    """Return the share of rows that could not be used.

    Args:
        metrics: with ``quarantined`` and ``quarantined.share``, as ingest writes them.
        reasons: reason -> rows, the most frequent first.
    """
    share = metrics["quarantined.share"]
    statement = f"{metrics['quarantined']:,} rows ({percent(share)}) could not be used"
    named = [f"{count:,} {reason}" for reason, count in list(reasons.items())[:_NAMED]]
    return GateValue("quarantined", share, statement, rows=named, where="data/ingest/quarantine.parquet")


def class_shift_value(comparison: Mapping[str, Any]) -> GateValue:
    """Return the share of rows that went from one class to another since the last audit.

    Args:
        comparison: as in ``data/compare/comparison.json``; empty for a first audit.
    """
    if not comparison:
        return GateValue("class_shift", None)
    value = comparison["numbers"]["class_shift"]
    moved = sorted(comparison["classes"].items(), key=lambda item: -abs(item[1][1] - item[1][0]))
    named = [f"{name} {percent(before)} → {percent(now)}" for name, (before, now) in moved[:_NAMED] if before != now]
    return GateValue("class_shift", value, f"The classes' shares shifted by {percent(value)} since the last audit", rows=named)


def accuracy_drop_value(comparison: Mapping[str, Any]) -> GateValue:
    """Return by how much accuracy fell on the evaluation set where it fell most.

    Args:
        comparison: as in ``data/compare/comparison.json``; empty for a first audit.
    """
    before, now = comparison.get("before", {}), comparison.get("now", {})
    drops = {name: before[name] - now[name] for name in before if name.endswith(".accuracy") and name in now}
    if not drops:
        return GateValue("accuracy_drop", None, "No evaluation set that the last audit had, too" if comparison else "")
    name = max(drops, key=lambda name: drops[name])
    statement = f"Accuracy on {name.removesuffix('.accuracy')} went from {before[name]:.3f} to {now[name]:.3f}"
    return GateValue("accuracy_drop", drops[name], statement, unit="points")


def training_value(training: Mapping[str, Any]) -> GateValue:
    """Return whether something is wrong with the training behind the map.

    Args:
        training: as in ``data/train/training.json``; of imported dynamics nothing is known.
    """
    if "learning" not in training:
        return GateValue("training_problems", None, "The map was not trained here")
    sentence = training["learning"]["sentence"]
    statement = "1 problem with the training of the map's model" if sentence else "The map's model has learnt the data"
    return GateValue("training_problems", int(bool(sentence)), statement, "count", [sentence.rstrip(".")] if sentence else [])


def cleaning_value(recommended: Mapping[str, Any]) -> GateValue:
    """Return by how many scores models are measurably worse on the cleaned rows than on the original.

    Args:
        recommended: as in ``data/evaluate/recommended.json``; empty where the two were not compared.
    """
    if not recommended:
        return GateValue("cleaning_harm", None, "No models of the original and the cleaned rows could be compared")
    worse = recommended["worse"]
    number, plural = len(worse), "" if len(worse) == 1 else "s"
    use = f"the {recommended['recommended']} rows are recommended"
    if recommended.get("outcome") == "unchanged":
        return GateValue("cleaning_harm", number, f"Cleaning changed nothing that a model sees; {use}", "count")
    statement = (
        f"By {number:,} score{plural} models trained on the cleaned rows are measurably worse, so {use}"
        if number
        else f"Models trained on the cleaned rows are not measurably worse than on the original; {use}"
    )
    return GateValue("cleaning_harm", number, statement, "count", [f"{metric} on {name}" for name, metric in worse][:_NAMED])


def check_values(validations: Sequence[Mapping[str, Any]]) -> Iterator[GateValue]:
    """Yield the number of failed checks that are not critical, and of critical ones.

    Args:
        validations: as in ``data/ingest/validation.json`` and ``data/clean/validation.json``.
    """
    checks = [(entry["set"], check) for validation in validations for entry in validation["sets"] for check in entry["checks"]]
    for gate, kind, critical in (("failed_checks", "check", False), ("failed_critical_checks", "critical check", True)):
        failed = [(name, check) for name, check in checks if not check["passed"] and (check["severity"] == "critical") == critical]
        statement = f"{len(failed):,} {kind}{'' if len(failed) == 1 else 's'} of the data failed"
        named = [f"{check['check']} in set `{name}` (expected {check['expected']}, found {check['found']})" for name, check in failed]
        yield GateValue(gate, len(failed), statement, "count", named[:_NAMED])

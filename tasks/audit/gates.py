"""The step `gates`: the audit's numbers compared with bounds; and the check that ends an audit whose gates failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json, write_json
from cartograph.errors import CartographError, CellError, GateError
from tasks.audit import compare
from tasks.engine.step import Inputs, Out, Step
from tasks.engine.workspace import Workspace

if TYPE_CHECKING:
    from cartograph.audits.gates import GateValue

DATA = "data/gates"
METRICS = "reports/gates.metrics.json"
_NOISE = "data/noise"
_NAMED = 5
_CHANGED = ("added", "edited", "relabelled")
_STATES = {"unknown": -1, "passed": 0, "warned": 1, "failed": 2}


class Gate(Section):
    """From which value on a gate warns, and from which it fails the audit."""

    warn: float | None = Field(None, gt=0)
    fail: float | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _in_order(self) -> Gate:
        if self.warn is not None and self.fail is not None and self.warn > self.fail:
            raise ValueError(f"a gate must warn before it fails, but `warn` is {self.warn:g} and `fail` is {self.fail:g}")
        return self


def _none(value: Any) -> Any:
    return {} if value is None else value


Bounds = Annotated[Gate, BeforeValidator(_none)]


class Gates(Section):
    """The section ``gates`` of params.yaml: ``{warn: NUMBER, fail: NUMBER}`` each; null: never."""

    suspects: Bounds = Field(Gate(warn=0.05), description="share of the train rows whose labels look wrong")
    new_suspects: Bounds = Field(
        Gate(warn=0.02), description="share of the train rows that look wrong and did not, or were not there, in the audit before"
    )
    changed_suspects: Bounds = Field(
        Gate(warn=0.05),
        description="share of the rows that came or changed since the audit before whose labels look wrong, at the least: "
        "the lower end of its one-sided 95 % interval",
    )
    quarantined: Bounds = Field(Gate(warn=0.01), description="share of all rows read that could not be used")
    class_shift: Bounds = Field(
        Gate(warn=0.05, fail=0.2), description="share of the train rows that went from one class to another since the audit before"
    )
    accuracy_drop: Bounds = Field(
        Gate(warn=0.03), description="how much less accurate the model is on an evaluation set than in the audit before; 0.03 = 3 points"
    )
    failed_checks: Bounds = Field(Gate(warn=1), description="number of failed checks of the data, critical ones not counted")
    failed_critical_checks: Bounds = Field(Gate(fail=1), description="number of failed critical checks of the data")


def run(params: Gates, inputs: Inputs, out: Out) -> str:
    """Write the outcome of each gate; return how many failed, warned and passed. No gate stops the steps: the report comes first."""
    from cartograph.audits.gates import Bound, evaluate_gates, worst

    bounds = {name: Bound(**getattr(params, name).model_dump()) for name in type(params).model_fields}
    findings = evaluate_gates(list(_measured(inputs)), bounds)
    counts = {state: sum(finding.outcome == state for finding in findings) for state in _STATES}
    write_json(out[DATA] / "gates.json", {"outcome": worst(findings), "gates": [finding.content() for finding in findings]})
    states = {f"gate.{finding.gate}": _STATES[finding.outcome] for finding in findings}
    write_json(out[METRICS], {**states, "gates.warned": counts["warned"], "gates.failed": counts["failed"]})
    outcomes = [f"{counts[state]} {state}" for state in ("failed", "warned", "passed") if counts[state]]
    return ", ".join(outcomes) or "no gate is set"


def _measured(inputs: Mapping[str, Path]) -> Iterator[GateValue]:
    comparison = _json(inputs[compare.DATA] / "comparison.json")
    yield from _suspects(inputs, comparison)
    yield _quarantined(inputs)
    yield _class_shift(comparison)
    yield _accuracy_drop(comparison)
    yield from measured_checks([inputs[name] / "validation.json" for name in ("data/ingest", "data/clean")])


def _suspects(inputs: Mapping[str, Path], comparison: Mapping[str, Any]) -> Iterator[GateValue]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from cartograph.audits.gates import GateValue

    if _NOISE not in inputs:
        return
    table = pq.read_table(inputs[_NOISE] / "noise.parquet", columns=["uid", "flagged", "rank"])
    flagged = table.filter(table["flagged"]).sort_by("rank")["uid"]
    yield _share("suspects", flagged.to_pylist(), table.num_rows, ("looks wrong", "look wrong"), f"{_NOISE}/noise.parquet")
    if not comparison:
        yield from (GateValue("new_suspects", None), GateValue("changed_suspects", None))
        return
    changes = pq.read_table(inputs[compare.DATA] / "rows.parquet")
    new = changes.filter(pc.equal(changes["what"], "new suspect"))["uid"]
    rows = flagged.filter(pc.is_in(flagged, value_set=new.combine_chunks())).to_pylist()
    looks = ("looks wrong that did not in the audit before", "look wrong that did not in the audit before")
    yield _share("new_suspects", rows, table.num_rows, looks, f"{compare.DATA}/rows.parquet")
    changed = changes.filter(pc.is_in(changes["what"], value_set=pa.array(_CHANGED)))["uid"].unique()
    yield _changed_suspects(flagged.filter(pc.is_in(flagged, value_set=changed)).to_pylist(), len(changed))


def _changed_suspects(uids: list[str], changed: int) -> GateValue:
    from cartograph.audits.gates import GateValue
    from cartograph.statistics.proportion import least_share

    if not changed:
        return GateValue("changed_suspects", 0.0, "No row came or changed since the audit before")
    looks = ("that came or changed since the audit before looks wrong", "that came or changed since the audit before look wrong")
    found = _share("changed_suspects", uids, changed, looks, f"{compare.DATA}/rows.parquet")
    least = least_share(len(uids), changed)
    return replace(found, value=least, statement=f"{found.statement.removesuffix(')')}; at least {least:.1%} with 95 % confidence)")


def _share(gate: str, uids: list[str], rows: int, verbs: tuple[str, str], where: str) -> GateValue:
    from cartograph.audits.gates import GateValue

    number = len(uids)
    sentence = f"{number:,} of {rows:,} labels {verbs[number != 1]} ({number / rows:.1%})"
    named = [*map(repr, uids[:_NAMED]), *(["…"] if number > _NAMED else [])]
    return GateValue(gate, number / rows, sentence, rows=named, where=where)


def _quarantined(inputs: Mapping[str, Path]) -> GateValue:
    from cartograph.audits.gates import GateValue

    metrics = _json(inputs["reports/ingest.metrics.json"])
    reasons = _json(inputs["data/ingest"] / "validation.json")["quarantine"]
    sentence = f"{metrics['quarantined']:,} rows ({metrics['quarantined.share']:.1%}) could not be used"
    named = [f"{count:,} {reason}" for reason, count in list(reasons.items())[:_NAMED]]
    return GateValue("quarantined", metrics["quarantined.share"], sentence, rows=named, where="data/ingest/quarantine.parquet")


def _class_shift(comparison: Mapping[str, Any]) -> GateValue:
    from cartograph.audits.gates import GateValue

    if not comparison:
        return GateValue("class_shift", None)
    value = comparison["numbers"]["class_shift"]
    moved = sorted(comparison["classes"].items(), key=lambda item: -abs(item[1][1] - item[1][0]))
    named = [f"{name} {before:.1%} → {now:.1%}" for name, (before, now) in moved[:_NAMED] if before != now]
    return GateValue("class_shift", value, f"The classes' shares shifted by {value:.1%} since the audit before", rows=named)


def _accuracy_drop(comparison: Mapping[str, Any]) -> GateValue:
    from cartograph.audits.gates import GateValue

    before, now = comparison.get("before", {}), comparison.get("now", {})
    drops = {name: before[name] - now[name] for name in before if name.endswith(".accuracy") and name in now}
    if not drops:
        return GateValue("accuracy_drop", None, "No evaluation set that the audit before has too" if comparison else "")
    name = max(drops, key=lambda name: drops[name])
    sentence = f"Accuracy on {name.removesuffix('.accuracy')} went from {before[name]:.3f} to {now[name]:.3f}"
    return GateValue("accuracy_drop", drops[name], sentence, unit="points")


def measured_checks(files: Sequence[Path]) -> Iterator[GateValue]:
    """Yield the number of failed checks that are not critical, and of critical ones, read from validation files."""
    from cartograph.audits.gates import GateValue

    failed = [(item["set"], check) for file in files for item in _json(file)["sets"] for check in item["checks"] if not check["passed"]]
    for gate, critical in (("failed_checks", False), ("failed_critical_checks", True)):
        found = [(name, check) for name, check in failed if (check["severity"] == "critical") == critical]
        kind = "critical check" if critical else "check"
        sentence = f"{len(found):,} {kind}{'' if len(found) == 1 else 's'} of the data failed"
        named = [f"{check['check']} in set `{name}` (expected {check['expected']}, found {check['found']})" for name, check in found]
        yield GateValue(gate, len(found), sentence, "count", named[:_NAMED])


def check_gates(workspace: Workspace) -> None:
    """End an audit whose gates failed; called once every step has run, so that the report is there to read.

    Raises:
        GateError: a gate failed; the message is its sentence.
    """
    failed = [finding["sentence"] for finding in findings(workspace) if finding["outcome"] == "failed"]
    if failed:
        more = f" {len(failed) - 1} more gate{'s' * (len(failed) > 2)} failed." if len(failed) > 1 else ""
        raise GateError(f"{failed[0]}{more} See {workspace.path / 'reports' / 'report.html'}.")


def came_to_gates(workspace: Workspace, error: CartographError | None) -> bool:
    """Return whether an audit that ended with this error, or with none, ran its gates, so that what stands there is its own."""
    if isinstance(error, GateError):
        # A step may end an audit with such an error too, before any gate.
        return any(str(error).startswith(finding["sentence"]) for finding in findings(workspace) if finding["outcome"] == "failed")
    return error is None or isinstance(error, CellError)


def findings(workspace: Workspace) -> list[dict[str, Any]]:
    """Return the outcome of each of the workspace's gates, as the step left it; empty where it has not run."""
    found: list[dict[str, Any]] = _json(workspace.path / DATA / "gates.json").get("gates", [])
    return found


def _json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = read_json(path) if path.exists() else {}
    return content


def _inputs(settings: Settings) -> tuple[str, ...]:
    noise = (_NOISE,) if "noise" in settings else ()
    return ("data/ingest", "data/clean", compare.DATA, *noise, "reports/ingest.metrics.json")


STEP = Step(name="gates", run=run, params=Gates, inputs=_inputs, outputs=(DATA, METRICS), libraries=("pyarrow",))

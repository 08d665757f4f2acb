"""The step `gates`: the audit's numbers compared with bounds; and the check that ends an audit whose gates failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json, write_json
from cartograph.errors import CartographError, CellError, GateError
from tasks.audit import compare
from tasks.audit.plan import retrained_models
from tasks.audit.recipes import TRAINING
from tasks.engine.step import Inputs, Out, Step
from tasks.engine.workspace import Workspace

if TYPE_CHECKING:
    from cartograph.audits.gates import GateValue

DATA = "data/gates"
METRICS = "reports/gates.metrics.json"
_NOISE = "data/noise"
_RECOMMENDED = "data/evaluate/recommended.json"
_STATES = {"unknown": -1, "passed": 0, "warned": 1, "failed": 2}


class Gate(Section):
    """From which value on a gate warns, and from which it fails the audit."""

    warn: float | None = Field(None, gt=0)
    fail: float | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
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
        Gate(warn=0.02), description="share of the train rows that look wrong and did not, or were not there, in the last audit"
    )
    changed_suspects: Bounds = Field(
        Gate(warn=0.05),
        description="share of the rows added or changed since the last audit whose labels look wrong, at the least: "
        "the lower end of its one-sided 95 % interval",
    )
    quarantined: Bounds = Field(Gate(warn=0.01), description="share of all rows read that could not be used")
    class_shift: Bounds = Field(
        Gate(warn=0.05, fail=0.2), description="share of the train rows that went from one class to another since the last audit"
    )
    accuracy_drop: Bounds = Field(
        Gate(warn=0.03), description="how much less accurate the model is on an evaluation set than in the last audit; 0.03 = 3 points"
    )
    training_problems: Bounds = Field(
        Gate(warn=1), description="1 if the map's model has not learnt the data, or has memorised them; otherwise 0"
    )
    cleaning_harm: Bounds = Field(
        Gate(warn=1), description="number of scores by which models are measurably worse on the cleaned rows than on the original"
    )
    failed_checks: Bounds = Field(Gate(warn=1), description="number of failed checks of the data, critical ones not counted")
    failed_critical_checks: Bounds = Field(Gate(fail=1), description="number of failed critical checks of the data")


def run(params: Gates, inputs: Inputs, out: Out) -> str:
    """Write the outcome of each gate; return how many failed, warned and passed. No gate stops the steps: the report comes first."""
    from cartograph.audits.gates import Bound, evaluate_gates, worst

    bounds = {name: Bound(**getattr(params, name).model_dump()) for name in type(params).model_fields}
    findings = evaluate_gates(list(_gate_values(inputs)), bounds)
    counts = {state: sum(finding.outcome == state for finding in findings) for state in _STATES}
    write_json(out[DATA] / "gates.json", {"outcome": worst(findings), "gates": [finding.content() for finding in findings]})
    states = {f"gate.{finding.gate}": _STATES[finding.outcome] for finding in findings}
    write_json(out[METRICS], {**states, "gates.warned": counts["warned"], "gates.failed": counts["failed"]})
    outcomes = [f"{counts[state]} {state}" for state in ("failed", "warned", "passed") if counts[state]]
    return ", ".join(outcomes) or "no gate is set"


def _gate_values(inputs: Mapping[str, Path]) -> Iterator[GateValue]:
    import pyarrow.parquet as pq

    from cartograph.audits.gate_values import (
        accuracy_drop_value,
        check_values,
        class_shift_value,
        cleaning_value,
        quarantine_value,
        suspect_values,
        training_value,
    )
    from cartograph.clean.reviewed import open_suspects

    folder = inputs[compare.DATA]
    comparison = read_json(folder / "comparison.json") if (folder / "comparison.json").exists() else {}
    validations = [read_json(inputs[name] / "validation.json") for name in ("data/ingest", "data/clean")]
    if _NOISE in inputs:
        listed = pq.read_table(inputs[_NOISE] / "noise.parquet", columns=["uid", "flagged", "rank"])
        noise = open_suspects(listed, pq.read_table(inputs["data/clean"] / "decided.parquet"))
        examples = pq.read_table(inputs["data/ingest"] / "train.parquet", columns=["uid", "source", "row"])
        known = not read_json(inputs[_NOISE] / "noise.json").get("unknown")
        yield from suspect_values(noise, pq.read_table(folder / "rows.parquet") if comparison else None, examples, known=known)
    yield quarantine_value(read_json(inputs["reports/ingest.metrics.json"]), validations[0]["quarantine"])
    yield class_shift_value(comparison)
    yield accuracy_drop_value(comparison)
    yield training_value(read_json(inputs[TRAINING]))
    yield cleaning_value(read_json(inputs[_RECOMMENDED]) if _RECOMMENDED in inputs else {})
    yield from check_values(validations)


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
    path = workspace.path / DATA / "gates.json"
    gates: list[dict[str, Any]] = read_json(path)["gates"] if path.exists() else []
    return gates


def _inputs(settings: Settings) -> tuple[str, ...]:
    noise = (_NOISE,) if "noise" in settings else ()
    recommended = (_RECOMMENDED,) if retrained_models(settings) else ()
    return ("data/ingest", "data/clean", compare.DATA, *noise, TRAINING, *recommended, "reports/ingest.metrics.json")


STEP = Step(name="gates", run=run, params=Gates, inputs=_inputs, outputs=(DATA, METRICS), libraries=("pyarrow",))

"""The step `compare`: this audit against the one before it of the same workspace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json, write_json
from cartograph.wording import counted
from tasks.audit.parameters.ingest import Sources
from tasks.engine.step import Inputs, Out, Step

if TYPE_CHECKING:
    from cartograph.audits.changes import AuditChanges
    from cartograph.audits.record import Record

ROWS = "data/ingest/train.parquet"
DATA = "data/compare"
METRICS = "reports/compare.metrics.json"
_NUMBERS = ("reports/ingest.metrics.json", "reports/train.metrics.json", "reports/measure.metrics.json")
_PLACE, _FOUND = ["uid", "confidence", "variability", "region"], ["uid", "flagged", "probability", "suggested"]
_FOLLOWED = ("quarantined.share", "validation.failed", "suspects.share", "suspects")


class Compare(Section):
    """The section ``compare`` of params.yaml."""

    seed: int = Field(13, ge=0, description="seed of the test that compares the two maps")


def run(params: Compare, inputs: Inputs, out: Out) -> str:
    """Write this audit's record, that of the one before, and what changed between them; return it in a line.

    The audit before is what this step left when it last ran, so it is looked for where its outputs stand: DVC keeps them in place, and
    ``dvc pull`` brings them to another machine. An audit that found the same as the last one is no new audit.
    """
    import numpy as np

    from cartograph.audits.changes import audit_changes
    from cartograph.data.parquet import write_parquet

    this, previous = _in_sequence(_record(inputs, out.workspace.settings), out.workspace.resolve(DATA))
    folder = out[DATA]
    write_record(this, folder, "record")
    metrics: dict[str, float] = {"audit.number": this.number}
    summary = "no earlier audit of other rows, labels or parameters"
    if previous is not None:
        changes = audit_changes(previous, this, np.random.default_rng(params.seed))
        write_record(previous, folder, "previous")
        write_parquet(changes.rows, folder / "rows.parquet")
        write_json(folder / "comparison.json", comparison_content(changes, previous, this))
        metrics |= changes.numbers()
        summary = summary_line(changes)
    write_json(out[METRICS], metrics)
    return summary


def _record(inputs: Mapping[str, Path], settings: Settings) -> Record:
    import pyarrow.parquet as pq

    from cartograph.audits.columns import column_summaries
    from cartograph.audits.record import Record, record_rows

    noise = pq.read_table(inputs["data/noise"] / "noise.parquet", columns=_FOUND) if "data/noise" in inputs else None
    measures = pq.read_table(inputs["data/measure"] / "measures.parquet", columns=_PLACE)
    numbers: dict[str, float] = {}
    for name in inputs:
        if name.endswith(".metrics.json"):
            numbers |= read_json(inputs[name])
    sets = [name for name in settings.of(Sources).sets() if name != "train"]
    wanted = (*_FOLLOWED, *(f"region.{region}.share" for region in _regions()), *(f"{name}.accuracy" for name in sorted(sets)))
    examples = pq.read_table(inputs[ROWS])
    rows = record_rows(examples, measures, noise)
    followed = {name: numbers[name] for name in wanted if name in numbers}
    return Record(rows, {"rows": rows.num_rows, **followed}, columns=column_summaries(examples))


def _regions() -> tuple[str, ...]:
    from cartograph.schema import REGIONS

    return REGIONS


def _in_sequence(found: Record, folder: Path) -> tuple[Record, Record | None]:
    """Return this audit's record with its number, and the one before it; ``folder`` is what this step left last time."""
    last = read_record(folder, "record")
    if last is not None and last.identity != found.identity:
        return found.after(last), last
    previous = read_record(folder, "previous")
    return (found, None) if previous is None else (found.after(previous), previous)


def write_record(record: Record, folder: Path, name: str) -> None:
    """Write a record as ``<name>.parquet`` and ``<name>.json``."""
    from cartograph.data.parquet import write_parquet

    write_parquet(record.rows, folder / f"{name}.parquet")
    write_json(folder / f"{name}.json", record.facts())


def read_record(folder: Path, name: str = "record") -> Record | None:
    """Return the record in a folder; None where it is missing, or not as it was written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from cartograph.audits.record import Record
    from cartograph.schema import RECORD

    try:
        facts = read_json(folder / f"{name}.json")
        rows = pq.read_table(folder / f"{name}.parquet")
        numbers, earlier = ({**facts["numbers"]}, tuple({**one} for one in facts["earlier"]))
        columns = tuple({**one} for one in facts.get("columns", ()))
        record = Record(rows.cast(RECORD), numbers, int(facts["number"]), earlier, columns)
        # Earlier versions wrote no digest.
        return record if facts == record.facts() or facts.keys() == {"number", "numbers", "earlier"} else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, pa.ArrowException):
        return None


def comparison_content(changes: AuditChanges, before: Record, now: Record) -> dict[str, Any]:
    """Return a comparison as JSON values: what the report and the gates read."""
    return {
        "audits": [before.number, now.number],
        "numbers": changes.numbers(),
        "regions": changes.regions,
        "classes": {name: list(shares) for name, shares in changes.classes.items()},
        "columns": [asdict(column) for column in changes.columns],
        "before": dict(before.numbers),
        "now": dict(now.numbers),
    }


def summary_line(changes: AuditChanges) -> str:
    """Return what changed in a line."""
    counts = changes.counts
    parts = [f"{counts[f'rows.{what}']:,} {what}" for what in ("added", "removed", "edited", "relabelled") if counts[f"rows.{what}"]]
    drifted = sum(bool(column.why) for column in changes.columns)
    columns = f"; {counted(drifted, 'column')} drifted" if drifted else ""
    return f"{', '.join(parts) or 'the same rows'}; suspects +{counts['suspects.new']:,} -{counts['suspects.gone']:,}{columns}"


def _inputs(settings: Settings) -> tuple[str, ...]:
    noise = ("data/noise", "reports/noise.metrics.json") if "noise" in settings else ()
    return (ROWS, "data/measure", *noise, *_NUMBERS)


STEP = Step(
    name="compare",
    run=run,
    params=Compare,
    inputs=_inputs,
    outputs=(DATA, METRICS),
    libraries=("numpy", "pandas", "pyarrow", "scipy"),
    reads=("ingest",),
)

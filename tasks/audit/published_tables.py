"""The audit's suspects, decisions and cleaned row ids, written into a database or a lake table where params.yaml names one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.config import Settings
from cartograph.data.json_files import read_json
from tasks.audit.decisions import DECISIONS, decisions_in
from tasks.audit.parameters.ingest import Sources
from tasks.audit.parameters.tables import Tables
from tasks.audit.plan import selection_file
from tasks.engine.workspace import Workspace, project_root

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.read.databases import Query
    from cartograph.read.lakes import LakeTable

Found = Callable[..., Mapping[str, "pa.Table"]]
"""``cartograph.write.findings.findings``, or what is called alike."""

EXAMPLES, NOISE, CLEANED, COMPARED = "data/ingest", "data/noise", "data/clean", "data/compare"


def write_findings(tables: Tables, workspace: Workspace, inputs: Mapping[str, Path], fingerprint: str, found_in: Found) -> int:
    """Write the audit's tables; return how many rows.

    Args:
        tables: where to.
        workspace: the audit's.
        inputs: declared name -> path, those of the step `publish`.
        fingerprint: the audit's.
        found_in: returns them: ``findings``, or ``label_findings`` of rows with several labels.

    Raises:
        InputError: the place is the rows' source, or cannot be written to.
    """
    import pyarrow.parquet as pq

    from cartograph.write.destination import require_other_than_source, write_tables
    from cartograph.write.tables import AuditKey

    target = tables.target(project_root())
    require_other_than_source(target, _sources(workspace.settings))
    examples = pq.read_table(inputs[EXAMPLES] / "train.parquet")
    number = int(read_json(inputs[COMPARED] / "record.json")["number"])
    found = found_in(
        AuditKey(fingerprint, workspace.name, number),
        examples,
        pq.read_table(inputs[NOISE] / "noise.parquet"),
        decisions_in(inputs.get(DECISIONS), examples),
        pq.read_table(inputs[selection_file("cleaned")]),
        str(read_json(inputs[CLEANED] / "version.json")["version"]),
    )
    return write_tables(target, fingerprint, found, tables.max_seconds)


def _sources(settings: Settings) -> list[Query | LakeTable]:
    """Return the queries and tables that the audit's rows come from."""
    from cartograph.read.lakes import LakeTable

    ingest = settings.of(Sources)
    entries = [] if ingest.is_built_in else [entry for _, files in ingest.sets().values() for entry in files]
    asked = [entry.asked for entry in entries]
    return [one.below(project_root()) if isinstance(one, LakeTable) else one for one in asked if one is not None]

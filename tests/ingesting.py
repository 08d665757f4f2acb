"""Running the ingest step on files that a test makes, in a folder of the test's own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.audit.ingest import STEP
from tasks.audit.parameters.ingest import Ingest
from tasks.engine.step import Inputs, Out
from tests.workspaces import make_workspace


@dataclass(frozen=True)
class Ingested:
    """What the step left in its staging folder."""

    folder: Path
    summary: str

    def table(self, name: str) -> pa.Table:
        return pq.read_table(self.folder / "data" / "ingest" / f"{name}.parquet")

    def rows(self, name: str) -> list[dict[str, Any]]:
        return self.table(name).to_pylist()

    @property
    def validation(self) -> dict[str, Any]:
        return json.loads((self.folder / "data" / "ingest" / "validation.json").read_text(encoding="utf-8"))

    @property
    def metrics(self) -> dict[str, float]:
        return json.loads((self.folder / "reports" / "ingest.metrics.json").read_text(encoding="utf-8"))


def run_ingest(folder: Path, **params: Any) -> Ingested:
    """Run the step with these parameters; its outputs stand in ``folder/out`` as they would in a workspace."""
    model = Ingest.model_validate(params)
    space = make_workspace(folder, ingest=model)
    staged = {name: folder / "out" / name for name in STEP.outputs_of(space.settings)}
    for name, path in staged.items():
        (path.parent if Path(name).suffix else path).mkdir(parents=True, exist_ok=True)
    out = Out(space, staged, folder / "checkpoints", folder / "out" / "reports", folder / "failed")
    return Ingested(folder / "out", STEP.run(model, Inputs(space, STEP.inputs_of(space.settings)), out))


def write_csv(path: Path, header: str, *lines: str) -> str:
    """Write a CSV file and return its path as a parameter."""
    path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    return str(path)


def some_rows(count: int = 40) -> list[str]:
    """Return ``text,label`` lines of two classes."""
    return [f"this is sentence number {index},{'good' if index % 2 else 'bad'}" for index in range(count)]

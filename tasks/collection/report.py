"""The step `report` of a collection: one self-contained page of who chose which labels, and what they were worth."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pydantic import Field

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json
from tasks.collection.compare import DATA as COMPARED
from tasks.collection.compare import HOUR
from tasks.collection.compare import METRICS as COMPARED_METRICS
from tasks.collection.encode import METRICS as ENCODED_METRICS
from tasks.collection.pairs import METRICS as PAIRS_METRICS
from tasks.collection.parameters import Collect
from tasks.engine.receipt import versions
from tasks.engine.step import Inputs, Out, Step
from tasks.engine.workspace import Workspace

if TYPE_CHECKING:
    from cartograph.page.step_results import HowMade

PAGE = "reports/report.html"
WAITING = "reports/waiting.html"
"""The page of a collection that waits for people: nobody's output, and gone once there is a report."""

_LIBRARIES = ("faiss-cpu", "matplotlib", "numpy", "pyarrow", "torch", "transformers")


class Report(Section):
    """How much the page shows."""

    text_characters: int = Field(160, ge=20, le=2000, description="most characters of a text shown in a list")


def run(params: Report, inputs: Inputs, out: Out) -> str:
    """Read the comparison and write the page; return its name and size."""
    import pyarrow.parquet as pq

    from cartograph.page.collection.content import Collection
    from cartograph.page.collection.pages import collection_page

    collect = out.workspace.settings.of(Collect)
    folder = inputs[COMPARED]
    page = collection_page(
        Collection(
            methods=collect.methods,
            summary=pq.read_table(folder / "summary.parquet").to_pylist(),
            differences=pq.read_table(folder / "differences.parquet").to_pylist(),
            metrics=read_json(inputs[COMPARED_METRICS]),
            task=read_json(inputs[PAIRS_METRICS]),
            encoded=read_json(inputs[ENCODED_METRICS]),
            findings=read_json(folder / "findings.json"),
            versions=read_json(folder / "versions.json"),
            hour=read_json(folder / HOUR),
            texts=params.text_characters,
            how_made=_origin(inputs, out.workspace),
        )
    ).encode("utf-8")
    out[PAGE].write_bytes(page)
    # Nobody is waited for any more.
    (out.docs / Path(WAITING).name).unlink(missing_ok=True)
    return f"{PurePosixPath(out.workspace.relative, PAGE)}, {len(page) / 1e6:.1f} MB"


def _origin(inputs: Inputs, workspace: Workspace) -> HowMade:
    from cartograph.page.step_results import HowMade
    from tasks.engine.digest import digest_path

    return HowMade(
        name=workspace.name,
        command=f"python -m flows.collect --workspace {workspace.typed}",
        parameters={name: section.model_dump(mode="json") for name, section in workspace.settings.items()},
        versions=versions(("cartograph", *_LIBRARIES)),
        digests={name: digest_path(inputs[name]) for name in ("data/pairs", COMPARED)},
    )


def _inputs(settings: Settings) -> tuple[str, ...]:
    return ("params.yaml", "data/pairs", COMPARED, COMPARED_METRICS, PAIRS_METRICS, ENCODED_METRICS)


STEP = Step(name="report", run=run, params=Report, inputs=_inputs, outputs=(PAGE,), libraries=("cartograph", *_LIBRARIES))

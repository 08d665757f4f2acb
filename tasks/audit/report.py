"""The step `report`: one self-contained page of what the audit found, and the dataset card of the cleaned version."""

from __future__ import annotations

from pathlib import PurePosixPath

from cartograph.config import Settings
from tasks.audit.blind import FOUND
from tasks.audit.evaluation_labels import has_evaluation_labels
from tasks.audit.filtering import is_filtered, measures_bias
from tasks.audit.ingested_sets import is_built_in
from tasks.audit.page_content import (
    AFLITE,
    BIAS,
    CLEANED,
    COMPARED,
    EMBEDDED,
    EVALUATION_LABELS,
    GATES,
    LIBRARIES,
    SINCE,
    map_inputs,
    read_audit,
)
from tasks.audit.parameters.report import Report
from tasks.audit.plan import experiment_folders, needs_encoder, retrained_models
from tasks.engine.step import Inputs, Out, Step

PAGE, CARD = "reports/report.html", "reports/card.md"
_CLEANED_ROWS = "data/clean/cleaned.parquet"


def _inputs(settings: Settings) -> tuple[str, ...]:
    truth = ("data/score", "reports/score.metrics.json") if is_built_in(settings) else ()
    comparison = (COMPARED, "reports/evaluate.metrics.json") if retrained_models(settings) else ()
    cleaning = (*CLEANED, _CLEANED_ROWS) if "clean" in settings else ()
    labels = (EVALUATION_LABELS, "reports/evaluation_labels.metrics.json") if has_evaluation_labels(settings) else ()
    filtered = (*(AFLITE if is_filtered(settings) else ()), *(BIAS if measures_bias(settings) else ()))
    return (
        "params.yaml",
        *map_inputs(settings),
        *cleaning,
        *labels,
        *filtered,
        *truth,
        *comparison,
        *experiment_folders(settings),
        SINCE,
        GATES,
        *((EMBEDDED,) if needs_encoder(settings) else ()),
    )


def run(params: Report, inputs: Inputs, out: Out) -> str:
    """Read the audit's tables, write the page and the card; return the page's name and size."""
    from cartograph.page.document import page

    audit = read_audit(params, inputs, out.workspace)
    document = page(audit).encode("utf-8")
    out[PAGE].write_bytes(document)
    if _CLEANED_ROWS in inputs:
        import pyarrow.parquet as pq

        from cartograph.page.dataset_card import dataset_card

        card = dataset_card(audit, pq.read_schema(inputs[_CLEANED_ROWS]), license_name=params.license, languages=params.language)
        out[CARD].write_bytes(card.encode("utf-8"))
    return f"{PurePosixPath(out.workspace.relative, PAGE)}, {len(document) / 1e6:.1f} MB"


def _outputs(settings: Settings) -> tuple[str, ...]:
    return (PAGE, CARD) if "clean" in settings else (PAGE,)


STEP = Step(
    name="report", run=run, params=Report, inputs=_inputs, outputs=_outputs, optional=(FOUND,), libraries=("cartograph", *LIBRARIES)
)

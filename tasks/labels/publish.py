"""The step `publish` of rows with several labels: one MLflow run per audit, as of any other, and tables of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tasks.audit import publish
from tasks.engine.step import Inputs, Out, Step


def run(params: publish.Publish, inputs: Inputs, out: Out) -> str:
    """Publish the audit; return where, and how much."""
    from cartograph.write.label_findings import label_findings

    return publish.publish_audit(params, inputs, out, label_findings)


def step(others: Sequence[Step]) -> Step:
    """Return the step that publishes what these others leave."""
    return replace(publish.step(others), run=run)

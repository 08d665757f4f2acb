"""The finding of an experiment as a page of Markdown."""

from __future__ import annotations

import math
from typing import Any

from cartograph.experiments.experiment import Experiment, Finding
from cartograph.wording import markdown_table, plain_markdown

_ROWS = 40
"""Most rows shown of a table."""


def finding_markdown(experiment: Experiment, finding: Finding) -> str:
    """Return the question of an experiment, its answer, its source, and the first rows of each of its tables."""
    answer = f"{finding.answer[0].upper()}{finding.answer[1:]}."
    parts = [f"# {experiment.name}: {experiment.meaning}", answer, f"Source: {experiment.source}."]
    for title, table in finding.tables.items():
        rows = table.slice(0, _ROWS).to_pylist()
        parts += [
            f"## {title}",
            markdown_table(
                [plain_markdown(name) for name in table.column_names], [[_cell(value) for value in row.values()] for row in rows]
            ),
        ]
        if table.num_rows > _ROWS:
            parts.append(f"The first {_ROWS} of {table.num_rows:,} rows; all are in {title}.parquet.")
    return "\n\n".join(parts) + "\n"


def _cell(value: Any) -> str:
    unknown = value is None or (isinstance(value, float) and math.isnan(value))
    text = "" if unknown else f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if isinstance(value, float) else plain_markdown(text)

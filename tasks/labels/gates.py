"""The step `gates` of rows with several labels: as of any other, but for what needs evaluation sets."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from tasks.audit import gates


class Gates(gates.Gates):
    """The section ``gates`` of params.yaml where rows have several labels."""

    accuracy_drop: gates.Bounds = Field(gates.Gate(), description="none: it needs evaluation sets")
    cleaning_harm: gates.Bounds = Field(gates.Gate(), description="none: it needs evaluation sets")


STEP = replace(gates.STEP, params=Gates)

"""How the steps of one audit are connected: who makes what another one reads."""

from __future__ import annotations

from collections.abc import Sequence

from cartograph.config import Settings
from tasks.engine.step import Step


def upstream(step: Step, steps: Sequence[Step], settings: Settings) -> set[str]:
    """Return the names of the steps that make one of this step's inputs, or a part of one."""
    wanted = step.inputs_of(settings)
    return {
        other.name
        for other in steps
        if other.name != step.name and any(_within(name, output) for output in other.outputs_of(settings) for name in wanted)
    }


def _within(name: str, output: str) -> bool:
    return name == output or name.startswith(f"{output}/") or output.startswith(f"{name}/")

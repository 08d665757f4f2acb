"""How the steps of one audit hang together: who makes what another one reads."""

from __future__ import annotations

from collections.abc import Sequence

from cartograph.config import Settings
from tasks.step import Step

COLLECTION = "collect"
"""The section whose presence in a params.yaml makes its workspace a collection of pairs."""


def steps_of(settings: Settings) -> tuple[Step, ...]:
    """Return the steps that an audit with these settings has, in order, a matrix step as its cells."""
    return tuple(cell for step in pipeline(settings) if step.when(settings) for cell in step.expand(settings))


def pipeline(settings: Settings) -> tuple[Step, ...]:
    """Return the steps that are declared for such settings: those of an audit, or of a collection of pairs."""
    from tasks import STEPS, collection

    return collection(settings) if COLLECTION in settings else STEPS


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

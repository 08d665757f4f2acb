"""The section `select` of params.yaml."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from cartograph.config import Section
from tasks.audit.parameters.values import distinct


class Select(Section):
    """The section ``select`` of params.yaml: which rows to keep, and how many."""

    strategies: tuple[str, ...] = Field(
        ("random", "ambiguous", "hard-to-learn", "high-confidence"),
        description="also low-variability, high-correctness, low-correctness, forgetting, AL-uncertainty, AL-greedyK, aflite, compose, "
        "and mix-0.1 (ambiguous, a tenth replaced by easy rows); []: none",
    )
    fractions: tuple[float, ...] = Field((0.33,), description="shares of the rows to keep, each above 0 and at most 1")
    seed: int = Field(13, ge=0, description="seed of ties, samples and the acquisition model")
    class_balance: bool = Field(False, description="keep equally many rows of each class, as far as there are enough")
    lost_classes: Literal["tell", "refuse"] = Field(
        "tell", description="if a selection keeps no row of a class: tell (warn) or refuse (an error)"
    )
    acquisition_share: float = Field(0.01, gt=0, le=1, description="AL strategies: share of the rows that their model is trained on")
    acquisition_epochs: int = Field(20, ge=1, description="AL strategies: passes over that share")

    # The library knows the strategies' names, but importing it takes numpy: they are looked up when the step runs.
    _distinct = field_validator("strategies")(distinct("names {} twice; each is taken once"))

    @field_validator("fractions")
    @classmethod
    def _in_range(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        wrong = next((value for value in values if not 0 < value <= 1), None)
        if wrong is not None:
            raise ValueError(f"a fraction should be above 0 and at most 1, but one is {wrong:g}")
        # A selection is named after its fraction, written with six digits.
        if len({f"{value:g}" for value in values}) < len(values):
            raise ValueError("names a fraction twice; each is taken once")
        return values

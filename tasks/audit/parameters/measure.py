"""The section `measure` of params.yaml."""

from __future__ import annotations

from typing import Any, Literal, Self, TypedDict

from pydantic import Field, field_validator, model_validator

from cartograph.config import Section


class EpochWindow(TypedDict):
    """Which of the recorded epochs count, as ``maps.measures.epoch_window`` takes it."""

    burn_in: int
    epochs: int | None


class Measure(Section):
    """The section ``measure`` of params.yaml: which epochs count, how large the regions are, how many points are drawn."""

    burn_in: int = Field(0, ge=0, description="epochs left out at the front")
    epochs: int | Literal["all"] = Field("all", description="epochs used after burn_in: all, or a number")
    easy: float = Field(0.33, gt=0, lt=1, description="largest share of rows called easy-to-learn (highest confidence, low variability)")
    ambiguous: float = Field(0.33, gt=0, lt=1, description="largest share of rows called ambiguous (highest variability)")
    hard: float = Field(0.10, gt=0, lt=1, description="largest share of rows called hard-to-learn (lowest confidence, low variability)")
    max_points: int = Field(25_000, ge=1, description="most points drawn on a data map")
    seed: int = Field(13, ge=0, description="seed of the drawn sample and of ties")
    include_ci: bool = Field(
        False, description="widen variability by its own uncertainty over so few epochs: sqrt(var + var^2 / (epochs - 1))"
    )

    @field_validator("epochs", mode="before")
    @classmethod
    def _all_or_a_number(cls, value: Any) -> Any:
        if value == "all" or (type(value) is int and value >= 1):
            return value
        raise ValueError(f"should be `all` or a whole number of 1 or more, but is {value!r}")

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        total = self.easy + self.ambiguous + self.hard
        if total > 1 + 1e-9:
            raise ValueError(f"easy, ambiguous and hard add up to {total:g}; lower them to 1 or less, the remainder is unassigned")
        return self

    @property
    def window(self) -> EpochWindow:
        """Which of the recorded epochs count."""
        return {"burn_in": self.burn_in, "epochs": None if self.epochs == "all" else self.epochs}

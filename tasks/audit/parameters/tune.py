"""The section `tune` of params.yaml."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from cartograph.config import Section


class Tune(Section):
    """The section ``tune`` of params.yaml: a search for a learning rate. It prints the best rate and leaves `train` as it is."""

    trials: int = Field(0, ge=0, description="learning rates tried, a training each; 0: no search")
    low: float | None = Field(None, gt=0, description="lowest rate; null: a tenth of train.learning_rate")
    high: float | None = Field(None, gt=0, description="highest rate; null: ten times train.learning_rate")
    seed: int = Field(13, ge=0, description="seed of the rates and of the trainings")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"low should be below high, but they are {self.low:g} and {self.high:g}")
        return self

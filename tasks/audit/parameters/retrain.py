"""The section `retrain` of params.yaml."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from cartograph.config import Section
from tasks.audit.parameters.values import distinct

Subset = Literal["original", "cleaned", "random"]


class Retrain(Section):
    """The section ``retrain`` of params.yaml: what to train on, how often, and what of the section ``train`` to change."""

    subsets: tuple[Subset, ...] = Field(
        ("original", "cleaned", "random"), description="trained on from scratch; random: as many rows as cleaned has; []: no retraining"
    )
    selections: bool = Field(False, description="also train on every selection of `select`: the grid of strategies, fractions and seeds")
    seeds: tuple[int, ...] = Field((1, 2, 3), description="a model each per subset")
    held_out: float = Field(
        0.2,
        ge=0,
        lt=1,
        description="without an evaluation set: share of each class's train rows that no model is trained on, to score them on; "
        "0: no retraining then",
    )
    held_out_seed: int = Field(13, ge=0, description="seed of these rows, and of a search for learning rates")
    order: Literal["shuffled", "easy-first", "ambiguous-twice"] = Field(
        "shuffled",
        description="rows of an epoch: shuffled, easy-first (a curriculum: by the confidence of this audit's map, the highest first), or "
        "ambiguous-twice (those of the map's region ambiguous come twice, and as many others are left out, drawn again in each epoch)",
    )
    epochs: int | None = Field(
        None,
        ge=1,
        description="passes over each subset; null: as in train; if auto there, more by as much as a subset is smaller (16 times at most)",
    )
    patience: int | None = Field(
        None,
        ge=1,
        description="epochs without a higher accuracy on a tenth of each subset's own rows, which are held out for that, after which a "
        "training ends; the best epoch's model is kept; null: all epochs on all rows",
    )
    batch_size: int | None = Field(None, ge=1, description="rows per optimiser step; null: as in train")
    learning_rate: float | None = Field(None, gt=0, description="peak learning rate of AdamW; null: as in train")
    rate_trials: int = Field(
        0,
        ge=0,
        description="learning rates tried for each subset, a training each on four fifths of it, compared on the rest; "
        "it is trained at its best one; 0: all at the same rate",
    )
    rate_range: tuple[float, float] | None = Field(
        None, description="lowest and highest of them; null: from a tenth of the learning rate to ten times"
    )

    _distinct = field_validator("subsets", "seeds")(distinct("names {} twice; each is trained once"))

    @field_validator("rate_range")
    @classmethod
    def _in_order(cls, bounds: tuple[float, float] | None) -> tuple[float, float] | None:
        if bounds is not None and not 0 < bounds[0] < bounds[1]:
            raise ValueError(f"should be two rates above 0, the lower one first, but is {bounds[0]:g} and {bounds[1]:g}")
        return bounds

    @field_validator("seeds")
    @classmethod
    def _seeds(cls, values: tuple[int, ...]) -> tuple[int, ...]:
        if any(value < 0 for value in values):
            raise ValueError(f"seeds should be 0 or more, but one is {min(values)}")
        return values

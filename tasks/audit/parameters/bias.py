"""The section `bias` of params.yaml."""

from __future__ import annotations

from pydantic import Field, field_validator

from cartograph.config import Section
from cartograph.models.registry import MODELS

WORD_MODEL = "max-pmi"
QUICK_MODELS = ("linear", WORD_MODEL)
"""Models that need no training loop, and whose predictions depend on no seed."""


class Bias(Section):
    """The section ``bias`` of params.yaml; it is part of an audit that filters (``aflite.enabled``)."""

    enabled: bool = Field(True, description="measure before and after the filter")
    models: tuple[str, ...] = Field(
        ("linear", "max-pmi"),
        description="trained on all rows, on as many random ones as the filter kept, and on those it kept: linear (on words, pixels, or "
        "columns), max-pmi (the most revealing word; of texts alone), or models as in train",
    )
    partial: tuple[str, ...] = Field(("linear",), description="models that are also tried on only one part of the input")
    seeds: tuple[int, ...] = Field((1, 2, 3), min_length=1, description="a random subset each, and a training each")
    smoothing: float = Field(10, gt=0, description="added to the count of each word with each label; 100 for hundreds of thousands of rows")
    rows: int | None = Field(
        20_000,
        ge=100,
        description="most train rows that these models learn from, drawn at random; neighbours are then looked up for 1,000 random "
        "rows of an evaluation set; null: all of both",
    )
    words: int = Field(10, ge=0, description="most revealing words listed of each label")

    @field_validator("models", "partial")
    @classmethod
    def _known(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        wrong = next((value for value in values if value not in (*QUICK_MODELS, *MODELS)), None)
        if wrong is not None:
            raise ValueError(f"models should be of {', '.join((*QUICK_MODELS, *MODELS))}, but one is {wrong!r}")
        return values

    @field_validator("partial")
    @classmethod
    def _reads_text(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        if "probe" in values:
            raise ValueError("partial inputs of `probe` would need vectors of their own; name another model")
        return values

"""The section `features` of params.yaml."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from cartograph.config import Section
from cartograph.models.registry import MODELS


class Features(Section):
    """The section ``features`` of params.yaml."""

    source: Literal["bow", "pixels", "columns", "frozen", "finetuned", "file"] = Field(
        "bow",
        description="bow (TF-IDF and SVD), pixels (of images, and SVD), columns (of a table of features), frozen (the encoder of "
        "embed.pretrained), finetuned (a model trained on rows that leave the pool), or file",
    )
    dimensions: int = Field(128, ge=1, description="bow and pixels: numbers per row")
    file: str | None = Field(None, description="file: a Parquet file with the columns uid and features (a list of numbers)")
    held_back: float = Field(
        0.1, gt=0, lt=1, description="finetuned: share of the train rows that the model learns from; they leave the pool"
    )
    model: str | None = Field(None, description="finetuned: a model as in train; null: the one in train")
    pretrained: str | None = Field(None, description="finetuned: a model's folder, or a hub id; null: as in train")
    epochs: int | None = Field(None, ge=1, description="finetuned: passes over its rows; null: as in train")
    batch_size: int | None = Field(None, ge=1, description="finetuned: rows per optimiser step; null: as in train")
    learning_rate: float | None = Field(None, gt=0, description="finetuned: peak learning rate of AdamW; null: as in train")
    seed: int = Field(13, ge=0, description="seed of the SVD, and of the rows held back")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.source == "file" and self.file is None:
            raise ValueError("source `file` needs `file`: a Parquet file with the columns uid and features")
        if self.model is not None and self.model not in MODELS:
            raise ValueError(f"model should be one of {', '.join(MODELS)}, but is {self.model!r}")
        return self

"""The parameters of the frozen encoder."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from cartograph.config import Section


class Embed(Section):
    """The section ``embed`` of params.yaml: the frozen encoder whose vectors `noise`, the model `probe` and frozen features read."""

    pretrained: str | None = Field(
        None,
        description="the encoder (of texts, or of images) that makes the vectors: a model's folder, or a hub id; without one, suspects are "
        "found by words alone",
    )
    file: str | None = Field(
        None,
        description="in place of an encoder: a Parquet file with the columns uid and features (a list of numbers), vectors by a model that "
        "has not learnt from these labels, which `noise` reads",
    )
    max_length: int = Field(128, ge=4, description="tokens; longer texts are cut")
    batch_size: int = Field(64, ge=1, description="texts read together")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto, cpu, or cuda")
    pooling: Literal["mean", "cls"] = Field("mean", description="a text's vector: mean (of its tokens), or cls (its first token)")
    keep: bool = Field(True, description="keep the vectors of texts that the last audit embedded with the same encoder")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.file is not None and self.pretrained is not None:
            raise ValueError("has both `pretrained` and `file`; vectors come from an encoder or from a file, so leave one of them out")
        return self

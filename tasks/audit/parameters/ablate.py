"""The section `ablate` of params.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from cartograph.config import Section
from tasks.audit.parameters.values import distinct

Share = Annotated[float, Field(gt=0, lt=1)]


class Ablate(Section):
    """The section ``ablate`` of params.yaml: which experiments, and how large."""

    experiments: tuple[str, ...] = Field(
        (), description="of burn-out, seeds, steps, dropout, agreement, models, order, fractions; each leaves tables and a figure; []: none"
    )
    seed: int = Field(13, ge=0, description="first seed of the experiments' trainings, samples and intervals")
    seeds: int = Field(3, ge=2, description="order, fractions: how many seeds, one after the other")
    map_seeds: int = Field(5, ge=2, description="seeds: how many seeds, one after the other, a map of each (as the paper)")
    passes: int = Field(20, ge=2, description="dropout: passes with dropout on")
    every: int = Field(20, ge=1, description="steps: optimiser steps between readings")
    probe_rows: int = Field(1000, ge=2, description="steps: train rows that are read")
    other_model: str = Field("tiny", description="models: the second model")
    other_pretrained: str | None = Field(None, description="models: its folder or hub id, where it starts from one")

    fractions: tuple[Share, ...] = Field(
        (0.01, 0.05, 0.1, 0.17, 0.25, 0.33, 0.5),
        min_length=1,
        description="fractions: shares of the rows; those under two rows are skipped",
    )
    mixed_fraction: Share = Field(0.17, description="fractions: the share of the rows into which easy ones are mixed")
    mixed_shares: tuple[Share, ...] = Field((0.1, 0.2, 0.3, 0.5), description="fractions: shares of easy rows in that")

    _distinct = field_validator("experiments", "fractions", "mixed_shares")(distinct("lists {} twice; list it once"))

"""The section `aflite` of params.yaml."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cartograph.config import Section


class Aflite(Section):
    """The section ``aflite`` of params.yaml: the filter's numbers, as shares of the pool or as rows."""

    enabled: bool = Field(True, description="filter out rows that are easy to guess from the features, and measure what that changes")
    n_partitions: int = Field(64, ge=1, description="classifiers per round, each trained on different rows (m)")
    train_share: float = Field(0.1, gt=0, lt=1, description="share of the pool that each trains on (t)")
    slice_share: float = Field(0.02, gt=0, le=1, description="largest share of the pool removed in a round (k)")
    target_share: float = Field(0.33, gt=0, le=1, description="smallest share of the pool that stays (n)")
    train_size: int | None = Field(None, ge=1, description="rows that each trains on, instead of train_share")
    slice_size: int | None = Field(None, ge=1, description="most rows removed in a round, instead of slice_share")
    target_size: int | None = Field(None, ge=1, description="fewest rows that stay, instead of target_share")
    threshold: float = Field(0.75, ge=0, le=1, description="a row leaves if this share of its out-of-sample predictions is right (tau)")
    variant: Literal["slicing", "sampling", "greedy"] = Field(
        "slicing", description="slicing (the most predictable leave), sampling (drawn by predictability), greedy (one a round)"
    )
    group_by: str | None = Field(None, description="a text column: rows that share its text stay on one side of every split")
    penalty: float = Field(1.0, gt=0, description="C of the logistic regressions: smaller is smoother")
    parts: int = Field(1, ge=1, description="in how many parts a round's classifiers are fitted, which workers of a cluster take")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto, cpu, or cuda")
    seed: int = Field(13, ge=0, description="seed of splits and ties")

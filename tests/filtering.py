"""Workspaces that are filtered: two sets, and the sections from the features to what they give away."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from cartograph.config import Settings
from tasks.engine.running import run_step
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace
from tests.training_sets import small_images, small_set
from tests.workspaces import Given, ingest_of, make_workspace, settings_of

TRAIN, HELD = "data/ingest/train.parquet", "data/ingest/held.parquet"
SECTIONS: dict[str, Given] = {"embed": {}, "train": {"epochs": 2}, "features": {}, "aflite": {}, "bias": {}}


def pairs() -> tuple[pa.Table, pa.Table]:
    """A train set and an evaluation set of text pairs, one of whose words gives the label away."""
    return small_set("pair", rows=120), small_set("pair", rows=40, seed=9, name="held", domain="id")


def filter_settings(**sections: Given) -> Settings:
    """The settings of an audit of pairs that is filtered; without the sections given, those by default."""
    return settings_of(ingest=ingest_of(*pairs()), **SECTIONS | sections)


def workspace_of_pairs(path: Path) -> Workspace:
    """A workspace of pairs that were ingested."""
    return make_workspace(path, *pairs(), **SECTIONS)


def workspace_of_images(path: Path) -> Workspace:
    """A workspace of images that were ingested, their features pixels."""
    sets = small_images(120), small_images(40, seed=9, name="held", domain="id")
    return make_workspace(path, *sets, **SECTIONS | {"features": {"source": "pixels", "dimensions": 8}})


def run(step: Step, space: Workspace) -> str:
    """Run a step; return what it says."""
    return run_step(step, space).receipt.summary

"""Maps from trainings of an experiment's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.maps.measures import Measures, compute_measures
from cartograph.train.recipe import Recipe


def trained_map(recipe: Recipe, examples: pa.Table, folder: Path, *, burn_in: int = 0) -> Measures:
    """Train a model from scratch and return its map of the train set, rows by uid; a training that the folder already has is continued."""
    from cartograph.train.fit import fit

    training = fit(replace(recipe, evaluate="end", live=False), examples, {}, folder)
    dynamics = read_dynamics(training.dynamics)
    return compute_measures(dynamics.uids, dynamics.logits, dynamics.gold, burn_in=burn_in)

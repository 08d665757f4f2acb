"""Steps: is the map the same if dynamics are recorded every few optimiser steps (§2.1)?"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa

from cartograph.data.subsets import rows_of
from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import InputError
from cartograph.experiments.experiment import Experiment, Finding, Material
from cartograph.experiments.figures import line_figure
from cartograph.maps.measures import compute_measures, gold_probabilities
from cartograph.maps.stability import burn_out
from cartograph.statistics.correlation import pearson


def run(material: Material) -> Finding:
    """Record a fixed set of train rows every few optimiser steps; compare that map with the audit's.

    Raises:
        InputError: the training ends before the first reading.
    """
    from cartograph.experiments.trainings import step_dynamics

    every, size = int(material.options["every"]), int(material.options["probe_rows"])
    rng = np.random.default_rng(material.options["seed"])
    number = material.examples.num_rows
    steps_per_epoch = math.ceil(number / material.recipe.batch_size)
    if every > steps_per_epoch * material.recipe.epochs:
        raise InputError(
            f"experiment `steps` reads every {every:,} optimiser steps, and a training on {number:,} rows has "
            f"{steps_per_epoch * material.recipe.epochs:,} in all; lower `ablate.every`."
        )
    drawn = np.sort(rng.choice(number, min(size, number), replace=False))
    probe = material.examples.take(pa.array(drawn))
    dynamics = read_dynamics(step_dynamics(material.recipe, material.examples, probe, material.folder, every=every))
    material.progress(1, 1)
    # The burn-in of the audit's map, in readings.
    left_out = min(int(material.options["burn_in"]) * steps_per_epoch // every, dynamics.logits.shape[1] - 1)
    fine = compute_measures(dynamics.uids, dynamics.logits, dynamics.gold, burn_in=left_out)
    own = rows_of(material.measures, pa.array(dynamics.uids, pa.string()), "the train set", "the data map")
    shared = {name: pearson(getattr(fine, name), own[name].to_numpy()) for name in ("confidence", "variability")}
    curve = burn_out(gold_probabilities(dynamics.uids, dynamics.logits, dynamics.gold))
    readings = dynamics.logits.shape[1]
    steps = [every * count for count in range(1, readings + 1)]
    lines = {name: (steps, getattr(curve, name).tolist()) for name in ("confidence", "variability")}
    answer = (
        f"{readings} readings of {len(drawn):,} rows, every {every} steps, the first {left_out} left out: r with the map per epoch is "
        f"{shared['confidence']:.2f} for confidence, {shared['variability']:.2f} for variability"
    )
    rows = [{"steps": step, **{name: values[place] for name, (_, values) in lines.items()}} for place, step in enumerate(steps)]
    figure = line_figure("Finer than an epoch: r with the map of all readings", "optimiser steps", {"Pearson's r": lines})
    return Finding(answer, {f"steps.{name}": r for name, r in shared.items()}, {"curve": pa.Table.from_pylist(rows)}, figure)


EXPERIMENT = Experiment("steps", "does reading probabilities many times within an epoch change the map?", run, "§2.1")

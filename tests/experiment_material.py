"""What experiments work on: a small real map, trained here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.experiments.experiment import Material
from cartograph.maps.measures import compute_measures
from cartograph.maps.regions import assign_regions
from cartograph.maps.table import map_table
from cartograph.schema import examples_schema
from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
from tasks.audit.parameters.ablate import Ablate
from tests.training_sets import info_of, small_set

RECIPE = Recipe(epochs=3, batch_size=8, learning_rate=0.02, seed=1, device="cpu", threads=1, max_length=32)
SHARES = {"easy": 0.33, "ambiguous": 0.33, "hard": 0.1}


def make_material(folder: Path) -> Material:
    """Train a small map in a folder, and return it as experiments get it."""
    rows = small_set(rows=64)
    rng = np.random.default_rng(0)
    labels = info_of("single").labels
    given = [[labels[label] if rng.random() < 0.8 else labels[1 - label] for _ in range(5)] for label in rows["label"].to_pylist()]
    schema = examples_schema(info_of("single"), annotators=True)
    columns = [pa.array(given) if name == "annotator_labels" else rows[name] for name in schema.names]
    rows = pa.Table.from_arrays([column.cast(field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)
    fitted = fit(RECIPE, rows, {}, folder)
    uids, gold, logits = read_dynamics(fitted.dynamics)
    measures = compute_measures(uids, logits, gold)
    regions = assign_regions(uids, measures.confidence, measures.variability, **SHARES, rng=rng)
    options = (
        Ablate(
            seeds=2,
            map_seeds=2,
            passes=3,
            every=4,
            probe_rows=20,
            other_model="bow",
            fractions=(0.5,),
            mixed_fraction=0.5,
            mixed_shares=(0.2,),
        ).model_dump()
        | SHARES
        | {"burn_in": 0}
    )
    held = {"held": small_set(rows=30, seed=5, name="held", domain="id")}
    return Material(rows, held, map_table(uids, gold, measures, regions), fitted.dynamics, RECIPE, options, folder)

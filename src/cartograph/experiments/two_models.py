"""Two models: where do their maps put the same rows (App. C.1)?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from cartograph.experiments.experiment import Experiment, Finding, Material
from cartograph.experiments.figures import scatter_figure
from cartograph.experiments.trained_maps import trained_map
from cartograph.maps.regions import assign_regions
from cartograph.models.registry import model_class
from cartograph.schema import REGIONS
from cartograph.statistics.correlation import pearson
from cartograph.wording import share

_LISTED = 50


def run(material: Material) -> Finding:
    """Train another model on the same rows; correlate the coordinates and list the rows that change region."""
    other = str(material.options["other_model"])
    rate = model_class(other).learning_rate
    recipe = replace(material.recipe, model=other, learning_rate=rate, pretrained=material.options["other_pretrained"])
    second = trained_map(recipe, material.examples, material.folder / other, burn_in=material.options["burn_in"])
    material.progress(1, 1)
    first = {name: material.measures[name].to_numpy() for name in ("confidence", "variability", "correctness")}
    shared = {name: pearson(values, getattr(second, name)) for name, values in first.items()}
    uids = material.measures["uid"].to_numpy()
    shares = {name: material.options[name] for name in ("easy", "ambiguous", "hard")}
    rng = np.random.default_rng(material.options["seed"])
    theirs = assign_regions(uids, second.confidence, second.variability, **shares, rng=rng).names
    mine = material.measures["region"].to_numpy()
    moved = np.flatnonzero(mine != theirs)
    crossed = [{"region": own, **{new: int(np.count_nonzero((mine == own) & (theirs == new))) for new in REGIONS}} for own in REGIONS]
    farthest = moved[np.argsort(-np.abs(first["confidence"] - second.confidence)[moved], kind="stable")[:_LISTED]]
    rows = [
        {
            "uid": uids[row],
            "region": mine[row],
            f"region by {other}": theirs[row],
            "confidence": float(first["confidence"][row]),
            f"confidence by {other}": float(second.confidence[row]),
        }
        for row in farthest
    ]
    answer = (
        f"{material.recipe.model} and {other}: r of confidence {shared['confidence']:.2f}, of variability {shared['variability']:.2f}; "
    )
    answer += f"{len(moved):,} of {len(uids):,} rows change region ({share(len(moved), len(uids))})"
    numbers = {f"models.{name}": r for name, r in shared.items()} | {"models.moved.share": len(moved) / len(uids)}
    panels = {name: (material.recipe.model, other, first[name], getattr(second, name)) for name in ("confidence", "variability")}
    tables = {"regions": pa.Table.from_pylist(crossed)} | ({"moved": pa.Table.from_pylist(rows)} if rows else {})
    return Finding(answer, numbers, tables, scatter_figure("One train set, two models", panels, material.options["seed"]))


EXPERIMENT = Experiment("models", "where do two models put the same rows?", run, "App. C.1")

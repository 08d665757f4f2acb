"""Seed stability: how far do maps from different random seeds agree (footnote 6)?"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pyarrow as pa

from cartograph.experiments.experiment import Experiment, Finding, Material
from cartograph.experiments.figures import scatter_figure
from cartograph.experiments.trained_maps import trained_map
from cartograph.maps.stability import stability
from cartograph.statistics.correlation import pearson


def run(material: Material) -> Finding:
    """Train with several seeds; correlate every pair of maps."""
    seeds = [material.options["seed"] + number for number in range(material.options["map_seeds"])]
    maps = []
    for seed in seeds:
        folder = material.folder / f"seed-{seed}"
        maps.append(trained_map(replace(material.recipe, seed=seed), material.examples, folder, burn_in=material.options["burn_in"]))
        material.progress(len(maps), len(seeds))
    rows = [
        {
            "seed": seeds[one],
            "other": seeds[two],
            **{name: pearson(getattr(maps[one], name), getattr(maps[two], name)) for name in ("confidence", "variability")},
        }
        for one, two in combinations(range(len(maps)), 2)
    ]
    mean = stability(maps)
    panels = {
        name: (f"seed {seeds[0]}", f"seed {seeds[1]}", getattr(maps[0], name), getattr(maps[1], name))
        for name in ("confidence", "variability")
    }
    answer = f"mean r over {len(rows)} pairs of seeds: confidence {mean.confidence:.2f}, variability {mean.variability:.2f}"
    numbers = {"seeds.confidence": mean.confidence, "seeds.variability": mean.variability}
    figure = scatter_figure("Maps from two seeds", panels, material.options["seed"])
    return Finding(answer, numbers, {"pairs": pa.Table.from_pylist(rows)}, figure)


EXPERIMENT = Experiment("seeds", "do maps from different seeds agree?", run, "footnote 6")

"""Order: does a model learn in fewer epochs if the easy rows of each epoch come first, or better if the ambiguous ones come twice (§4)?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.data.subsets import rows_of
from cartograph.experiments.experiment import Experiment, Finding, Material
from cartograph.experiments.figures import line_figure
from cartograph.maps.regions import AMBIGUOUS
from cartograph.schema import UID

_PART = 0.95


def run(material: Material) -> Finding:
    """Train shuffled, with easy rows first, hard rows first, and ambiguous rows twice; count epochs until an accuracy on held-out rows.

    Easy and hard are by the map's confidence; the rows of its region ambiguous come twice, in place of as many others that each epoch
    leaves out. The accuracy is 95 % of the best that the shuffled training reaches, on average over the seeds.

    Raises:
        InputError: there is no evaluation set of the train set's distribution.
    """
    from cartograph.experiments.trainings import ordered_history

    name, held = material.held_out("order")
    order = rows_of(material.measures, material.examples[UID], "the train set", "the data map")
    confidence = order["confidence"].to_numpy()
    ambiguous = order["region"].to_numpy(zero_copy_only=False) == AMBIGUOUS
    arms: dict[str, dict[str, Any]] = {"shuffled": {}, "easy first": {"rank": -confidence}, "hard first": {"rank": confidence}}
    arms["ambiguous twice"] = {"twice": ambiguous}
    seeds = [material.options["seed"] + number for number in range(material.options["seeds"])]
    curves: dict[str, list[list[float]]] = {}
    for done, (label, arm) in enumerate(arms.items()):
        for seed in seeds:
            recipe = replace(material.recipe, seed=seed, evaluate="epoch", live=False)
            history = ordered_history(recipe, material.examples, {name: held}, material.folder / f"{done}-{seed}", **arm)
            curves.setdefault(label, []).append([row["accuracy"] for row in history if row["set"] == name])
        material.progress((done + 1) * len(seeds), len(arms) * len(seeds))
    means = {label: np.mean(values, axis=0) for label, values in curves.items()}
    goal = _PART * float(means["shuffled"].max())
    reached = {label: [_first(curve, goal) for curve in values] for label, values in curves.items()}
    rows = [
        {"order": label, "seed": seed, "epochs": epochs, "best": max(curve), "last": curve[-1]}
        for label, values in curves.items()
        for seed, curve, epochs in zip(seeds, values, reached[label], strict=True)
    ]
    epochs = list(range(1, len(means["shuffled"]) + 1))
    figure = line_figure(
        f"Order of rows within an epoch, or ambiguous rows twice: accuracy on {name}",
        "epoch",
        {f"mean of {len(seeds)} seeds": {label: (epochs, values.tolist()) for label, values in means.items()}},
        whole_x=True,
    )
    parts = [f"{label} {_shown(values)}" for label, values in reached.items()]
    numbers = {f"order.{label.replace(' ', '_')}.last": float(values[-1]) for label, values in means.items()} | {"order.goal": goal}
    last = "; ".join(f"{label} {values[-1]:.3f}" for label, values in means.items())
    return Finding(
        f"epochs until an accuracy of {goal:.3f} on {name}: {'; '.join(parts)}; at the end: {last}",
        numbers,
        {"epochs": pa.Table.from_pylist(rows)},
        figure,
    )


def _first(curve: list[float], goal: float) -> int | None:
    return next((epoch for epoch, value in enumerate(curve, start=1) if value >= goal), None)


def _shown(values: list[int | None]) -> str:
    return ", ".join("never" if value is None else str(value) for value in values)


EXPERIMENT = Experiment(
    "order", "does learning easy rows first take fewer epochs, and does it help to see ambiguous rows twice?", run, "§4"
)

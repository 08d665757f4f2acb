"""Burn-out: after how many epochs is the map settled (App. A.1, Fig. 6)?"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import InputError
from cartograph.experiments.experiment import Experiment, Finding, Material
from cartograph.experiments.figures import line_figure
from cartograph.maps.measures import gold_probabilities
from cartograph.maps.stability import burn_out
from cartograph.maps.table import burn_out_table

_SETTLED = 0.9


def run(material: Material) -> Finding:
    """Correlate the map of the first b epochs with the map of all.

    Raises:
        InputError: there are no dynamics per epoch.
    """
    if material.dynamics is None:
        raise InputError(
            "experiment `burn-out` needs dynamics per epoch, but only coordinates were imported; train here, or import dynamics."
        )
    dynamics = read_dynamics(material.dynamics)
    curve = burn_out(gold_probabilities(dynamics.uids, dynamics.logits, dynamics.gold))
    epochs = list(range(1, len(curve.confidence) + 1))
    lines = {"confidence": (epochs, curve.confidence.tolist()), "variability": (epochs, curve.variability.tolist())}
    settled = {
        name: next((epoch for epoch, r in zip(epochs, values, strict=True) if r >= _SETTLED), None) for name, (_, values) in lines.items()
    }
    parts = [f"{name} from epoch {epoch} on" if epoch else f"{name} never" for name, epoch in settled.items()]
    numbers = {
        f"burn_out.{name}.epoch_{epoch}": float(r) for name, (_, values) in lines.items() for epoch, r in zip(epochs, values, strict=True)
    }
    figure = line_figure(
        "Burn-out: r with the map of all epochs",
        "epochs used",
        {"Pearson's r": lines},
        y_range=(min(0.0, np.nanmin(curve)), 1.02),
        whole_x=True,
    )
    known = {name: value for name, value in numbers.items() if np.isfinite(value)}
    table: pa.Table = burn_out_table(curve)
    return Finding(f"r with the map of all {len(epochs)} epochs reaches {_SETTLED}: {', '.join(parts)}", known, {"curve": table}, figure)


EXPERIMENT = Experiment("burn-out", "how many epochs until the map no longer changes?", run, "App. A.1, Fig. 6")

"""Experiments with data maps: one module each, and one line in ``EXPERIMENTS``."""

from __future__ import annotations

from cartograph.experiments import agreement, burn_out, dropout, fractions, order, seeds, steps, two_models
from cartograph.experiments.experiment import Experiment, Finding, Material

__all__ = ["EXPERIMENTS", "Experiment", "Finding", "Material"]

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT for module in (burn_out, seeds, steps, dropout, agreement, two_models, order, fractions)
}
"""Name -> experiment."""

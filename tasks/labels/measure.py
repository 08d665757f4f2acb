"""The step `measure` of rows with several labels: measures and regions of every label of every row, and the still map of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartograph.errors import InputError
from tasks.audit.measure import OUTPUTS, PLOTS, in_words, title_of, write_map
from tasks.audit.parameters.measure import Measure
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.labels.ingest import DECISIONS

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.dynamics.epoch_files import Dynamics

DYNAMICS = "data/train"


def run(params: Measure, inputs: Inputs, out: Out) -> str:
    """Write the measures, the burn-out curve, the densities, the metrics and the map; return the cuts of the regions as one line."""
    from dataclasses import replace

    import pyarrow.parquet as pq

    from cartograph.maps.measures import compute_measures, epoch_window, gold_probabilities
    from cartograph.maps.stability import burn_out

    decisions = pq.read_table(inputs[DECISIONS], columns=["uid", "label", "source"])
    uids, answers, logits = dynamics_of(decisions, inputs)
    window, label = params.window, decisions["label"].to_numpy()
    measures = compute_measures(uids, logits, answers, include_ci=params.include_ci, **window)
    curve = burn_out(gold_probabilities(uids, logits[:, epoch_window(logits.shape[1], **window)], answers))
    predicted = None if measures.predicted is None else measures.predicted + (label - answers)
    title = title_of(decisions, inputs[DYNAMICS] / "training.json")
    return in_words(write_map(params, out, uids, label, replace(measures, predicted=predicted), curve, title), imported=False)


def dynamics_of(decisions: pa.Table, inputs: Inputs) -> Dynamics:
    """Return the dynamics of the labels of all rows, of which the answers are 0 and 1.

    Raises:
        InputError: they are of other rows.
    """
    import numpy as np

    from cartograph.dynamics.epoch_files import read_dynamics

    found = read_dynamics(inputs[DYNAMICS] / "dynamics")
    same = np.array_equal(found.uids, decisions["uid"].to_numpy(zero_copy_only=False))
    if not (same and np.array_equal(found.gold, decisions["label"].to_numpy() % 2)):
        raise InputError(
            f"{DECISIONS} and {DYNAMICS} are not of the same rows and labels; they come from different runs: run the audit again."
        )
    return found


STEP = Step(
    name="measure",
    run=run,
    params=Measure,
    inputs=(DECISIONS, DYNAMICS),
    outputs=OUTPUTS,
    libraries=("matplotlib", "numpy", "pyarrow"),
    hints=Hints(plots=PLOTS),
)

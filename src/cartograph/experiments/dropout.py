"""MC dropout: do the map's coordinates correlate with dropout's intrinsic and model uncertainty (App. B.1, Fig. 7)?"""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa

from cartograph.experiments.experiment import Experiment, Finding, Material
from cartograph.experiments.figures import scatter_figure
from cartograph.maps.measures import compute_measures, gold_probabilities
from cartograph.schema import LABEL, SOURCE, UID, DatasetInfo, dataset_info, examples_schema
from cartograph.statistics.correlation import correlation

_PREFIX = "held-out:"


def run(material: Material) -> Finding:
    """Read held-out rows with dropout on, and compare with the dynamics of a model that was trained on them too.

    The map is of a model trained on the train set and the held-out rows together; dropout's mean and deviation of the given label's
    probability come from a model that never saw them.

    Raises:
        InputError: there is no evaluation set of the train set's distribution.
    """
    from cartograph.dynamics.epoch_files import read_dynamics
    from cartograph.train.fit import fit
    from cartograph.train.inference import infer

    name, held = material.held_out("dropout")
    recipe = replace(material.recipe, evaluate="end", live=False)
    passes, seed = int(material.options["passes"]), int(material.options["seed"])
    alone = fit(recipe, material.examples, {}, material.folder / "alone")
    material.progress(1, 2)
    logits = infer(recipe, alone.model, held, passes=passes, dropout=True, seed=seed).logits.transpose(1, 0, 2)
    uids = held[UID].to_numpy()
    dropped = gold_probabilities(uids, np.ascontiguousarray(logits), held[LABEL].to_numpy())
    both = fit(recipe, _together(material.examples, held), {}, material.folder / "together")
    material.progress(2, 2)
    dynamics = read_dynamics(both.dynamics)
    measures = compute_measures(dynamics.uids, dynamics.logits, dynamics.gold, burn_in=material.options["burn_in"])
    place = {uid: row for row, uid in enumerate(dynamics.uids.tolist())}
    rows = np.array([place[_PREFIX + uid] for uid in uids.tolist()])
    pairs = {
        "confidence": (measures.confidence[rows], dropped.mean(axis=1)),
        "variability": (measures.variability[rows], dropped.std(axis=1)),
    }
    rng = np.random.default_rng(seed)
    correlations = {part: correlation(first, second, rng) for part, (first, second) in pairs.items()}
    answer = ", ".join(f"{part} r = {one.r:+.2f} ({one.low:+.2f} to {one.high:+.2f})" for part, one in correlations.items())
    numbers = {f"dropout.{part}.{end}": value for part, one in correlations.items() for end, value in asdict(one).items()}
    panels = {part: ("of training dynamics", f"of dropout, {passes} passes", *values) for part, values in pairs.items()}
    figure = scatter_figure(f"Training dynamics and dropout on {name}", panels, seed)
    tables = {"correlations": pa.Table.from_pylist([{"measure": part, **asdict(one)} for part, one in correlations.items()])}
    return Finding(f"{len(uids):,} rows of {name}, dynamics against dropout: {answer}", numbers, tables, figure)


def _together(examples: pa.Table, held: pa.Table) -> pa.Table:
    """Return both sets as one train set, the held-out rows under uids of their own.

    It has a name of its own too: vectors that were made of the train set beforehand are not of these rows.
    """
    columns = [name for name in examples.column_names if name in held.column_names]
    named = held.set_column(held.schema.get_field_index(UID), UID, pa.array([_PREFIX + uid for uid in held[UID].to_pylist()], pa.string()))
    schema = pa.schema([examples.schema.field(name) for name in columns], metadata=examples_schema(_named(examples)).metadata)
    parts = [pa.Table.from_arrays([part[name].combine_chunks() for name in columns], schema=schema) for part in (examples, named)]
    whole: pa.Table = pa.concat_tables(parts).combine_chunks()
    return whole.set_column(whole.schema.get_field_index(SOURCE), schema.field(SOURCE), whole[SOURCE])


def _named(examples: pa.Table) -> DatasetInfo:
    return replace(dataset_info(examples.schema), name="train and held-out")


EXPERIMENT = Experiment("dropout", "do coordinates correlate with dropout's uncertainty?", run, "App. B.1, Fig. 7")

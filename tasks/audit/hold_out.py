"""The step `hold_out`: without an evaluation set, the train set but for the rows held out, cleaned as if these were not there.

What is found among all rows has heard the labels of those that models are then scored on, and cleaning by it looks better than it is
(``suspects.among``).
"""

from __future__ import annotations

from pathlib import Path

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json
from cartograph.errors import GateError
from tasks.audit.clean import ARMS, FOUND, ROWS, SUSPECTS, clean_by
from tasks.audit.clean import Clean as CleanParams
from tasks.audit.committees import committee_inputs, suspects_among
from tasks.audit.decisions import DECISIONS, decisions_in
from tasks.audit.held_out import held_out_rows, holds_out
from tasks.audit.parameters.retrain import Retrain
from tasks.audit.plan import HELD_APART, retrained_models, selection_file
from tasks.engine.step import Inputs, Out, Step

_VERSIONS = ("cleaned", "random")


class HoldOut(Section):
    """The section ``hold_out`` of params.yaml: there is nothing to set; ``retrain`` says how many rows are held out."""


def run(params: HoldOut, inputs: Inputs, out: Out) -> str:
    """Write the rows that stay of those not held out, and as many random ones; return how many there are."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from cartograph.clean.cleaning import cleaned_examples, subsets
    from cartograph.data.memory import release_memory
    from cartograph.data.parquet import write_parquet

    settings = out.workspace.settings
    examples, found = pq.read_table(inputs[ROWS]), read_json(inputs[FOUND])
    decisions = decisions_in(inputs.get(DECISIONS), examples)
    part = examples.filter(pa.array(~held_out_rows(settings.of(Retrain), examples))).combine_chunks()
    del examples
    recipe, cleaning = read_json(inputs[ARMS])["used"], settings.of(CleanParams)
    if recipe != "decisions-only" and found["detector"] == "committee":
        noise = suspects_among(part, inputs, settings, found)(np.arange(len(part)))
        release_memory(part.num_rows)
    else:
        whole = pq.read_table(inputs[SUSPECTS])
        noise = whole.filter(pc.is_in(whole["uid"], value_set=part["uid"].combine_chunks()))
    uids = set(part["uid"].to_pylist())
    own = {uid: decision for uid, decision in decisions.items() if uid in uids}
    [folder] = out.staged.values()
    folder.mkdir(exist_ok=True)
    try:
        cleaned = clean_by(cleaning, part, noise, own, recipe, calibrated=bool(found["calibrated"]))
        versions = subsets(part, cleaned_examples(part, cleaned), np.random.default_rng(cleaning.seed))
    except GateError:
        # Decisions leave these rows without one of their classes, though not all rows.
        there = {name: pq.read_table(inputs[selection_file(name)]) for name in _VERSIONS}
        versions = {name: rows.filter(pc.is_in(rows["uid"], value_set=part["uid"].combine_chunks())) for name, rows in there.items()}
    for name in _VERSIONS:
        write_parquet(versions[name], folder / f"{name}.parquet")
    return f"{len(versions['cleaned']):,} of {len(part):,} rows that are not held out"


def _inputs(settings: Settings) -> tuple[str, ...]:
    return (ROWS, SUSPECTS, FOUND, ARMS, *map(selection_file, _VERSIONS), *committee_inputs(settings))


STEP = Step(
    name=Path(HELD_APART).name,
    run=run,
    params=HoldOut,
    inputs=_inputs,
    optional=(DECISIONS,),
    outputs=(HELD_APART,),
    reads=("ingest", "noise", "clean", "retrain"),
    libraries=("numpy", "pyarrow", "scikit-learn", "scipy"),
    when=lambda settings: holds_out(settings) and bool(retrained_models(settings)),
)

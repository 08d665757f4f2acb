"""The step `tune`: learning rates drawn log-uniformly, a training each, and which one does best on held-out rows of the distribution."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.config import Settings
from cartograph.data.json_files import write_json
from cartograph.errors import InputError
from tasks.audit import recipes, train
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.train import Train
from tasks.audit.parameters.tune import Tune
from tasks.audit.plan import searches_rate
from tasks.audit.rate_search import best_of, search_rates
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from tasks.audit.rate_search import Trial

DATA, METRICS = "data/tune", "reports/tune.metrics.json"
_ROWS = "data/ingest/train.parquet"
_MEANT = ("val", "dev")


def run(params: Tune, inputs: Inputs, out: Out) -> str:
    """Try every rate, go on where a killed search stopped; write the trials and the best rate; return it.

    Rates are compared on an evaluation set of the train set's distribution: on one called validation or dev where there is
    one, so that a test set stays one, else on the first by name. A training that failed is best only where all have.

    Raises:
        InputError: there is no such evaluation set, or the lowest rate is not below the highest.
    """
    import pyarrow.parquet as pq

    from cartograph.data.parquet import write_parquet
    from cartograph.schema import dataset_info

    tables = {Path(name).stem: pq.read_table(inputs[name]) for name in inputs if name.startswith("data/ingest/") and name != _ROWS}
    held = {name: table for name, table in sorted(tables.items()) if dataset_info(table.schema).domain == "id"}
    if not held:
        raise InputError("step `tune` needs an evaluation set of the train set's distribution, which is missing; add one to `evaluation`.")
    name = next((name for name in held if name.casefold().startswith(_MEANT)), next(iter(held)))
    recipe = replace(
        recipes.recipe_of(out.workspace.settings.of(Train), out.workspace),
        seed=params.seed,
        record="train_pass",
        evaluate="end",
        live=False,
    )
    low, high = params.low or recipe.learning_rate / 10, params.high or recipe.learning_rate * 10
    if low >= high:
        raise InputError(
            f"step `tune` would draw rates from {low:g} to {high:g}; `tune.low` must be below `tune.high`, and where one of them is null "
            f"it is a tenth, or ten times, of `train.learning_rate` ({recipe.learning_rate:g}): set both."
        )
    with progress("tune") as update:
        found = search_rates(
            params.trials, (low, high), params.seed, recipe, pq.read_table(inputs[_ROWS]), {name: held[name]}, out.checkpoints, update
        )
    best = best_of(found)
    write_parquet(_table(found), out[DATA] / "trials.parquet")
    content = {"set": name, **best}
    write_json(out[DATA] / "best.json", content)
    numbers = {"tune.learning_rate": best["learning_rate"], "tune.accuracy": best["accuracy"], "tune.trials": len(found)}
    write_json(out[METRICS], numbers)
    summary = f"best of {len(found)} rates {best['learning_rate']:.3g}, accuracy {name} {best['accuracy']:.3f}"
    if best["failed"]:
        return f"{summary}; all of them FAILED: no better than chance"
    return f"{summary}; set train.learning_rate to use it"


def _table(found: list[Trial]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist(
        found,
        schema=pa.schema([("trial", pa.int32()), ("learning_rate", pa.float64()), ("accuracy", pa.float64()), ("failed", pa.bool_())]),
    )


def _inputs(settings: Settings) -> tuple[str, ...]:
    return (*ingested_sets(settings), *recipes.pretrained_files(settings.of(Train)))


STEP = Step(
    name="tune",
    run=run,
    params=Tune,
    inputs=_inputs,
    outputs=(DATA, METRICS),
    libraries=(*train.STEP.libraries, "optuna"),
    when=searches_rate,
    reads=("train",),
    hints=Hints(resources="gpu"),
)

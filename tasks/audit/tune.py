"""The step `tune`: learning rates drawn log-uniformly, a training each, and which one does best on a validation set or held-out rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cartograph.config import Settings
from cartograph.data.json_files import write_json
from cartograph.errors import InputError
from tasks.audit import recipes, train
from tasks.audit.held_out import as_held_out, part_of_each_class
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
_PART = 0.2


def run(params: Tune, inputs: Inputs, out: Out) -> str:
    """Try every rate, go on where a killed search stopped; write the trials and the best rate; return it.

    Rates are compared on the evaluation set in distribution that is called validation or dev; without one, on a fifth of the
    train set that is held out of these trainings, so that every other set stays a test set. A training that failed is best only where all
    have.

    Raises:
        InputError: too few rows for a part to be held out, or the lowest rate is not below the highest.
    """
    import pyarrow.parquet as pq

    from cartograph.compare.versions import HELD_OUT
    from cartograph.data.parquet import write_parquet

    rows = pq.read_table(inputs[_ROWS])
    name, held, rows = _validation(inputs, rows, params.seed)
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
        found = search_rates(params.trials, (low, high), params.seed, recipe, rows, {name: held}, out.checkpoints, update)
    best = best_of(found)
    write_parquet(_table(found), out[DATA] / "trials.parquet")
    content = {"set": name, **best}
    write_json(out[DATA] / "best.json", content)
    numbers = {"tune.learning_rate": best["learning_rate"], "tune.accuracy": best["accuracy"], "tune.trials": len(found)}
    write_json(out[METRICS], numbers)
    where = f"on {held.num_rows:,} train rows held out" if name == HELD_OUT else name
    summary = f"best of {len(found)} rates {best['learning_rate']:.3g}, accuracy {where} {best['accuracy']:.3f}"
    if best["failed"]:
        return f"{summary}; all of them FAILED: no better than chance"
    return f"{summary}; set train.learning_rate to use it"


def _validation(inputs: Inputs, rows: pa.Table, seed: int) -> tuple[str, pa.Table, pa.Table]:
    """Return the name and rows of the set that rates are compared on, and the rows that are trained on."""
    import pyarrow.parquet as pq

    from cartograph.compare.best_seeds import is_validation
    from cartograph.compare.versions import HELD_OUT
    from cartograph.schema import dataset_info

    for name in sorted(inputs):
        if name != _ROWS and name.startswith("data/ingest/"):
            info = dataset_info(pq.read_schema(inputs[name]))
            if is_validation(info.name, info.domain):
                return info.name, pq.read_table(inputs[name]), rows
    held = part_of_each_class(rows, _PART, seed, 2)
    rest = rows.filter(~held).combine_chunks()
    if len(rest["label"].unique()) < 2:
        raise InputError(
            f"step `tune` would compare rates on a fifth of the train set, but of its {rows.num_rows:,} rows too few are left to train "
            "on; add an evaluation set in distribution called `validation` to `evaluation`, or set `tune.trials` to 0."
        )
    return HELD_OUT, as_held_out(rows, held), rest


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

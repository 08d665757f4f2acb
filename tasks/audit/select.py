"""The step `select`: the rows that each strategy keeps at each fraction, a table each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cartograph.config import Settings
from cartograph.data.json_files import write_json
from cartograph.errors import InputError
from tasks.audit import recipes
from tasks.audit.filtering import is_filtered
from tasks.audit.parameters.select import Select
from tasks.audit.parameters.train import Train
from tasks.audit.plan import ACQUISITION_PREFIX, selection_file, selection_name, selections
from tasks.engine.step import Inputs, Out, Step
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.selection.strategy import Acquisition, Candidates, Strategy
    from cartograph.selection.table import Selection

_ROWS, _MEASURES, _SUSPECTS = "data/ingest/train.parquet", "data/measure/measures.parquet", "data/noise/noise.parquet"
_FILTERED = "data/aflite/aflite.parquet"
_METRICS = "reports/select.metrics.json"
_SUSPECTS_NEEDED, _FILTER_NEEDED = "compose", "aflite"
_LISTED = 2


def run(params: Select, inputs: Inputs, out: Out) -> str:
    """Write a table per strategy and fraction, and how many rows tied; return what was kept."""
    import pyarrow.parquet as pq

    from cartograph.data.parquet import write_parquet
    from cartograph.schema import dataset_info
    from cartograph.selection.strategies import strategy_named
    from cartograph.selection.table import make_selection

    strategies = [strategy_named(name) for name in params.strategies]
    rows = pq.read_table(inputs[_ROWS]).sort_by("uid")
    labels = dataset_info(rows.schema).labels
    candidates = _candidates(params, strategies, rows, inputs, out)
    found: dict[str, Selection] = {}
    for strategy in strategies:
        for fraction in params.fractions:
            name = selection_name(strategy.name, fraction)
            with progress(f"select {name}", "rows") as update:
                found[name] = make_selection(
                    strategy,
                    replace(candidates, progress=update),
                    fraction,
                    labels,
                    seed=params.seed,
                    balance=params.class_balance,
                    may_lose_class=params.lost_classes == "tell",
                )
            write_parquet(found[name].table, out[selection_file(name)])
    # A class that the train set itself has no row of cannot be lost.
    present = sorted(set(rows["label"].to_pylist()))
    write_json(out[_METRICS], _metrics(found, present))
    return _summary(params, found, {place: labels[place] for place in present})


def _candidates(params: Select, strategies: list[Strategy], rows: pa.Table, inputs: Inputs, out: Out) -> Candidates:
    import numpy as np
    import pyarrow.parquet as pq

    from cartograph.adversarial_filter.tables import resistance
    from cartograph.maps.measures import NEVER_LEARNT
    from cartograph.schema import LABEL, UID
    from cartograph.selection.strategy import ACQUISITION, RESISTANCE, Candidates

    table = pq.read_table(inputs[_MEASURES]).sort_by(UID)
    _require_same(rows, table, _MEASURES)
    never = table["never_learnt"]
    known: dict[str, Any] = {name: table[name].to_numpy() for name in table.column_names if not table[name].null_count and name != UID}
    if never.null_count == 0:
        known["forgetting"] = table["forgetting"].fill_null(NEVER_LEARNT).to_numpy()
    if _FILTERED in inputs:
        known[RESISTANCE] = resistance(pq.read_table(inputs[_FILTERED]), rows[UID].combine_chunks())
    suspect = None
    if _SUSPECTS in inputs:
        noise = pq.read_table(inputs[_SUSPECTS]).sort_by(UID)
        _require_same(rows, noise, _SUSPECTS)
        suspect = noise["flagged"].to_numpy()
    acquires = any(ACQUISITION in strategy.needs for strategy in strategies)
    acquisition = _acquisition(params, rows, out) if acquires else None
    uids = rows[UID].to_numpy()
    return Candidates(uids, rows[LABEL].to_numpy().astype(np.int64), known, suspect, acquisition)


def _acquisition(params: Select, rows: pa.Table, out: Out) -> Acquisition:
    from cartograph.selection.acquisition import acquire

    share, seed, epochs = params.acquisition_share, params.seed, params.acquisition_epochs
    recipe = recipes.recipe_of(out.workspace.settings.of(Train), out.workspace)
    with progress("select") as update:
        return acquire(recipe, rows, share, out.checkpoints, epochs=epochs, seed=seed, progress=update)


def _require_same(rows: pa.Table, other: pa.Table, name: str) -> None:
    mine, its = rows["uid"].to_pylist(), other["uid"].to_pylist()
    if mine != its:
        missing = sorted(set(mine) - set(its)) or sorted(set(its) - set(mine)) or ["(one uid twice)"]
        raise InputError(
            f"{name} is about other rows than {_ROWS} ({len(its):,} and {len(mine):,}; uid {missing[0]!r} is in one of them only); "
            "they come from different runs: run the audit again."
        )


def _metrics(found: dict[str, Selection], present: list[int]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for name, selection in found.items():
        metrics |= {f"{name}.rows": selection.table.num_rows, f"{name}.tied": selection.tied}
        metrics[f"{name}.smallest_class"] = min(selection.per_class[place] for place in present)
    return metrics


def _summary(params: Select, found: dict[str, Selection], labels: dict[int, str]) -> str:
    counts = sorted({selection.table.num_rows for selection in found.values()})
    summary = f"{len(params.strategies)} selections of {' / '.join(f'{count:,}' for count in counts)} rows"
    ties = [f"{name} {selection.tied:,}" for name, selection in found.items() if selection.tied]
    summary += f"; ties at the cut: {', '.join(ties[:_LISTED])}{', …' if len(ties) > _LISTED else ''}" if ties else ""
    lost = [
        f"{name} keeps no {label!r}"
        for name, selection in found.items()
        for place, label in labels.items()
        if selection.per_class[place] == 0
    ]
    return summary + (f"; {lost[0]}{', …' if len(lost) > 1 else ''}" if lost else "")


def _inputs(settings: Settings) -> tuple[str, ...]:
    names = [name for name, _ in selections(settings).values()]
    suspects = (_SUSPECTS,) if any(name.startswith(_SUSPECTS_NEEDED) for name in names) else ()
    acquires = any(name.startswith(ACQUISITION_PREFIX) for name in names)
    filtered = (_FILTERED,) if is_filtered(settings) and _FILTER_NEEDED in names else ()
    return (_ROWS, _MEASURES, *suspects, *filtered, *(recipes.pretrained_files(settings.of(Train)) if acquires else ()))


def _outputs(settings: Settings) -> tuple[str, ...]:
    return (*map(selection_file, selections(settings)), _METRICS)


STEP = Step(
    name="select",
    run=run,
    params=Select,
    inputs=_inputs,
    outputs=_outputs,
    libraries=("numpy", "pyarrow", "torch"),
    when=lambda settings: bool(selections(settings)),
    reads=("train",),
)

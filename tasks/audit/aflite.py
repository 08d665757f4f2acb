"""The step `aflite`: rows whose labels are easy to guess from their features are removed round by round; the rest is a version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from cartograph.config import Settings
from cartograph.data.json_files import read_json, write_json
from cartograph.errors import InputError
from cartograph.wording import roughly
from tasks.audit import features
from tasks.audit.filtering import is_filtered
from tasks.audit.impossible import KEY, draw_reason
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.aflite import Aflite
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.presentation.console import LONG_SECONDS, Update, progress, say

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from cartograph.adversarial_filter.forecast import Forecast
    from cartograph.adversarial_filter.result import Result

DATA, METRICS = "data/aflite", "reports/aflite.metrics.json"
FIGURES = ("reports/figures/aflite.png", "reports/figures/aflite.svg")
_ROWS = "data/ingest/train.parquet"
_FEWEST = 2


def run(params: Aflite, inputs: Inputs, out: Out) -> str:
    """Write who left when, the filtered version, the evaluation sets filtered alike, and the history; return how far it went."""
    from pyarrow.parquet import read_table

    from cartograph.adversarial_filter.algorithm import aflite
    from cartograph.data.memory import release_memory

    folder = inputs[features.DATA]
    read = ["uid", "label", "linked", *filter(None, [params.group_by])]
    sets = {Path(name).stem: _columns_of(inputs[name], read) for name in inputs if name.startswith("data/ingest/")}
    loaded = {name: _rows_with_features(folder / f"{name}.parquet", sets[name]) for name in sets if (folder / f"{name}.parquet").is_file()}
    rows, vectors = loaded.pop("train")
    sizes = _sizes(params, rows.num_rows)
    reason = _unfilterable(rows, sizes)
    if reason is not None:
        evaluation = {name: table for name, (table, _) in loaded.items()}
        return _leave_all(reason, rows, read_table(inputs[_ROWS]), evaluation, read_json(folder / "features.json"), out)
    with progress("aflite", "rounds at most") as update:
        result = aflite(
            vectors,
            rows["label"].to_numpy(),
            **sizes,
            n_partitions=params.n_partitions,
            threshold=params.threshold,
            variant=params.variant,
            seed=params.seed,
            groups=_groups(params.group_by, rows),
            penalty=params.penalty,
            device=params.device,
            parts=params.parts,
            spread=out.spread,
            folder=out.checkpoints,
            evaluation={name: (theirs, table["label"].to_numpy()) for name, (table, theirs) in loaded.items()},
            forecast=_Spoken(update, f"{params.n_partitions} classifiers on {sizes['train_size']:,} of {rows.num_rows:,} rows"),
        )
    del vectors
    release_memory(rows.num_rows)
    texts = read_table(inputs[_ROWS])
    _write_tables(result, rows, texts, {name: table for name, (table, _) in loaded.items()}, params.n_partitions, out[DATA])
    features_record = read_json(folder / "features.json")
    record = _record(params, sizes, result, features_record) | ({"linked": True} if "linked" in rows.column_names else {})
    write_json(out[DATA] / "aflite.json", record)
    write_json(out[METRICS], _metrics(record))
    _draw(result, out)
    summary = "{rows:,} to {kept:,} rows in {rounds} rounds, R {bias_before:.2f} to {bias_after:.2f}".format(**record)
    return summary.replace(" 0.", " .")


class _Spoken:
    """Shows the rounds of a filter and the time left; the first time that this is known, a long filter also says it in a line.

    Args:
        update: shows how far the filter is.
        what: what it does in a round.
    """

    def __init__(self, update: Update, what: str) -> None:
        self._update, self._what, self._said = update, what, False

    def __call__(self, forecast: Forecast) -> None:
        whole = forecast.seconds + forecast.seconds_left
        if not self._said and whole > LONG_SECONDS:
            say(f"{'aflite':<18} {self._what}, up to {forecast.rounds:,} rounds: about {roughly(whole)}")
        self._said = True
        self._update(forecast.ended, forecast.rounds, forecast.seconds_left)


def _unfilterable(rows: pa.Table, sizes: _Sizes) -> str | None:
    """Return why nothing can be filtered; None where it can."""
    if (classes := len(rows["label"].unique())) < 2:
        return f"Nothing could be filtered by AFLite: all {rows.num_rows:,} rows have the same label, which is no guess."
    if sizes["train_size"] >= rows.num_rows and rows.num_rows <= _FEWEST:
        return f"Nothing could be filtered by AFLite: of {rows.num_rows:,} rows in {classes} classes none is left to guess."
    return None


def _leave_all(
    reason: str, rows: pa.Table, texts: pa.Table, evaluation: dict[str, pa.Table], features_record: dict[str, Any], out: Out
) -> str:
    """Write the outputs of a filter that keeps every row, and why."""
    import numpy as np

    from cartograph.adversarial_filter.result import FilteredSet, Result

    def whole(number: int) -> tuple[Any, Any, Any, Any]:
        return np.ones(number, bool), np.zeros(number, np.int32), np.full(number, np.nan), np.full(number, np.nan)

    sets = {name: FilteredSet(*whole(table.num_rows)) for name, table in evaluation.items()}
    result = Result(*whole(rows.num_rows), np.zeros(rows.num_rows, np.int32), (), reason, sets)
    _write_tables(result, rows, texts, evaluation, 0, out[DATA])
    kept = {name: {"rows": table.num_rows, "kept": table.num_rows} for name, table in sorted(evaluation.items())}
    record = {"features": features_record, "rows": rows.num_rows, "kept": rows.num_rows, "removed": 0, "rounds": 0, "evaluation": kept}
    write_json(out[DATA] / "aflite.json", record | {"stop_reason": reason, KEY: reason})
    write_json(out[METRICS], {"aflite.rows": rows.num_rows, "aflite.kept": rows.num_rows, "aflite.rounds": 0, "aflite.kept.share": 1.0})
    draw_reason(reason, [out[name] for name in FIGURES])
    return "nothing could be filtered: too few rows, or one class"


def _columns_of(path: Path, names: list[str]) -> pa.Table:
    """Return those of these columns that a set has."""
    import pyarrow.parquet as pq

    return pq.read_table(path, columns=[name for name in names if name in pq.read_schema(path).names])


def _rows_with_features(path: Path, table: pa.Table) -> tuple[pa.Table, np.ndarray]:
    """Return the rows of a set that have features, in the order of the file, and these."""
    from cartograph.data.subsets import rows_of
    from cartograph.features.vectors import read_stored_features

    uids, vectors = read_stored_features(path, what=f"{features.DATA}/{path.name}")
    return rows_of(table, uids, f"{features.DATA}/{path.name}"), vectors


class _Sizes(TypedDict):
    train_size: int
    target_size: int
    slice_size: int


def _sizes(params: Aflite, rows: int) -> _Sizes:
    train_size = params.train_size or max(2, round(params.train_share * rows))
    return {
        "train_size": train_size,
        "target_size": params.target_size or max(train_size + 1, round(params.target_share * rows)),
        "slice_size": 1 if params.variant == "greedy" else params.slice_size or max(1, round(params.slice_share * rows)),
    }


def _groups(column: str | None, rows: pa.Table) -> np.ndarray | None:
    """Return the group of each row: what the user linked (``ingest.linked``), and rows with the same text in this column."""
    from cartograph.data.linked_rows import linked_rows, named_groups

    own, named = None if column is None else _codes(column, rows), named_groups(rows)
    return own if named is None else linked_rows([] if own is None else [own], named)


def _codes(column: str, rows: pa.Table) -> np.ndarray:
    from cartograph.schema import dataset_info

    if column not in (fields := dataset_info(rows.schema).fields):
        raise InputError(f"`aflite.group_by` is {column!r}, which is no text column of the set; its text columns are {', '.join(fields)}.")
    codes: np.ndarray = rows[column].combine_chunks().dictionary_encode().indices.to_numpy()
    return codes


def _write_tables(
    result: Result, rows: pa.Table, texts: pa.Table, evaluation: dict[str, pa.Table], n_partitions: int, folder: Path
) -> None:
    import numpy as np
    import pyarrow as pa

    from cartograph.adversarial_filter.tables import history_table, rows_table
    from cartograph.data.parquet import write_parquet
    from cartograph.data.subsets import rows_of

    write_parquet(rows_table(rows["uid"], result, result.n_predictions), folder / "aflite.parquet")
    write_parquet(history_table(result), folder / "history.parquet")
    kept = rows["uid"].combine_chunks().filter(pa.array(result.kept))
    write_parquet(rows_of(texts, kept, "AFLite"), folder / "filtered.parquet")
    (folder / "evaluation").mkdir()
    for name, table in evaluation.items():
        counts = np.full(table.num_rows, n_partitions, np.int32)
        write_parquet(rows_table(table["uid"], result.evaluation[name], counts), folder / "evaluation" / f"{name}.parquet")


def _record(params: Aflite, sizes: _Sizes, result: Result, features_record: dict[str, Any]) -> dict[str, Any]:
    removed = int((~result.kept).sum())
    return {
        **sizes,
        **params.model_dump(include={"n_partitions", "threshold", "variant", "group_by", "seed"}),
        "features": features_record,
        "rows": len(result.kept),
        "kept": len(result.kept) - removed,
        "removed": removed,
        "rounds": _rounds(result),
        "bias_before": result.history[0].bias,
        "bias_after": result.history[-1].bias,
        "stop_reason": result.stop_reason,
        "evaluation": {
            name: {"rows": len(theirs.kept), "kept": int(theirs.kept.sum())} for name, theirs in sorted(result.evaluation.items())
        },
    }


def _rounds(result: Result) -> int:
    return sum(step.removed > 0 for step in result.history)


def _metrics(record: dict[str, Any]) -> dict[str, float]:
    metrics = {f"aflite.{name}": record[name] for name in ("rows", "kept", "rounds", "bias_before", "bias_after")}
    metrics["aflite.kept.share"] = record["kept"] / record["rows"]
    metrics |= {f"aflite.{name}.kept.share": theirs["kept"] / theirs["rows"] for name, theirs in record["evaluation"].items()}
    return metrics


def _draw(result: Result, out: Out) -> None:
    from cartograph.adversarial_filter.figures import history_figure
    from cartograph.figures.saving import save_figure

    figure = history_figure(result.history)
    for name in FIGURES:
        save_figure(figure, out[name])


def _inputs(settings: Settings) -> tuple[str, ...]:
    return (*ingested_sets(settings), features.DATA)


STEP = Step(
    name="aflite",
    run=run,
    params=Aflite,
    inputs=_inputs,
    outputs=(DATA, METRICS, *FIGURES),
    libraries=("torch", "numpy", "pyarrow", "matplotlib"),
    when=is_filtered,
    hints=Hints(resources="gpu"),
)

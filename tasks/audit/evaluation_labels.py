"""The step `evaluation_labels`: which labels of the evaluation sets look wrong, since models are scored against them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from cartograph.config import Section, Settings
from cartograph.data.json_files import write_json
from cartograph.errors import InputError
from tasks.audit.committees import EMBEDDED
from tasks.audit.parameters.embed import Embed
from tasks.audit.parameters.ingest import Sources
from tasks.audit.plan import needs_encoder
from tasks.engine.step import Inputs, Out, Step
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from cartograph.features.telling import Telling
    from cartograph.suspects.committee import Reading
    from cartograph.suspects.evaluation_labels import EvaluationDoubt

DATA, RECORD, METRICS = "data/evaluation_labels", "evaluation_labels.json", "reports/evaluation_labels.metrics.json"
_TRAIN = "data/ingest/train.parquet"
MOST_NAMED = 10


class EvaluationLabels(Section):
    """The section ``evaluation_labels`` of params.yaml."""

    train_rows: int = Field(20_000, ge=1, description="most rows of the train set, drawn by `noise.seed`, that models learn from")
    rows: int = Field(20_000, ge=1, description="most rows of an evaluation set, drawn likewise, that are looked at")


def run(params: EvaluationLabels, inputs: Inputs, out: Out) -> str:
    """Write the list of each evaluation set of the train set's distribution; return how many of their labels look wrong."""
    import pyarrow.parquet as pq

    from cartograph.data.parquet import write_parquet
    from cartograph.features.telling import what_tells
    from cartograph.schema import dataset_info
    from cartograph.suspects.committee import reading_of
    from cartograph.suspects.evaluation_labels import evaluation_doubts, together

    noise = out.workspace.settings["noise"].model_dump()
    train = _some(pq.read_table(inputs[_TRAIN]), params.train_rows, noise["seed"])
    sets = {name: pq.read_table(inputs[f"data/ingest/{name}.parquet"]) for name in _names(out.workspace.settings)}
    sets = {name: _some(table, params.rows, noise["seed"]) for name, table in sets.items() if table.num_rows}
    vectors = _vectors(train, sets, inputs)
    record: dict[str, Any] = {}
    try:
        reading = _with_vectors(reading_of(together(train, sets), characters=vectors is None), vectors, train)
        with progress("evaluation_labels", "folds of models") as update:
            how = {"folds": noise["folds"], "seed": noise["seed"], "threshold": noise["threshold"]}
            found = evaluation_doubts(train, sets, reading, progress=update, **how)
    except InputError as error:
        # Of one class, or of texts without a word, nothing can be said.
        found, record = {}, {name: {"rows": table.num_rows, "suspects": 0, "why": str(error)} for name, table in sets.items()}
    [folder] = [path for name, path in out.staged.items() if name == DATA]
    folder.mkdir(exist_ok=True)
    for name, own in found.items():
        write_parquet(own.rows, folder / f"{name}.parquet")
        record[name] = _record(own, what_tells(together(train, {name: sets[name]})), dataset_info(train.schema).outcome)
    write_json(folder / RECORD, record)
    write_json(out[METRICS], _metrics(record))
    return ", ".join(f"{name} {one['suspects']:,} of {one['rows']:,}" for name, one in record.items()) or "no rows"


def _some(table: pa.Table, most: int, seed: int) -> pa.Table:
    """Return the rows, or so many at random, in their order."""
    import numpy as np
    import pyarrow as pa

    if table.num_rows <= most:
        return table
    return table.take(pa.array(np.sort(np.random.default_rng([seed, 5]).choice(table.num_rows, most, replace=False))))


def _vectors(train: pa.Table, sets: Mapping[str, pa.Table], inputs: Mapping[str, Path]) -> np.ndarray | None:
    """Return an encoder's vectors of all rows, where the audit makes them."""
    import numpy as np

    from cartograph.features.vectors import read_features

    if EMBEDDED not in inputs:
        return None
    files = {name: (table, f"{EMBEDDED}/{name}.parquet") for name, table in {"train": train, **sets}.items()}
    parts = [read_features(inputs[EMBEDDED] / f"{name}.parquet", table["uid"], what=file)[1] for name, (table, file) in files.items()]
    return np.concatenate(parts)


def _with_vectors(reading: Reading, vectors: np.ndarray | None, train: pa.Table) -> Reading:
    from cartograph.features.vectors import join_sides
    from cartograph.schema import dataset_info

    if vectors is None:
        return reading
    if reading.options is not None:
        by_option = vectors.reshape(len(vectors), reading.options.number, -1)
        return reading._replace(options=reading.options._replace(vectors=by_option))
    info = dataset_info(train.schema)
    return reading._replace(vectors=vectors if info.images else join_sides(vectors, info))


def _record(found: EvaluationDoubt, telling: Telling, outcome: str) -> dict[str, Any]:
    """Return how many suspects a set has and how many labels are wrong; no number where something tells the label, or it is an outcome."""
    import numpy as np

    from cartograph.suspects.record import rounded_between

    wrong, suspects = found.doubt.wrong, int(np.count_nonzero(found.rows["flagged"].to_numpy(zero_copy_only=False)))
    number = None if wrong is None else {name: round(value, 3) for name, value in vars(wrong).items()}
    record = {"rows": found.rows.num_rows, "suspects": suspects, "wrong": number, "unknown": found.doubt.unknown}
    record |= {"explained": round(found.doubt.explained, 6), "between": rounded_between(found.doubt)}
    if telling.nearly_all:
        record["between"] = None
        return record | {"wrong": None, "unknown": "leaked", "leaked_by": telling.names[:MOST_NAMED], "leaked_words": telling.words}
    if found.one_class or outcome:
        why = {"unknown": "one class"} if found.one_class else {"unknown": "outcome", "outcome": outcome}
        return record | {"wrong": None, "between": None, **why}
    return record


def _metrics(record: Mapping[str, Any]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for name, one in record.items():
        metrics[f"{name}.suspects"] = one["suspects"]
        if one.get("wrong") is not None:
            metrics |= {f"{name}.wrong.{end}": one["wrong"][end] for end in ("expected", "low", "high")}
    return metrics


def _names(settings: Settings) -> list[str]:
    """Return the evaluation sets in the train set's distribution: to models of another, hard rows and wrong labels look alike."""
    return [name for name, (domain, _) in settings.of(Sources).sets().items() if domain == "id"]


def has_evaluation_labels(settings: Settings) -> bool:
    """Return whether an audit looks at the labels of evaluation sets."""
    return "noise" in settings and bool(_names(settings))


def _inputs(settings: Settings) -> tuple[str, ...]:
    embed = settings.find(Embed)
    embedded = (EMBEDDED,) if needs_encoder(settings) and (embed is None or embed.file is None) else ()
    return (_TRAIN, *(f"data/ingest/{name}.parquet" for name in _names(settings)), *embedded)


STEP = Step(
    name="evaluation_labels",
    run=run,
    params=EvaluationLabels,
    inputs=_inputs,
    outputs=(DATA, METRICS),
    reads=("noise",),
    libraries=("numpy", "pyarrow", "scikit-learn", "scipy"),
    when=has_evaluation_labels,
)

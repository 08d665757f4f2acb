"""The step `features`: one vector per row, which AFLite filters by; rows that a fine-tuned model learns from leave the pool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.config import Settings
from cartograph.data.json_files import write_json
from cartograph.errors import InputError
from cartograph.models.registry import FROM_A_FOLDER
from tasks.audit import recipes
from tasks.audit.filtering import features_need_encoder, is_filtered
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.features import Features
from tasks.audit.parameters.train import Train
from tasks.audit.pretrained_folder import local_folder
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.engine.workspace import user_file
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from cartograph.train.recipe import Recipe

DATA = "data/features"
_ROWS = "data/ingest/train.parquet"
_EMBEDDED = "data/embed"


def run(params: Features, inputs: Inputs, out: Out) -> str:
    """Write each set's vectors, those of ``train`` without the rows that leave the pool; return what they are."""
    import pyarrow.parquet as pq

    from cartograph.features.vectors import write_features

    _require_source(params, pq.read_schema(inputs[_ROWS]))
    made = _MAKERS[params.source](params, inputs, out)
    for name, (uids, features) in made.items():
        write_features(uids, features, out[DATA] / f"{name}.parquet")
    pool, width = made["train"][1].shape
    held_back = pq.read_metadata(inputs[_ROWS]).num_rows - pool
    record = {"source": params.source, "width": width, "pool": pool, "held_back": held_back, "sets": sorted(made)}
    write_json(out[DATA] / "features.json", record)
    held = f", {record['held_back']:,} rows held back" if record["held_back"] else ""
    return f"{params.source}, {width} numbers a row{held}"


Made = dict[str, tuple["pa.ChunkedArray", "np.ndarray[Any, Any]"]]
"""Of each set the uids, and a vector of each."""


def _tables(inputs: Inputs) -> dict[str, pa.Table]:
    import pyarrow.parquet as pq

    return {Path(name).stem: pq.read_table(inputs[name]) for name in inputs if name.startswith("data/ingest/")}


def _require_source(params: Features, schema: pa.Schema) -> None:
    from cartograph.schema import dataset_info

    info = dataset_info(schema)
    held, other = ("images", "pixels") if info.images else ("tables of features", "columns") if info.features else ("texts", "bow")
    if params.source in {"bow", "pixels", "columns"} - {other}:
        raise InputError(f"`features.source` is `{params.source}`, but the rows are {held}; set it to {other}, frozen, finetuned or file.")


def _pixels(params: Features, inputs: Inputs, out: Out) -> Made:
    from cartograph.features.pixels import svd_features

    tables = _tables(inputs)
    found = svd_features(tables, params.dimensions, params.seed)
    return {name: (table["uid"], found[name]) for name, table in tables.items()}


def _columns(params: Features, inputs: Inputs, out: Out) -> Made:
    from cartograph.features.tables import dense_columns

    tables = _tables(inputs)
    found = dense_columns(tables)
    return {name: (table["uid"], found[name]) for name, table in tables.items()}


def _bow(params: Features, inputs: Inputs, out: Out) -> Made:
    from cartograph.data.memory import release_memory
    from cartograph.features.vectors import bow_features, bow_words

    tables = _tables(inputs)
    uids = {name: table["uid"] for name, table in tables.items()}
    with progress("features", "rows") as update:
        words = bow_words(tables, update)
    # The texts are read: they need not lie beside the vectors.
    del tables
    release_memory(len(uids["train"]))
    with progress("features", "rows") as update:
        found = bow_features(words, params.dimensions, params.seed, update)
    return {name: (own, found[name]) for name, own in uids.items()}


def _frozen(params: Features, inputs: Inputs, out: Out) -> Made:
    from cartograph.features.vectors import join_sides, read_features
    from cartograph.schema import dataset_info

    made = {}
    for name, table in _tables(inputs).items():
        vectors = read_features(inputs[_EMBEDDED] / f"{name}.parquet", table["uid"], what=f"{_EMBEDDED}/{name}.parquet")[1]
        made[name] = table["uid"], join_sides(vectors, dataset_info(table.schema))
    return made


def _finetuned(params: Features, inputs: Inputs, out: Out) -> Made:
    import numpy as np

    from cartograph.data.folds import drawn_groups
    from cartograph.data.linked_rows import user_groups
    from cartograph.models.last_layer import penultimate_features
    from cartograph.train.fit import fit

    tables = _tables(inputs)
    rows = tables["train"]
    learnt, rng, groups = np.zeros(rows.num_rows, bool), np.random.default_rng([params.seed, 5]), user_groups(rows)
    if groups is None:
        learnt[rng.choice(rows.num_rows, max(2, round(params.held_back * rows.num_rows)), replace=False)] = True
    else:
        learnt = drawn_groups(rows["label"].to_numpy(), params.held_back, rng, groups)
    recipe = _recipe(params, out)
    out.checkpoints.mkdir(parents=True, exist_ok=True)
    with progress("features") as update:
        fitted = fit(recipe, rows.filter(learnt), {}, out.checkpoints, progress=update)
    pool = tables | {"train": rows.filter(~learnt)}
    with progress("features", "rows read") as update:
        found = penultimate_features(recipe.model, fitted.model, pool, device=recipe.device, progress=update)
    return {name: (table["uid"], found[name]) for name, table in pool.items()}


def _file(params: Features, inputs: Inputs, out: Out) -> Made:
    """Return the file's vectors of the train set, and of those evaluation sets that it has vectors of."""
    import pyarrow.compute as pc

    from cartograph.features.vectors import read_features

    uids = {name: table["uid"] for name, table in _tables(inputs).items()}
    path, what = inputs[user_file(params.file or "")], params.file or ""
    known, _ = read_features(path, what=what)
    own = {"train", *(name for name in uids if pc.any(pc.is_in(uids[name], value_set=known)).as_py())}
    return {name: (uids[name], read_features(path, uids[name], what=what)[1]) for name in uids if name in own}


_MAKERS = {"bow": _bow, "pixels": _pixels, "columns": _columns, "frozen": _frozen, "finetuned": _finetuned, "file": _file}


def _recipe(params: Features, out: Out) -> Recipe:
    """Return the recipe of the section ``train``, changed where this section says so."""
    from dataclasses import replace

    trained = out.workspace.settings.of(Train)
    own: dict[str, Any] = {name: value for name in ("model", "epochs", "batch_size", "learning_rate") if (value := getattr(params, name))}
    start = _starting_model(params, trained)
    is_probe = (params.model or trained.model) == "probe" and start is None
    own["pretrained"] = str(out.workspace.resolve(_EMBEDDED)) if is_probe else start and str(local_folder(start) or start)
    recipe = replace(recipes.recipe_of(trained, out.workspace), seed=params.seed, record="train_pass", evaluate="end", live=False, **own)
    if recipe.model in FROM_A_FOLDER and recipe.pretrained is None:
        raise InputError(f"features of a fine-tuned `{recipe.model}` need `features.pretrained`: a model's folder, or a hub id.")
    return recipe


def _starting_model(params: Features, trained: Train) -> str | None:
    """Return the folder or hub id that the model starts from, as params.yaml names it."""
    return params.pretrained or (trained.pretrained if (params.model or trained.model) in FROM_A_FOLDER else None)


def _inputs(settings: Settings) -> tuple[str, ...]:
    params = settings.of(Features)
    if params.source == "file":
        return (*ingested_sets(settings), user_file(params.file or ""))
    if features_need_encoder(settings):
        return (*ingested_sets(settings), _EMBEDDED)
    if params.source == "finetuned":
        start = _starting_model(params, settings.of(Train))
        return (*ingested_sets(settings), *((user_file(start),) if start and local_folder(start) else ()))
    return ingested_sets(settings)


STEP = Step(
    name="features",
    run=run,
    params=Features,
    inputs=_inputs,
    outputs=(DATA,),
    libraries=("torch", "transformers", "tokenizers", "safetensors", "numpy", "pyarrow", "scikit-learn"),
    when=is_filtered,
    reads=("train",),
    hints=Hints(resources="gpu"),
)

"""The step `bias`: how well simple models, half the input, single words and neighbours predict the label, before and after AFLite."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.config import Settings
from cartograph.data.json_files import write_json
from cartograph.errors import InputError
from cartograph.models.registry import FROM_A_FOLDER
from tasks.audit import aflite, features, recipes, train
from tasks.audit.filtering import measures_bias
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.bias import QUICK_MODELS, WORD_MODEL, Bias
from tasks.audit.parameters.train import Train
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from cartograph.bias.accuracies import EvaluationRows
    from cartograph.data.progress import Progress
    from cartograph.train.recipe import Recipe

DATA, METRICS = "data/bias", "reports/bias.metrics.json"
_ROWS = "data/ingest/train.parquet"
_HELD_OUT = 0.2
_LOOKED_UP = 1_000
HELD_OUT_NAME = "held out"


def run(params: Bias, inputs: Inputs, out: Out) -> str:
    """Write accuracies, revealing words and distances, before and after; return the first model's accuracies."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from cartograph.bias.accuracies import accuracies_table, held_out, mean_accuracies
    from cartograph.bias.partial import WHOLE, partial_inputs
    from cartograph.data.memory import release_memory
    from cartograph.data.parquet import write_parquet
    from cartograph.data.subsets import rows_of
    from cartograph.schema import dataset_info

    folder = inputs[aflite.DATA]
    filtered = pq.read_table(folder / "aflite.parquet")
    pool = rows_of(pq.read_table(inputs[_ROWS]), filtered["uid"], f"{aflite.DATA}/aflite.parquet")
    kept = filtered["kept"].to_numpy(zero_copy_only=False).astype(bool)
    evaluation = _evaluation(inputs, folder)
    if not evaluation:
        pool, kept, part = held_out(pool, kept, _HELD_OUT, np.random.default_rng(params.seeds[0]))
        evaluation = {HELD_OUT_NAME: part}
    info = dataset_info(pool.schema)
    models = [(model, WHOLE) for model in params.models if not ((info.images or info.features) and model == WORD_MODEL)]
    models += [(model, part) for part in partial_inputs(info) for model in params.partial]
    predictor = _Predictor(params, out, inputs.get(recipes.TRAINING))
    learnt = _sample(params, pool.num_rows)
    with progress("bias", "models") as update:
        accuracies = accuracies_table(
            pool.take(pa.array(learnt)),
            kept[learnt],
            evaluation,
            models,
            params.seeds,
            predictor,
            deterministic=QUICK_MODELS.__contains__,
            progress=update,
        )
    write_parquet(accuracies, out[DATA] / "accuracies.parquet")
    write_parquet(_words(params, pool, kept), out[DATA] / "words.parquet")
    # Neighbours are looked up by vectors.
    pool = pool.select(["uid", "label"])
    release_memory(pool.num_rows)
    with progress("bias", "searches") as update:
        neighbours = _neighbours(params, inputs[features.DATA], pool, kept, evaluation, update)
    write_parquet(neighbours, out[DATA] / "neighbours.parquet")
    metrics = mean_accuracies(accuracies)
    write_json(out[METRICS], metrics)
    write_json(out[DATA] / "sample.json", {"rows": len(learnt), "of": pool.num_rows, "neighbours_of": _looked_up(params)})
    if not accuracies.num_rows:
        return f"{neighbours.num_rows:,} distances"
    return _summary(accuracies.slice(0, 1).to_pylist()[0], metrics, len(learnt), int(kept[learnt].sum()))


def _sample(params: Bias, rows: int) -> np.ndarray:
    """Return which train rows the models learn from, (n,) sorted."""
    import numpy as np

    if params.rows is None or rows <= params.rows:
        return np.arange(rows)
    return np.sort(np.random.default_rng([params.seeds[0], 7]).choice(rows, params.rows, replace=False))


def _looked_up(params: Bias) -> int | None:
    return None if params.rows is None else _LOOKED_UP


def _evaluation(inputs: Mapping[str, Path], folder: Path) -> dict[str, EvaluationRows]:
    """Return the evaluation sets that were filtered alongside, those in distribution first."""
    import pyarrow.parquet as pq

    from cartograph.bias.accuracies import EvaluationRows
    from cartograph.data.subsets import rows_of
    from cartograph.schema import dataset_info

    found = {}
    for path in sorted((folder / "evaluation").glob("*.parquet")):
        left = pq.read_table(path)
        rows = rows_of(pq.read_table(inputs[f"data/ingest/{path.name}"]), left["uid"], f"{aflite.DATA}/evaluation/{path.name}")
        found[path.stem] = EvaluationRows(rows, left["kept"].to_numpy(zero_copy_only=False).astype(bool))
    return dict(sorted(found.items(), key=lambda item: (dataset_info(item[1].rows.schema).domain, item[0])))


class _Predictor:
    """Trains a model of a table and predicts with it."""

    def __init__(self, params: Bias, out: Out, map_training: Path | None = None) -> None:
        self._params, self._out, self._map_training = params, out, map_training

    def __call__(self, model: str, given: str, seed: int, rows: pa.Table, tests: Mapping[str, pa.Table]) -> dict[str, np.ndarray]:
        import numpy as np

        from cartograph.bias.guess import guess
        from cartograph.schema import dataset_info

        quick = model in QUICK_MODELS
        if len(seen := np.unique(rows["label"])) == 1 and not (quick and dataset_info(rows.schema).options):
            # A filter may leave one class alone; a model that saw no other names it.
            return {name: np.full(test.num_rows, seen[0], np.int64) for name, test in tests.items()}
        if quick:
            return {name: guess(model, rows, test, smoothing=self._params.smoothing) for name, test in tests.items()}
        return self._train_and_predict(_recipe(model, self._out, seed, self._map_training), rows, tests)

    def _train_and_predict(self, recipe: Recipe, rows: pa.Table, tests: Mapping[str, pa.Table]) -> dict[str, np.ndarray]:
        import shutil

        import pyarrow.parquet as pq

        from cartograph.data.subsets import rows_of
        from cartograph.dynamics.epoch_files import logits_of
        from cartograph.train.fit import fit

        folder = self._out.checkpoints / "fit"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        fitted = fit(recipe, rows, tests, folder)
        found = {}
        for name, test in tests.items():
            scored = pq.read_table(fitted.predictions / f"{name}.parquet")
            found[name] = logits_of(rows_of(scored, test["uid"], f"predictions/{name}.parquet"))
        return found


def _recipe(model: str, out: Out, seed: int, map_training: Path | None = None) -> Recipe:
    """Return the recipe of the section ``train``, for another model at that model's own rate."""
    from dataclasses import replace

    from cartograph.models.registry import model_class

    trained = out.workspace.settings.of(Train)
    recipe = recipes.recipe_of(trained, out.workspace, map_training if model == trained.model else None)
    if model in FROM_A_FOLDER and trained.pretrained is None:
        raise InputError(f"`bias.models` names `{model}`, which needs `train.pretrained`: a model folder or a hub id.")
    if model != recipe.model:
        start = str(out.workspace.resolve("data/embed")) if model == "probe" else recipe.pretrained if model in FROM_A_FOLDER else None
        recipe = replace(recipe, model=model, learning_rate=model_class(model).learning_rate, pretrained=start)
    return replace(recipe, seed=seed, record="train_pass", evaluate="end", live=False)


def _words(params: Bias, pool: pa.Table, kept: np.ndarray) -> pa.Table:
    import pyarrow as pa

    from cartograph.bias.words import REVEALING, words_table
    from cartograph.schema import dataset_info

    info = dataset_info(pool.schema)
    if info.images or info.features:
        return REVEALING.empty_table()
    return words_table(pool, pool.filter(pa.array(kept)), number=params.words, smoothing=params.smoothing)


def _neighbours(
    params: Bias, folder: Path, pool: pa.Table, kept: np.ndarray, evaluation: Mapping[str, EvaluationRows], update: Progress
) -> pa.Table:
    import pyarrow as pa

    from cartograph.bias.neighbours import NEIGHBOURS, neighbour_distances
    from cartograph.data.progress import piece_of
    from cartograph.features.vectors import read_stored_features
    from cartograph.schema import dataset_info

    def vectors(name: str, rows: pa.Table) -> np.ndarray:
        return read_stored_features(folder / f"{name}.parquet", rows["uid"], what=f"{features.DATA}/{name}.parquet")[1]

    train_vectors, labels, found = vectors("train", pool), pool["label"].to_numpy(), []
    classes = len(dataset_info(pool.schema).labels)
    for number, (name, tested) in enumerate(evaluation.items()):
        theirs, gold = vectors("train" if name == HELD_OUT_NAME else name, tested.rows), tested.rows["label"].to_numpy()
        sides = (("before", kept | True, tested.kept | True), ("after", kept, tested.kept))
        for side, (version, own, other) in enumerate(sides):
            rows = neighbour_distances(
                train_vectors if own.all() else train_vectors[own],
                labels[own],
                theirs[other],
                gold[other],
                classes,
                most=_looked_up(params),
                seed=params.seeds[0],
                progress=piece_of(update, 2 * number + side, 2 * len(evaluation)),
            )
            found += [{"version": version, "set": name, **row} for row in rows]
    return pa.Table.from_pylist(found, schema=NEIGHBOURS)


def _summary(first: Mapping[str, Any], metrics: Mapping[str, float], rows: int, kept: int) -> str:
    name = f"bias.{first['model']}.{first['set'].replace(' ', '_')}"
    found = [metrics.get(f"{name}.{version}") for version in ("full", "random", "filtered")]
    full, chance, left = ("-" if value is None else f"{value:.2f}".removeprefix("0") for value in found)
    return (
        f"{first['model']} on {first['set']}: accuracy {full} trained on {rows:,} rows, {chance} on {kept:,} random, {left} on the filtered"
    )


def _inputs(settings: Settings) -> tuple[str, ...]:
    params, trained = settings.of(Bias), settings.of(Train)
    names = {*params.models, *params.partial}
    read = [name for model in sorted(names & {"probe", *FROM_A_FOLDER}) for name in recipes.pretrained_files(_of_model(trained, model))]
    epochs = recipes.epochs_file(trained) if trained.model in names else ()
    return (*ingested_sets(settings), features.DATA, aflite.DATA, *epochs, *dict.fromkeys(read))


def _of_model(trained: Train, model: str) -> Train:
    return trained.model_copy(update={"model": model})


STEP = Step(
    name="bias",
    run=run,
    params=Bias,
    inputs=_inputs,
    outputs=(DATA, METRICS),
    libraries=(*train.STEP.libraries, "faiss-cpu", "scipy"),
    when=measures_bias,
    reads=("train",),
    hints=Hints(resources="gpu"),
)

"""The step `retrain`: the recipe of `train` from scratch on each version of the train set, with each seed, one cell each."""

from __future__ import annotations

import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.config import Settings
from cartograph.data.json_files import read_json, write_json
from cartograph.errors import InputError
from tasks.audit import recipes, train
from tasks.audit.held_out import as_held_out, held_out_set, holds_out, part_of_each_class
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.retrain import Retrain
from tasks.audit.parameters.train import Train
from tasks.audit.plan import HELD_APART, chosen_selections, retrained_models
from tasks.audit.rate_search import best_of, search_rates
from tasks.engine.digest import digest_json, digest_path
from tasks.engine.kept_results import computed_once
from tasks.engine.receipt import code_digests, versions
from tasks.engine.step import Hints, Inputs, Matrix, Out, Step
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.train.recipe import Recipe
    from tasks.audit.rate_search import Trial
    from tasks.engine.workspace import Workspace


_ROWS, _MEASURES = "data/ingest/train.parquet", "data/measure/measures.parquet"
_SUBSET = "data/select/{subset}.parquet"
_COMPARED, _STOPPING = 0.2, 0.1
_STOPPING_SET = "held-out for stopping"


def run(params: Retrain, inputs: Inputs, out: Out) -> str:
    """Train on the cell's subset; write predictions, history, training and metrics; return how well it went."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from cartograph.compare.versions import HELD_OUT
    from cartograph.data.memory import release_memory
    from cartograph.data.parquet import write_parquet
    from cartograph.data.subsets import take_subset
    from cartograph.schema import UID

    subset, seed = out.cell["subset"], int(out.cell["seed"])
    name = _SUBSET.format(subset=subset)
    apart = inputs[HELD_APART] / f"{subset}.parquet" if HELD_APART in inputs else None
    train_set = pq.read_table(inputs[_ROWS])
    rows = take_subset(train_set, pq.read_table(apart if apart is not None and apart.exists() else inputs[name]), name)
    evaluation = {Path(name).stem: inputs[name] for name in inputs if name.startswith("data/ingest/") and name != _ROWS}
    kept_apart, whole = not evaluation, train_set.num_rows
    if kept_apart:
        held = held_out_set(params, train_set)
        evaluation[HELD_OUT] = out.checkpoints / f"{HELD_OUT}.parquet"
        out.checkpoints.mkdir(parents=True, exist_ok=True)
        write_parquet(held, evaluation[HELD_OUT])
        rows, whole = rows.filter(pc.invert(pc.is_in(rows[UID], value_set=held[UID].combine_chunks()))).combine_chunks(), whole - len(held)
    recipe = _recipe(params, out.workspace, seed, inputs.get(recipes.TRAINING))
    if params.epochs is None and out.workspace.settings.of(Train).epochs == "auto":
        recipe = recipe.with_steps_of(whole, rows.num_rows)
    described = {"subset": subset, "seed": seed, "rows": rows.num_rows}
    described |= {"batch_size": recipe.batch_size, "learning_rate": recipe.learning_rate, "order": params.order}
    [folder] = out.staged.values()
    # The fraction in a selection's name looks like a suffix.
    folder.mkdir(exist_ok=True)
    if len(rows["label"].unique()) < 2:
        alone = kept_apart or len(train_set["label"].unique()) < 2 or subset in chosen_selections(out.workspace.settings)
        if rows.num_rows and alone:
            return _only_class(rows, recipe, evaluation, described, folder)
        raise InputError(
            f"{name} has {rows.num_rows:,} rows of fewer than two classes, and nothing can be learnt from them; "
            "clean less (section `clean`)."
        )
    same = [inputs[name] for name in inputs if name not in (_ROWS, _MEASURES, HELD_APART, _SUBSET.format(subset=subset))]
    out.checkpoints.mkdir(parents=True, exist_ok=True)
    best = _best_rate(params, recipe, rows, same, out) if params.rate_trials else None
    if best is not None:
        recipe = replace(recipe, learning_rate=best["learning_rate"])
        described |= {"learning_rate": best["learning_rate"], "rate_trials": params.rate_trials, "rate_accuracy": best["accuracy"]}
    scored, number = list(evaluation), rows.num_rows
    if params.patience is not None:
        rows, stopping = _held_for_stopping(params, rows, name)
        recipe = replace(recipe, patience=params.patience, validation=_STOPPING_SET)
        evaluation[_STOPPING_SET] = out.checkpoints / "stopping.parquet"
        write_parquet(stopping, evaluation[_STOPPING_SET])
        described["patience"] = params.patience
    if _MEASURES in inputs:
        measures = pq.read_table(inputs[_MEASURES], columns=["uid", "confidence", "region"])
        rows = _in_order(rows, measures, params.order == "easy-first", name)
    write_parquet(rows, out.checkpoints / "subset.parquet")
    key = _key(recipe, out.checkpoints / "subset.parquet", evaluation, same)
    # A training reads the file itself.
    del train_set, rows
    release_memory(number)

    def compute(target: Path) -> None:
        from cartograph.train.fit import fit_files

        with progress(f"retrain {subset} {seed}") as update:
            fitted = fit_files(
                recipe,
                out.checkpoints / "subset.parquet",
                evaluation,
                out.checkpoints,
                processes=out.workspace.settings.of(Train).process_count,
                progress=update,
            )
        (target / "predictions").mkdir()
        for each in scored:
            shutil.copyfile(fitted.predictions / f"{each}.parquet", target / "predictions" / f"{each}.parquet")
        shutil.copyfile(fitted.folder / "history.parquet", target / "history.parquet")
        write_json(target / "training.json", fitted.training)
        kept = {each: value for each, value in fitted.metrics.items() if not each.startswith(_STOPPING_SET)}
        write_json(target / "metrics.json", kept)

    # Where cleaning changes nothing, all versions are the same rows.
    result = computed_once(out.workspace, "retrain", key, compute, again=out.forced)
    metrics = read_json(result / "metrics.json")
    shutil.copytree(result / "predictions", folder / "predictions")
    shutil.copyfile(result / "history.parquet", folder / "history.parquet")
    write_json(folder / "training.json", read_json(result / "training.json") | described)
    write_json(folder / "metrics.json", metrics | {"rows": number})
    return _summary(number, scored, metrics)


def _held_for_stopping(params: Retrain, rows: pa.Table, name: str) -> tuple[pa.Table, pa.Table]:
    """Return the rows to train on, and a tenth of each class as the set that epochs are judged by.

    Versions are compared on all evaluation sets, so none of these may choose an epoch.
    """
    held = part_of_each_class(rows, _STOPPING, params.held_out_seed, 2)
    rest = rows.filter(~held).combine_chunks()
    if len(rest["label"].unique()) < 2:
        raise InputError(
            f"{name} has {rows.num_rows:,} rows, too few to hold out a tenth of them for retrain.patience ({params.patience}): those left "
            "have one class; set retrain.patience to null, or keep more rows."
        )
    return rest, as_held_out(rows, held)


def _best_rate(params: Retrain, recipe: Recipe, rows: pa.Table, others: list[Path], out: Out) -> Trial | None:
    """Return the trial whose rate does best on a fifth of the subset: no set that versions are compared on is read.

    All seeds of a subset have the same search. None where four fifths of the subset have one class.
    """
    from cartograph.compare.versions import HELD_OUT
    from cartograph.data.parquet import write_parquet

    held = part_of_each_class(rows, _COMPARED, params.held_out_seed, 1)
    rest = rows.filter(~held).combine_chunks()
    if len(rest["label"].unique()) < 2:
        return None
    recipe = replace(recipe, seed=params.held_out_seed)
    low, high = params.rate_range or (recipe.learning_rate / 10, recipe.learning_rate * 10)
    write_parquet(rows, out.checkpoints / "searched.parquet")
    searched = _key(recipe, out.checkpoints / "searched.parquet", {}, others)
    key = digest_json({"trials": params.rate_trials, "range": [low, high], "of": searched})

    def compute(target: Path) -> None:
        with progress(f"learning rate {out.cell['subset']}", "trainings") as update:
            found = search_rates(
                params.rate_trials,
                (low, high),
                params.held_out_seed,
                recipe,
                rest,
                {HELD_OUT: as_held_out(rows, held)},
                out.checkpoints / "rates",
                update,
            )
        write_json(target / "best.json", dict(best_of(found)))

    found: Trial = read_json(computed_once(out.workspace, "rates", key, compute, again=out.forced) / "best.json")
    return found


def _key(recipe: Recipe, rows: Path, evaluation: dict[str, Path], others: list[Path]) -> str:
    """Return what a training follows from: the recipe, the rows, the sets that it is scored on, other files, code and libraries."""
    return digest_json(
        {
            "recipe": asdict(recipe),
            "rows": digest_path(rows),
            "evaluation": {name: digest_path(path) for name, path in evaluation.items()},
            "others": [digest_path(path) for path in others],
            "code": code_digests(STEP),
            "versions": versions(STEP.libraries),
        }
    )


def _in_order(rows: pa.Table, measures: pa.Table, easy_first: bool, name: str) -> pa.Table:
    """Return the rows with a rank each, the lowest of the row of highest confidence on the map, or with which of them come twice."""
    import pyarrow.compute as pc

    from cartograph.data.subsets import rows_of
    from cartograph.maps.regions import AMBIGUOUS
    from cartograph.schema import RANK, TWICE

    places = rows_of(measures, rows["uid"], f"{name}, trained in the order of {_MEASURES},")
    if easy_first:
        return rows.append_column(RANK, [-places["confidence"].to_numpy()])
    return rows.append_column(TWICE, pc.equal(places["region"], AMBIGUOUS))


def _only_class(rows: pa.Table, recipe: Recipe, evaluation: dict[str, Path], described: dict[str, Any], folder: Path) -> str:
    """Leave what can be learnt from one class, which is to name it, as a failed training: a selection's failure is its own."""
    import pyarrow.parquet as pq

    from cartograph.train.one_class import write_constant

    metrics = write_constant(
        rows["label"][0].as_py(), rows.num_rows, {name: pq.read_table(path) for name, path in evaluation.items()}, folder
    )
    training = {"model": recipe.model, "record": None, "epochs": 0, "source": "one class", "parameters": None, "device": None}
    write_json(folder / "training.json", training | described)
    return _summary(rows.num_rows, list(evaluation), metrics)


def _recipe(params: Retrain, workspace: Workspace, seed: int, map_training: Path | None) -> Recipe:
    """Return the recipe of the section ``train`` with this seed; of dynamics nothing is kept, so they are read where it is free."""
    trained = workspace.settings.of(Train)
    if trained.model == "transformer" and trained.pretrained is None:
        raise InputError(
            "step `retrain` trains as the section `train` says, whose model `transformer` needs `train.pretrained`: a model's folder, "
            "or a hub id. Set it, or choose another model, or leave retraining out with `retrain.subsets: []`."
        )
    own: dict[str, Any] = {
        name: value for name in ("epochs", "batch_size", "learning_rate") if (value := getattr(params, name)) is not None
    }
    if params.epochs is not None:
        own["schedule_epochs"] = trained.schedule_epochs
    # An epoch in which rows come twice is no pass over all rows.
    own["record"] = "epoch_end" if params.order == "ambiguous-twice" else "train_pass"
    return replace(recipes.recipe_of(trained, workspace, map_training), seed=seed, evaluate="end", live=False, **own)


def _summary(rows: int, evaluation: list[str], metrics: dict[str, float]) -> str:
    if metrics["train.failed"]:
        finite = "train.loss" in metrics or not metrics["epochs"]
        reason = "no better than chance" if finite else "the loss is not a number; lower the learning rate"
        return f"{rows:,} rows, FAILED: {reason}"
    accuracies = ", ".join(f"{name} {metrics[f'{name}.accuracy']:.3f}".replace(" 0.", " .") for name in sorted(evaluation))
    return f"{rows:,} rows, accuracy {accuracies}"


def _inputs(settings: Settings) -> tuple[str, ...]:
    # The names are filled in with the cell's values: a brace of the user's own must come out as it is.
    return (
        _SUBSET,
        *((HELD_APART,) if holds_out(settings) else ()),
        *ingested_sets(settings),
        *((_MEASURES,) if settings.of(Retrain).order != "shuffled" else ()),
        *recipes.epochs_file(settings.of(Train)),
        *(name.replace("{", "{{").replace("}", "}}") for name in recipes.pretrained_files(settings.of(Train))),
    )


STEP = Step(
    name="retrain",
    run=run,
    params=Retrain,
    inputs=_inputs,
    libraries=(*train.STEP.libraries, "optuna"),
    when=lambda settings: bool(retrained_models(settings)),
    reads=("train",),
    matrix=Matrix({"subset": "subsets", "seed": "seeds"}, more={"subset": chosen_selections}, keys=("selections",), leaves_failure=True),
    hints=Hints(resources="gpu"),
)

"""Train a model and record its dynamics: in this process, or in several that share the work.

Everything is written below one folder, which a killed training finds again: ``dynamics/epoch=N.parquet``, ``checkpoints/``, and at
the end what ``cartograph.train.result.TrainingResult`` lists. A training that resumes continues after its last complete epoch and, on a
CPU, ends in the same bytes as one that was never interrupted. When it has finished it deletes its checkpoints; the mark that stays in their
place keeps the same call from training again. Boosted trees have no checkpoints and begin again (``cartograph.train.stages``).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from cartograph.data.json_files import read_json
from cartograph.data.memory import release_memory
from cartograph.data.progress import Progress
from cartograph.dynamics.decisions import recorded_uids
from cartograph.dynamics.epoch_files import epoch_file
from cartograph.dynamics.recorder import DynamicsRecorder
from cartograph.errors import InputError
from cartograph.models.base import Classifier
from cartograph.models.encoded import Examples
from cartograph.models.isolation import available_threads, isolated, seed_everything
from cartograph.models.registry import model_class
from cartograph.schema import LABEL_SET, RANK, TWICE, DatasetInfo, Domain, dataset_info
from cartograph.train.batch_order import BatchOrder, oversampled_batches, ranked_batches
from cartograph.train.checkpoints import Checkpoints
from cartograph.train.inputs import checked_info, training_identity
from cartograph.train.patience import best_epoch
from cartograph.train.processes import launch, process_count, read_set, run_worker
from cartograph.train.recipe import Recipe
from cartograph.train.result import Predictions, TrainingResult
from cartograph.train.settling import Settling
from cartograph.train.stages import fit_stages
from cartograph.train.trainer import DynamicsTrainer, Score, Watch

__all__ = ["Recipe", "TrainingResult", "fit", "fit_files"]


def fit_files(
    recipe: Recipe,
    train: Path,
    evaluation: Mapping[str, Path],
    folder: Path,
    *,
    processes: int | None = None,
    progress: Progress | None = None,
    held_out: Path | None = None,
    settling: Settling | None = None,
) -> TrainingResult:
    """Train a model on Parquet files (``schema.examples_schema``), in this process or in several.

    Args:
        recipe: how.
        train: the train set.
        evaluation: evaluation sets by name.
        folder: as in ``fit``.
        processes: how many share the work; None = one per GPU, at least one.
        progress: called with (rows trained on, rows to train on).
        held_out: as in ``fit``.
        settling: as in ``fit``; several processes train all epochs.

    Raises:
        InputError: as ``fit``; or more processes are asked for than there are GPUs, where they are used.
        CartographError: a process of several ended otherwise; the message has its last words.
    """
    number = 1 if model_class(recipe.model).by_stages else process_count(recipe, processes)
    if number > 1:
        launch(recipe, train, evaluation, folder, number, progress, held_out)
        return TrainingResult(folder)
    tables = {name: read_set(path) for name, path in evaluation.items()}
    held = None if held_out is None else read_set(held_out)
    return fit(recipe, read_set(train), tables, folder, progress=progress, held_out=held, settling=settling)


def fit(
    recipe: Recipe,
    train: pa.Table,
    evaluation: Mapping[str, pa.Table],
    folder: str | Path,
    *,
    progress: Progress | None = None,
    held_out: pa.Table | None = None,
    settling: Settling | None = None,
) -> TrainingResult:
    """Train a model in this process.

    Global random state, thread count and determinism settings are put back afterwards.

    Args:
        recipe: how.
        train: the train set (``schema.examples_schema``); with a column ``schema.RANK`` its rows come in that order in every epoch, as
            ``batch_order.ranked_batches`` says, with ``schema.TWICE`` some come twice (``batch_order.oversampled_batches``), which asks for
            a recipe that records at the end of an epoch; else shuffled.
        evaluation: evaluation sets by name.
        folder: where everything is written; a training resumes from a checkpoint of the same recipe and data in it, and one that
            has finished there is not repeated.
        progress: called with (rows trained on, rows to train on).
        held_out: rows that are not trained on: the dynamics are theirs in place of the train set's, read after every epoch with
            dropout off; nothing but dynamics is then written.
        settling: says after each epoch whether the training may end before its last one; None: it does not.

    Raises:
        InputError: the recipe names no model that reads such rows, its ``pretrained`` cannot be used, the sets do not go together, the
            train set is empty or has one class only, ``cuda`` is asked for without a GPU, or rows of several labels
            (``schema.LABEL_SET``) come with other sets or multiple choice; or as ``patience.require_validation``.
    """
    info = checked_info(recipe, train, evaluation)
    if LABEL_SET in train.column_names and (evaluation or held_out is not None or info.options):
        raise InputError("a train set whose rows have several labels is trained on alone; leave out evaluation and held-out sets.")
    with isolated(recipe.seed, cpu_threads(recipe)):
        if model_class(recipe.model).by_stages:
            result, threads = TrainingResult(Path(folder)), cpu_threads(recipe)
            return fit_stages(recipe, train, evaluation, result, threads=threads, progress=progress, held_out=held_out, settling=settling)
        result = TrainingResult(Path(folder))
        result.dynamics.mkdir(parents=True, exist_ok=True)
        identity = training_identity(recipe, train, evaluation, held_out, settles=settling is not None)
        checkpoints = Checkpoints(result.folder / "checkpoints", result.dynamics, identity)
        if checkpoints.finished():
            return result
        start = _start(recipe, info, train, evaluation, result, checkpoints, held_out)
        rows = train.num_rows
        # Encoded: where nobody else holds the texts, they need not lie beside the training.
        del train, evaluation, held_out
        release_memory(rows)
        return _fit(recipe, start, progress, settling)


def cpu_threads(recipe: Recipe, processes: int = 1) -> int:
    """Return how many CPU threads each process of a training uses."""
    return recipe.threads or model_class(recipe.model).most_threads or available_threads(processes)


class _Start(NamedTuple):
    """What a training begins with.

    Attributes:
        result: where everything is written.
        checkpoints: of this recipe and these data.
        epoch, checkpoint: the last complete epoch, -1 for none, and its state.
        model: untrained, or as the checkpoint left it.
        examples, evaluated, held_out: the sets, encoded.
        domains: of the evaluation sets.
        order: the batches of each epoch; None: shuffled.
    """

    result: TrainingResult
    checkpoints: Checkpoints
    epoch: int
    checkpoint: Path | None
    model: Classifier
    examples: Examples
    evaluated: dict[str, Examples]
    held_out: Examples | None
    domains: dict[str, Domain]
    order: BatchOrder | None


def _start(
    recipe: Recipe,
    info: DatasetInfo,
    train: pa.Table,
    evaluation: Mapping[str, pa.Table],
    result: TrainingResult,
    checkpoints: Checkpoints,
    held_out: pa.Table | None,
) -> _Start:
    epoch, checkpoint = _newest(recipe, checkpoints)
    model = _model(recipe, info, train, checkpoint)
    release_memory(train.num_rows)
    return _Start(
        result,
        checkpoints,
        epoch,
        checkpoint,
        model,
        model.encode(train, info),
        {name: model.encode(table, dataset_info(table.schema)) for name, table in sorted(evaluation.items())},
        None if held_out is None else model.encode(held_out, dataset_info(held_out.schema)),
        {name: dataset_info(table.schema).domain for name, table in evaluation.items()},
        _order(recipe, train),
    )


def _newest(recipe: Recipe, checkpoints: Checkpoints) -> tuple[int, Path | None]:
    """Return the last complete epoch and its state: -1 and None without one, or where the best epoch's model is lost."""
    epoch, checkpoint = checkpoints.newest() or (-1, None)
    if checkpoint is None or recipe.patience is None:
        return epoch, checkpoint
    best = best_epoch(read_json(checkpoint / "history.json"), recipe.validation)
    return (epoch, checkpoint) if checkpoints.has(best) else (-1, None)


def _fit(recipe: Recipe, start: _Start, progress: Progress | None, settling: Settling | None) -> TrainingResult:
    result, checkpoint = start.result, start.checkpoint
    history: list[Score] = [] if checkpoint is None else read_json(checkpoint / "history.json")
    recorded = start.examples if start.held_out is None else start.held_out
    if settling is not None:
        settling.read(pq.ParquetFile(epoch_file(result.dynamics, number)).read() for number in range(start.epoch + 1))
    watch = Watch(
        recorder=lambda: DynamicsRecorder(
            result.dynamics, start_epoch=start.epoch + 1, uids=recorded_uids(recorded.uids, recorded.labels).ravel()
        ),
        checkpoints=start.checkpoints,
        history=history,
        progress=progress,
        settling=settling,
    )
    trainer = DynamicsTrainer(
        recipe,
        start.model,
        start.examples,
        start.evaluated,
        start.checkpoints.folder,
        start_epoch=start.epoch + 1,
        watch=watch,
        held_out=start.held_out,
        order=start.order,
    )
    torch.set_num_threads(cpu_threads(recipe, trainer.args.world_size))
    if not trainer.settled:
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    if start.held_out is None:
        _finish(recipe, trainer, start, history)
    trainer.accelerator.wait_for_everyone()
    if trainer.args.process_index == 0:
        start.checkpoints.finish([result.dynamics] if start.held_out is not None else result.written)
    return result


def _order(recipe: Recipe, train: pa.Table) -> BatchOrder | None:
    """Return the batches of a train set whose rows have ranks, or some of which come twice; None where they are shuffled throughout."""
    if RANK in train.column_names:
        return partial(ranked_batches, train.column(RANK).to_numpy(), recipe.batch_size, recipe.seed)
    if TWICE in train.column_names:
        return partial(oversampled_batches, train.column(TWICE).to_numpy(), recipe.batch_size, recipe.seed)
    return None


def _finish(recipe: Recipe, trainer: DynamicsTrainer, start: _Start, history: list[Score]) -> None:
    result, training = start.result, _training(recipe, trainer)
    if recipe.patience is not None:
        best = best_epoch(history, recipe.validation)
        training["best_epoch"] = best + 1
        trainer.accelerator.wait_for_everyone()
        kept = model_class(recipe.model).resume(start.checkpoints.of(best), recipe.pretrained)
        trainer.model.load_state_dict(kept.state_dict())
    sets = trainer.evaluation.items()
    predictions = {name: Predictions(start.domains[name], part.uids, part.labels, trainer.predict_logits(part)) for name, part in sets}
    if trainer.args.process_index == 0:
        result.save_model(trainer.model)
        result.write(history, predictions, training)


def _model(recipe: Recipe, info: DatasetInfo, train: pa.Table, checkpoint: Path | None) -> Classifier:
    kind = model_class(recipe.model)
    if checkpoint is not None:
        return kind.resume(checkpoint, recipe.pretrained)
    seed_everything(recipe.seed)
    return kind.create(info, train, max_length=recipe.max_length, pretrained=recipe.pretrained)


def _training(recipe: Recipe, trainer: DynamicsTrainer) -> dict[str, str | int]:
    parameters = sum(parameter.numel() for parameter in trainer.model.parameters())
    return {
        "model": recipe.model,
        "record": recipe.record,
        "epochs": trainer.epoch,
        "source": "trained",
        "parameters": parameters,
        "device": trainer.args.device.type,
    }


if __name__ == "__main__":
    sys.exit(run_worker(Path(sys.argv[1]), fit))

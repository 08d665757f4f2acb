"""Training of boosted trees: an epoch is a few more stages, and its dynamics are what the trees so far say of every row.

All trees are grown before the first epoch is recorded. That is quick, so a training that was interrupted begins again; it ends in the same
bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import torch
from threadpoolctl import threadpool_limits

from cartograph.data.arrays import Floats32
from cartograph.data.progress import Progress
from cartograph.dynamics.epoch_files import by_blocks
from cartograph.dynamics.recorder import DynamicsRecorder
from cartograph.errors import InputError
from cartograph.features.tree_arrays import HistogramTrees
from cartograph.models.boosting import STAGES, Boosting
from cartograph.models.encoded import Dense, Examples
from cartograph.schema import LABEL_SET, dataset_info
from cartograph.statistics.metrics import accuracy, cross_entropy, losses
from cartograph.train.patience import best_epoch, out_of_patience
from cartograph.train.recipe import Recipe
from cartograph.train.result import Predictions, TrainingResult
from cartograph.train.settling import Settling
from cartograph.train.trainer import HELD_OUT, Score

RECORD = "stages"
"""When the logits are read: after the trees that an epoch adds."""


def fit_stages(
    recipe: Recipe,
    train: pa.Table,
    evaluation: Mapping[str, pa.Table],
    result: TrainingResult,
    *,
    threads: int,
    progress: Progress | None = None,
    held_out: pa.Table | None = None,
    settling: Settling | None = None,
) -> TrainingResult:
    """Train boosted trees; arguments as those of ``train.fit.fit``, which calls it.

    Of the recipe the epochs, the rate (of each stage), the seed and when sets are scored count; rows have weights where the train set says
    so, and no order.

    Args:
        recipe: how.
        train: the train set.
        evaluation: evaluation sets by name.
        result: where everything is written.
        threads: CPU threads.
        progress: see there.
        held_out: see there.
        settling: see there.

    Raises:
        InputError: rows have several labels.
    """
    if LABEL_SET in train.column_names:
        raise InputError("model `boosting` reads one label per row, but the rows have several; use `mlp`.")
    info = dataset_info(train.schema)
    model = Boosting.create(info, train)
    own = model.encode(train, info)
    evaluated = {name: _Scored(model, model.encode(table, dataset_info(table.schema))) for name, table in sorted(evaluation.items())}
    name, recorded = "train", _Scored(model, own)
    if held_out is not None:
        name, recorded = HELD_OUT, _Scored(model, model.encode(held_out, dataset_info(held_out.schema)))
    recorder = DynamicsRecorder(result.dynamics, uids=recorded.examples.uids)
    history: list[Score] = []
    fitted = model.untrained(recipe.epochs, recipe.learning_rate, recipe.seed, len(own))
    with threadpool_limits(threads, "openmp"):
        fitted.fit(_columns(own), own.labels, sample_weight=own.weights)
    model.take(fitted, 0)
    for epoch in range(recipe.epochs):
        grown = HistogramTrees.of_boosting(fitted, range(STAGES * epoch, STAGES * (epoch + 1)))
        recorder.record(recorded.examples.uids, torch.from_numpy(recorded.grow(grown)), torch.from_numpy(recorded.examples.labels))
        table = recorder.end_epoch()
        history.append(_score_of(epoch, name, table))
        for part in evaluated.values():
            part.grow(grown)
        ended = epoch == recipe.epochs - 1 or (settling is not None and settling.add(table))
        first = [recipe.validation] if recipe.patience is not None else []
        history += [evaluated[each].score(epoch, each) for each in first]
        ended = ended or out_of_patience(history, recipe)
        if recipe.evaluate == "epoch" or ended:
            history += [part.score(epoch, each) for each, part in evaluated.items() if each not in first]
        best = best_epoch(history, recipe.validation) if first else epoch
        if best == epoch:
            logits = {each: part.logits for each, part in evaluated.items()}
        if progress is not None:
            progress(len(own) * (recipe.epochs if ended else epoch + 1), len(own) * recipe.epochs)
        if ended:
            model.take(fitted, best + 1)
            break
    if held_out is None:
        domains = {each: dataset_info(table.schema).domain for each, table in evaluation.items()}
        predictions = {
            each: Predictions(domains[each], part.examples.uids, part.examples.labels, logits[each]) for each, part in evaluated.items()
        }
        result.save_model(model)
        training = _training(model, epoch + 1) | ({"best_epoch": best + 1} if recipe.patience is not None else {})
        result.write(history, predictions, training)
    return result


def _training(model: Boosting, epochs: int) -> dict[str, str | int]:
    leaves = 0 if model.trees is None else int(np.count_nonzero(model.trees.left == np.arange(len(model.trees.left))))
    return {"model": model.name, "record": RECORD, "epochs": epochs, "source": "trained", "parameters": leaves, "device": "cpu"}


def _score_of(epoch: int, name: str, table: pa.Table) -> Score:
    """Return the score of the rows whose dynamics an epoch recorded."""
    loss, right = by_blocks(table, losses), by_blocks(table, lambda logits, gold: logits.argmax(axis=1) == gold)
    return {"epoch": epoch, "set": name, "loss": float(np.mean(loss)), "accuracy": float(np.mean(right))}


def _columns(examples: Examples) -> Floats32:
    field = examples.fields["columns"]
    assert isinstance(field, Dense)
    columns: Floats32 = field.values.astype(np.float32, copy=False)
    return columns


class _Scored:
    """A set of examples and what the trees so far say of it."""

    def __init__(self, model: Boosting, examples: Examples) -> None:
        self.examples = examples
        self._model = model
        self._sums = np.zeros((len(examples), len(model.start)))
        self.logits = np.zeros((len(examples), len(model.labels)), np.float32)

    def score(self, epoch: int, name: str) -> Score:
        """Return how good the trees so far are on it."""
        labels = self.examples.labels
        return {"epoch": epoch, "set": name, "loss": cross_entropy(self.logits, labels), "accuracy": accuracy(self.logits, labels)}

    def grow(self, trees: HistogramTrees) -> Floats32:
        """Add what more trees say; return the logits, ``(n_examples, n_classes)``."""
        self._sums += self._model.sums(trees.values(_columns(self.examples)))
        self.logits = self._model.logits(self._model.begun(len(self._sums)) + self._sums)
        return self.logits

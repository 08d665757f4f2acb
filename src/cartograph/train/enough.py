"""Whether a model has learnt its train set, and training that goes on until it has.

The yardstick are simple models that never saw the row: a linear model and naive Bayes on words or pixels, out of fold. A model that is
less often right on the very rows that it trains on has not been trained enough; neither has one that gives a third of them less
probability than those models are right. Then the same training is done again from the start with twice as many epochs, so that the
map is always that of one whole training with one schedule. On planted errors of TREC (240 to 4,634 rows) that is about the number of
epochs at which low confidence finds them best: fewer have learnt nothing, and more learn the errors too.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse
from scipy.special import softmax

from cartograph.data.arrays import Bools, Ids, Integers
from cartograph.data.folds import assign_folds
from cartograph.data.json_files import read_json, write_json
from cartograph.data.kept_logits import KEPT, WHOLE
from cartograph.data.linked_rows import user_groups
from cartograph.data.progress import Progress
from cartograph.dynamics.epoch_files import by_blocks, epoch_file
from cartograph.features.linear_models import leave_one_out_bayes, out_of_fold_bayes, out_of_fold_logistic
from cartograph.features.options import option_features, out_of_fold_options
from cartograph.features.simple import simple_features
from cartograph.features.text import TextRows
from cartograph.schema import LABEL, dataset_info
from cartograph.statistics.metrics import accuracy
from cartograph.train.fit import fit_files
from cartograph.train.recipe import Recipe
from cartograph.train.result import TrainingResult
from cartograph.train.settling import Settling, gold_shares, of_surest_third

MOST_DOUBLINGS = 4
"""A training is repeated with at most 2⁴ = 16 times the epochs that it began with."""
MOST_STEPS = 6_000
"""A training is not repeated with more optimiser steps than these."""
MOST_NUMBERS = 30_000_000
"""Nor where its dynamics would have more numbers than these (rows x epochs x classes, of many what is kept: ``kept_logits``), of which the
map needs several copies in memory."""

SETTLES_FROM = 20_000
"""From so many rows on a training ends where its map has settled; of fewer rows the epochs left cost seconds."""

_ROWS, _ROWS_OF_MANY = 5_000, 2_000
_MANY = 200
_ACCURATE, _SURE = 0.9, 0.75
_FOLDS, _PENALTY, _SMOOTHING = 5, 0.3, 0.3


@dataclass(frozen=True)
class Attempt:
    """How far a training came.

    Attributes:
        epochs: passes over the train set.
        accuracy: on the rows it trains on, in its last epoch, in [0, 1].
        surest: the probability that it then gave to the given label of a third of the rows at the least, in [0, 1].
        failed: as ``TrainingResult.metrics`` says.
        finite: whether its loss is a number.
    """

    epochs: int
    accuracy: float
    surest: float
    failed: bool
    finite: bool

    def learnt(self, simple: float | None) -> bool:
        """Return whether it has learnt its train set.

        It is right on as many of its rows as simple models on rows that they did not see, or on 90 %; and it gives a third of
        them such a probability, or 0.75.
        """
        if self.failed or not self.finite:
            return False
        return simple is None or (self.accuracy >= min(simple, _ACCURATE) and self.surest >= min(simple, _SURE))


def simple_accuracy(train: pa.Table, seed: int) -> float | None:
    """Return how often simple models are right about rows that they did not see, in [0, 1]: the better of a linear model and naive Bayes.

    Above 5,000 rows a random 5,000 (2,000 where there are more than 200 classes, and without the linear model, for its time); so it
    is then a little lower than it would be. Rows that the user linked are held out together. Of multiple choice it is a linear model of
    its options. None where it is not known: blank texts, fewer than two rows or classes.

    Args:
        train: ``schema.examples_schema``.
        seed: of the sample and the folds.
    """
    info = dataset_info(train.schema)
    rng = np.random.default_rng([seed, 11])
    many = len(info.labels) > _MANY
    most = _ROWS_OF_MANY if many else _ROWS
    if train.num_rows > most:
        train = train.take(pa.array(np.sort(rng.choice(train.num_rows, most, replace=False))))
    present, labels = np.unique(train[LABEL].to_numpy(), return_inverse=True)
    if len(present) < 2 or (not info.images and not any("".join(row).strip() for row in TextRows(train))):
        return None
    groups = user_groups(train)
    if info.task == "choice":
        right, part = present[labels], assign_folds(labels, min(_FOLDS, len(labels)), rng, groups)
        [of_options] = out_of_fold_options(option_features(train), right, len(info.options), part, (_PENALTY,))
        return accuracy(of_options, right)
    features = simple_features(train)
    fold = None if many and groups is None else assign_folds(labels, min(_FOLDS, len(labels)), rng, groups)
    if fold is None or groups is None:
        scores = leave_one_out_bayes(features, labels, len(present), (_SMOOTHING,))
    else:
        scores = out_of_fold_bayes(features, labels, len(present), fold, (_SMOOTHING,))
    if fold is not None and not many:
        scores += out_of_fold_logistic(features, labels, len(present), fold, (_PENALTY,))
    return max(accuracy(found, labels) for found in scores)


def fit_until_learnt(
    recipe: Recipe,
    simple: float | None,
    train: Path,
    evaluation: Mapping[str, Path],
    folder: Path,
    *,
    processes: int | None = None,
    progress: Progress | None = None,
    judged: Callable[[TrainingResult], Attempt] | None = None,
) -> tuple[TrainingResult, list[Attempt]]:
    """Train, and where the model has not learnt its train set, again with twice as many epochs, up to the bounds above.

    The first attempt on many rows ends before its last epoch where the model has learnt and its map has settled (``settling``).

    An interrupted call goes on where it stopped. A loss that is no number ends it: more epochs do not help that.

    Args:
        recipe: how; ``epochs`` are those of the first attempt.
        simple: as ``simple_accuracy`` says; None: only a failed training is repeated.
        train: as in ``fit_files``, like ``evaluation`` and ``processes``.
        evaluation: see there.
        folder: of this recipe and these data alone; takes the attempts.
        processes: see there.
        progress: called with (rows trained on, rows to train on), over the attempts so far.
        judged: how far a training came; ``attempt_of`` where left out.

    Returns:
        The last training, and every attempt in order.

    Raises:
        InputError: as ``fit_files``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / "attempts.json"
    attempts = [Attempt(**content) for content in read_json(record)] if record.exists() else []
    with pq.ParquetFile(train) as file:
        rows, classes = file.metadata.num_rows, len(dataset_info(file.schema_arrow).labels)
    settling = None
    if rows >= SETTLES_FROM and judged is None:
        settling = Settling(lambda right, surest: Attempt(0, right, surest, False, True).learnt(simple))
    while True:
        epochs = recipe.epochs * 2 ** len(attempts)
        result = fit_files(
            replace(recipe, epochs=epochs),
            train,
            evaluation,
            folder / f"epochs={epochs}",
            processes=processes,
            progress=_after(rows * sum(attempt.epochs for attempt in attempts), progress),
            settling=settling if not attempts else None,
        )
        attempts.append((judged or attempt_of)(result))
        if attempts[-1].learnt(simple) or not attempts[-1].finite or not may_double(recipe, len(attempts), rows, classes):
            return result, attempts
        write_json(record, [asdict(attempt) for attempt in attempts])
        shutil.rmtree(result.folder)


def may_double(recipe: Recipe, attempts: int, rows: int, classes: int) -> bool:
    """Return whether another attempt is within the bounds."""
    epochs = recipe.epochs * 2**attempts
    steps = epochs * math.ceil(rows / recipe.batch_size)
    numbers = classes if classes <= WHOLE else KEPT + 2
    return attempts <= MOST_DOUBLINGS and steps <= MOST_STEPS and epochs * rows * numbers <= MOST_NUMBERS


def attempt_of(result: TrainingResult) -> Attempt:
    """Return how far a finished training came."""
    metrics = result.metrics
    epochs = int(metrics["epochs"])
    last = pq.ParquetFile(epoch_file(result.dynamics, epochs - 1)).read()
    finite = "train.loss" in metrics
    surest = of_surest_third(gold_shares(last)) if finite else 0.0
    return Attempt(epochs, float(metrics["train.accuracy"]), surest, bool(metrics["train.failed"]), finite)


def yes_attempt(result: TrainingResult) -> Attempt:
    """Return how far a finished training of rows with several labels came, where nearly every label of a row is a no.

    Its ``accuracy`` is F1 of the labels that rows have, over all of them, and ``surest`` is that of a third of these.
    """
    metrics = result.metrics
    epochs = int(metrics["epochs"])
    last = pq.ParquetFile(epoch_file(result.dynamics, epochs - 1)).read()
    yes = by_blocks(last, lambda logits, _: softmax(logits.astype(np.float64), axis=1)[:, 1])
    given = last.column("gold").to_numpy() == 1
    finite = "train.loss" in metrics
    surest = of_surest_third(yes[given]) if finite else 0.0
    return Attempt(epochs, yes_f1(yes >= 0.5, given), surest, bool(metrics["train.failed"]), finite)


def yes_simple(features: sparse.csr_array, given: Ids, seed: int, groups: Integers | None = None) -> float:
    """Return F1 of the labels that simple models find in rows with several labels that they did not see, in [0, 1].

    The better of linear models and naive Bayes, each label by itself; of a random 5,000 rows where there are more.

    Args:
        features: ≥ 0, ``(n_examples, n_features)``.
        given: 0 and 1, ``(n_examples, n_labels)``.
        seed: of the sample and the folds.
        groups: of each row, ``(n_examples,)``: rows of one are held out together (``linked_rows``); None: each row is on its own.
    """
    rng = np.random.default_rng([seed, 11])
    if len(given) > _ROWS:
        sample = np.sort(rng.choice(len(given), _ROWS, replace=False))
        features, given = sparse.csr_array(features[sample]), given[sample]
        groups = None if groups is None else np.unique(groups[sample], return_inverse=True)[1]
    found = []
    for label in given.T:
        fold = assign_folds(label, min(_FOLDS, len(label)), rng, groups)
        if groups is None:
            scores = leave_one_out_bayes(features, label, 2, (_SMOOTHING,))
        else:
            scores = out_of_fold_bayes(features, label, 2, fold, (_SMOOTHING,))
        scores += out_of_fold_logistic(features, label, 2, fold, (_PENALTY,))
        found.append([score[:, 1] > score[:, 0] for score in scores])
    return max(yes_f1(np.stack(predicted, axis=1), given == 1) for predicted in zip(*found, strict=True))


def yes_f1(predicted: Bools, given: Bools) -> float:
    """Return F1 of all yes together, in [0, 1]: of arrays of one shape, whether a label is predicted and whether it is given."""
    right, either = int(np.count_nonzero(predicted & given)), int(np.count_nonzero(predicted)) + int(np.count_nonzero(given))
    return 2.0 * right / max(either, 1)


def _after(before: int, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda done, total: progress(before + done, before + total)

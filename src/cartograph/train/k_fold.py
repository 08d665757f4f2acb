"""K-fold training: dynamics of every row by models that were not trained on it.

A model that memorises also learns label errors, and its own dynamics then show them as learnt. It cannot have memorised the label of a
row that it was not trained on.
"""

from __future__ import annotations

import fcntl
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.data.folds import assign_folds
from cartograph.data.linked_rows import row_groups
from cartograph.data.parquet import write_parquet
from cartograph.data.progress import Progress
from cartograph.data.spread import Spread, in_turn
from cartograph.dynamics.epoch_files import epoch_file
from cartograph.schema import LABEL, UID
from cartograph.train.fit import fit_files
from cartograph.train.recipe import Recipe


def fit_folds(
    recipe: Recipe,
    train: Path,
    folder: Path,
    *,
    folds: int,
    processes: int | None = None,
    progress: Progress | None = None,
    spread: Spread = in_turn,
) -> Path:
    """Train on all folds but one, for each; score the rows of that one after every epoch, dropout off.

    Folds hold the classes evenly, hold linked rows together (``linked_rows``), and follow from the recipe's seed. Each fold's training
    resumes on its own where it was interrupted.

    Args:
        recipe: how; its settings of recording and evaluation are not used.
        train: the train set, a file of ``schema.examples_schema``.
        folder: takes ``fold-0``, ``fold-1``, … and what is returned.
        folds: 2 or more; of fewer groups of linked rows one for each.
        processes: as in ``fit_files``.
        progress: called with (rows trained on, rows to train on), over all folds.
        spread: where the folds are trained; the same bytes come out wherever that is.

    Returns:
        The folder of ``epoch=N.parquet`` (``schema.dynamics_schema``, sorted by uid): every row once an epoch.

    Raises:
        InputError: as ``fit_files``; fewer than two folds; or more than the smallest class has rows.
    """
    table = pq.ParquetFile(train).read()
    labels = table.column(LABEL).to_numpy()
    numbers = assign_folds(labels, folds, np.random.default_rng([recipe.seed, folds]), row_groups(table))
    folds = int(numbers.max()) + 1
    recipe = replace(recipe, record="epoch_end", evaluate="end", live=False, patience=None)
    parts = [folder / f"fold-{number}" for number in range(folds)]
    for number, part in enumerate(parts):
        part.mkdir(parents=True, exist_ok=True)
        write_parquet(table.filter(pa.array(numbers != number)), part / "train.parquet")
        write_parquet(table.filter(pa.array(numbers == number)), part / "held_out.parquet")
    trained = recipe.epochs * (table.num_rows - np.bincount(numbers))
    before, total = np.concatenate([[0], np.cumsum(trained)]).tolist(), int(trained.sum())
    found = []
    pieces = [partial(_fit_fold, recipe, part, processes) for part in parts]
    for number, dynamics in enumerate(spread(pieces, lambda number: _from(before[number], total, progress))):
        found.append(dynamics)
        if progress is not None:
            progress(before[number + 1], total)
    return _merged(found, folder / "out_of_fold", recipe.epochs)


def _fit_fold(recipe: Recipe, part: Path, processes: int | None, progress: Progress | None) -> Path:
    """Train on a fold's rows, score those held out, and return the folder of their dynamics."""
    # Where a cluster has lost who waited for this, another worker may still train it.
    with (part / "lock").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        held_out = part / "held_out.parquet"
        return fit_files(recipe, part / "train.parquet", {}, part, processes=processes, progress=progress, held_out=held_out).dynamics


def _from(before: int, total: int, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda done, _: progress(before + done, total)


def _merged(folders: list[Path], target: Path, epochs: int) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for epoch in range(epochs):
        table = pa.concat_tables([pq.ParquetFile(epoch_file(folder, epoch)).read() for folder in folders])
        write_parquet(table.sort_by(UID).combine_chunks(), epoch_file(target, epoch))
    return target

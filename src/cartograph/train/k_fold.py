"""K-fold training: dynamics of every row by models that were not trained on it.

A model that memorises also learns label errors, and its own dynamics then show them as learnt. It cannot have memorised the label of a
row that it was not trained on.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.data.folds import assign_folds
from cartograph.data.linked_rows import row_groups
from cartograph.data.parquet import write_parquet
from cartograph.data.progress import Progress
from cartograph.dynamics.epoch_files import epoch_file
from cartograph.schema import LABEL, UID
from cartograph.train.fit import fit_files
from cartograph.train.recipe import Recipe


def fit_folds(
    recipe: Recipe, train: Path, folder: Path, *, folds: int, processes: int | None = None, progress: Progress | None = None
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
    done, total = 0, (folds - 1) * recipe.epochs * table.num_rows
    parts = []
    for number in range(folds):
        part = folder / f"fold-{number}"
        part.mkdir(parents=True, exist_ok=True)
        write_parquet(table.filter(pa.array(numbers != number)), part / "train.parquet")
        write_parquet(table.filter(pa.array(numbers == number)), part / "held_out.parquet")
        shifted = _from(done, total, progress)
        parts.append(
            fit_files(recipe, part / "train.parquet", {}, part, processes=processes, progress=shifted, held_out=part / "held_out.parquet")
        )
        done += recipe.epochs * int(np.count_nonzero(numbers != number))
        if progress is not None:
            progress(done, total)
    return _merged([part.dynamics for part in parts], folder / "out_of_fold", recipe.epochs)


def _from(before: int, total: int, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda done, _: progress(before + done, total)


def _merged(folders: list[Path], target: Path, epochs: int) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for epoch in range(epochs):
        table = pa.concat_tables([pq.ParquetFile(epoch_file(folder, epoch)).read() for folder in folders])
        write_parquet(table.sort_by(UID).combine_chunks(), epoch_file(target, epoch))
    return target

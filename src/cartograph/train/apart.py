"""A training and, where wanted, K-fold training before it; of many rows in a process of its own.

Torch and Hugging Face's Trainer take 400 MB, and a training on 550,000 pairs as much again. In a process of its own all of it is given back
when the training has ended, and a step that goes on to work on all rows never holds the two together.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from cartograph.data.progress import Progress
from cartograph.data.spread import Spread, in_turn
from cartograph.train.child_process import ProgressLines, answer, run_child
from cartograph.train.recipe import Recipe

APART_FROM = 100_000
"""From so many rows on a training has a process of its own: of fewer the second it takes to start weighs more than the memory."""


class Recorded(NamedTuple):
    """Folders of ``epoch=N.parquet`` (``schema.dynamics_schema``): the training's, and K-fold training's, where there was one."""

    dynamics: Path
    out_of_fold: Path | None


def fit_apart(
    recipe: Recipe,
    train: Path,
    folder: Path,
    *,
    folds: int = 0,
    processes: int | None = None,
    progress: Progress | None = None,
    spread: Spread = in_turn,
) -> Recorded:
    """Train a model on a Parquet file (``schema.examples_schema``); an interrupted call goes on where it stopped.

    Args:
        recipe: how.
        train: the train set.
        folder: takes what ``fit.fit`` and ``k_fold.fit_folds`` write.
        folds: of K-fold training, which comes first; 0: none.
        processes: as in ``fit.fit_files``.
        progress: called with (rows trained on, rows to train on), over all trainings.
        spread: where the folds are trained, as in ``k_fold.fit_folds``.

    Raises:
        InputError: as ``fit.fit_files`` and ``k_fold.fit_folds``.
        CartographError: the process ended otherwise; the message has its last words.
    """
    job = _Job(recipe, train, folder, folds, processes)
    if pq.read_metadata(train).num_rows < APART_FROM:
        _fit(job, progress, spread)
    else:
        if folds and spread is not in_turn:
            _fit_folds(job, progress, spread)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "apart.json"
        content = {"recipe": recipe.to_json(), "train": str(train), "folder": str(folder), "folds": folds, "processes": processes}
        file.write_text(json.dumps(content | {"starter": os.getpid()}), encoding="utf-8")
        run_child([sys.executable, "-m", "cartograph.train.apart", str(file)], folder / "apart.log", "training", progress)
    return Recorded(folder / "dynamics", folder / "out_of_fold" if folds else None)


class _Job(NamedTuple):
    """What ``fit_apart`` was asked for."""

    recipe: Recipe
    train: Path
    folder: Path
    folds: int
    processes: int | None


def _fit(job: _Job, progress: Progress | None, spread: Spread = in_turn) -> None:
    from cartograph.train.fit import fit_files

    def after_folds(done: int, total: int) -> None:
        if progress is not None:
            progress(max(job.folds - 1, 0) * total + done, max(job.folds, 1) * total)

    if job.folds:
        _fit_folds(job, progress, spread)
    fit_files(job.recipe, job.train, {}, job.folder, processes=job.processes, progress=after_folds)


def _fit_folds(job: _Job, progress: Progress | None, spread: Spread) -> None:
    from cartograph.train.k_fold import fit_folds

    # Each fold leaves out its rows: together they are folds - 1 trainings on all rows, and one more comes after them.
    def in_folds(done: int, total: int) -> None:
        if progress is not None:
            progress(done, total // (job.folds - 1) * job.folds)

    fit_folds(job.recipe, job.train, job.folder, folds=job.folds, processes=job.processes, progress=in_folds, spread=spread)


def _work(content: dict[str, Any]) -> None:
    paths = Path(content["train"]), Path(content["folder"])
    _fit(_Job(Recipe(**content["recipe"]), *paths, content["folds"], content["processes"]), ProgressLines())


if __name__ == "__main__":
    sys.exit(answer(Path(sys.argv[1]), _work))

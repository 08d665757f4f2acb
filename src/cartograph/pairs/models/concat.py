"""A classifier of whole pairs on collected labels: ConcatBERT (section 3.1.3 of the paper), or any model of pairs that an audit trains."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.data.arrays import Floats32, Ids, Integers32
from cartograph.dynamics.epoch_files import logits_of
from cartograph.pairs.pair_space import Keys
from cartograph.pairs.task import Task
from cartograph.schema import DatasetInfo, Domain, examples_schema
from cartograph.train.recipe import Recipe

_LABELS = ("no", "yes")


def concat_scores(task: Task, keys: Keys, labels: Ids, scored: Keys, recipe: Recipe, folder: Path) -> Floats32:
    """Train a model that reads both texts of a pair together; return its scores of other pairs: logit of yes less that of no.

    Unlike a cosine model it must read every pair that it scores, so it can score a sample, but find no neighbours.

    Args:
        task: whose texts.
        keys: (n,) the labelled pairs.
        labels: (n,) 1 = positive; both classes must be there.
        scored: (m,) the pairs to score, each once.
        recipe: model and training: ``bow``, or ``transformer`` for ConcatBERT.
        folder: where the training keeps its files.

    Raises:
        InputError: as ``cartograph.train.fit.fit``.
    """
    from cartograph.train.fit import fit

    train = _examples(task, keys, np.asarray(labels, np.int32), "train", "train")
    test = _examples(task, scored, np.zeros(len(scored), np.int32), "test", "id")
    trained = fit(recipe, train, {"test": test}, folder)
    table = pq.read_table(trained.predictions / "test.parquet")
    logits = logits_of(table)
    places = np.array([int(uid) for uid in table["uid"].to_pylist()])
    score = np.empty(len(scored), np.float32)
    score[places] = logits[:, 1] - logits[:, 0]
    return score


def _examples(task: Task, keys: Keys, labels: Integers32, name: str, domain: Domain) -> pa.Table:
    info = DatasetInfo(name, domain, "pair", ("left", "right"), (), _LABELS)
    width = len(task.right)
    columns = [
        pa.array([str(place) for place in range(len(keys))], pa.string()),
        pa.array([task.left[row] for row in (keys // width).tolist()], pa.string()),
        pa.array([task.right[row] for row in (keys % width).tolist()], pa.string()),
        pa.array(labels),
        pa.array(["collected"] * len(keys), pa.string()),
        pa.array(np.arange(1, len(keys) + 1)),
    ]
    return pa.Table.from_arrays(columns, schema=examples_schema(info))

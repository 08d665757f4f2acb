"""The model that active learning asks: trained on a small random share of a train set, and its predictions and features of all rows.

Source: Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), §3: the baselines AL-uncertainty and AL-greedyK.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.special import softmax

from cartograph.data.lots import lots
from cartograph.data.progress import Progress
from cartograph.errors import InputError
from cartograph.schema import LABEL, UID
from cartograph.selection.strategy import Acquisition
from cartograph.selection.table import wanted_rows
from cartograph.train.recipe import Recipe

_STEPS_AN_EPOCH, _SMALLEST_BATCH = 8, 4


def acquire(
    recipe: Recipe, examples: pa.Table, share: float, folder: Path, *, epochs: int, seed: int, progress: Progress | None = None
) -> Acquisition:
    """Train a model on a random share of the rows and read all of them with it.

    A share that is no more than a few batches is trained in smaller ones, eight or so an epoch.

    Args:
        recipe: how a model is trained; its own seed, epochs and batch size are not used as they are.
        examples: the train set (``schema.examples_schema``).
        share: of its rows, in (0, 1].
        folder: where the training is kept, and taken up again.
        epochs: passes over the share.
        seed: of the share and of the training.
        progress: called with (rows trained on, rows to train on).

    Raises:
        InputError: the share has rows of one class only, or the model cannot be trained, or diverges.
    """
    from cartograph.train.fit import fit
    from cartograph.train.inference import infer

    number = wanted_rows(share, examples.num_rows)
    drawn = lots(examples[UID].to_numpy(), np.random.default_rng([seed, *b"acquisition"]))
    seen = drawn < number
    rows = examples.filter(pa.array(seen))
    if len(rows[LABEL].unique()) < 2:
        raise InputError(
            f"the random {share:g} of the {examples.num_rows:,} rows, {number:,}, are all of one class, which nothing can be learnt from; "
            "raise `select.acquisition_share`."
        )
    batch = min(max(number // _STEPS_AN_EPOCH, _SMALLEST_BATCH), recipe.batch_size)
    pieces = min(recipe.gradient_accumulation, batch)
    own = replace(
        recipe, epochs=epochs, batch_size=batch, gradient_accumulation=pieces, seed=seed, record="train_pass", evaluate="end", live=False
    )
    read = infer(own, fit(own, rows, {}, folder, progress=progress).model, examples)
    scores = read.logits[0].astype(np.float64)
    if not (np.isfinite(scores).all() and np.isfinite(read.features).all()):
        raise InputError(
            f"the model of the random {share:g} of the rows has no numbers to say of them: its training diverged; lower "
            "`train.learning_rate`, or leave the AL strategies out."
        )
    return Acquisition(softmax(scores, axis=1), read.features, seen)

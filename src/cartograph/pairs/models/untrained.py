"""Models of pairs before any training on labelled pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cartograph.pairs.models.learner import Progress, UtteranceVectors
from cartograph.pairs.task import Task


def save_untrained_bow(task: Task, seed: int, folder: Path) -> None:
    """Write ``cosine-bow`` with the vocabulary of the train split's utterances, and of the side that all splits share."""
    from cartograph.pairs.models.bow import CosineBow

    space = task.space("train")
    texts = [task.left[row] for row in space.left.tolist()]
    CosineBow.create(texts if task.symmetric else [*texts, *task.right], seed).save(folder)


def untrained_encoder_vectors(pretrained: str, task: Task, device: str, progress: Progress | None = None) -> UtteranceVectors:
    """Return an encoder's vectors of all utterances: the mean of its last layer's tokens, scaled to length 1.

    Raises:
        InputError: it cannot be loaded, or there is no such device.
    """
    from cartograph.models.base import Side
    from cartograph.models.frozen.text_encoder import Encoder
    from cartograph.models.isolation import require_device

    require_device(device, "`cpu`")
    encoder = Encoder.load(pretrained, pooling="mean", max_length=128)
    sides = [Side(text) for text in (task.left if task.symmetric else [*task.left, *task.right])]
    vectors, rows = encoder.distinct_vectors(sides, device=device, progress=progress)
    unit = vectors[rows] / np.maximum(np.linalg.norm(vectors[rows], axis=1, keepdims=True), 1e-12)
    return UtteranceVectors(unit[: len(task.left)], unit[: len(task.left)] if task.symmetric else unit[len(task.left) :])

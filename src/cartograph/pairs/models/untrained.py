"""Models of pairs before any training on labelled pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cartograph.data.progress import Progress
from cartograph.pairs.models.learner import UtteranceVectors
from cartograph.pairs.task import Task


def save_untrained_bow(task: Task, seed: int, folder: Path, width: int | None = None) -> None:
    """Write ``cosine-bow`` with the vocabulary of the train split's utterances, and of the side that all splits share.

    ``width``: numbers per vector; None: the model's own.
    """
    from cartograph.pairs.models.bow import WIDTH, CosineBow

    space = task.space("train")
    texts = [task.left[row] for row in space.left.tolist()]
    CosineBow.create(texts if task.symmetric else [*texts, *task.right], seed, width or WIDTH).save(folder)


def untrained_encoder_vectors(
    pretrained: str, left: Sequence[str], right: Sequence[str], device: str, progress: Progress | None = None
) -> UtteranceVectors:
    """Return an encoder's vectors of the texts of both sides: the mean of its last layer's tokens, scaled to length 1.

    Args:
        pretrained: the encoder's folder, or a hub id.
        left: texts.
        right: texts; ``left`` itself where both sides are one set.
        device: ``auto``, ``cpu`` or ``cuda``.
        progress: called with texts done and in all.

    Raises:
        InputError: it cannot be loaded, or there is no such device.
    """
    from cartograph.models.base import Side
    from cartograph.models.device import chosen_device
    from cartograph.models.frozen.text_encoder import Encoder
    from cartograph.models.isolation import require_device

    require_device(device)
    encoder = Encoder.load(pretrained, pooling="mean", max_length=128)
    sides = [Side(text) for text in (left if right is left else [*left, *right])]
    vectors, rows = encoder.distinct_vectors(sides, device=chosen_device(device), progress=progress)
    unit = vectors[rows] / np.maximum(np.linalg.norm(vectors[rows], axis=1, keepdims=True), 1e-12)
    first = unit[: len(left)]
    return UtteranceVectors(first, first if right is left else unit[len(left) :])

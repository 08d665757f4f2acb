"""Vectors of texts that are learnt from labels, for texts that mean the same in other words: what blocking by likeness cannot propose."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Floats, Integers8
from cartograph.pairs.matcher.fitting import folds
from cartograph.pairs.models.learner import Learner, TrainingOptions, UtteranceVectors
from cartograph.pairs.pair_space import Keys

_HOW = TrainingOptions(epochs=6)


def learn_vectors(learner: Learner, keys: Keys, label: Integers8, width: int, seed: int) -> tuple[UtteranceVectors, Floats]:
    """Return vectors trained on all labels, and the cosine of each labelled pair under vectors trained without its fold.

    The learner's embedder is left as trained on all of them. Folds are those of ``fitting.fit_matcher`` of the same seed.

    Args:
        learner: of the task's texts.
        keys: (n,) of the labelled pairs.
        label: (n,) 1 = positive.
        width: of keys.
        seed: of the order of pairs, and of the folds.
    """
    pairs, held_out = (keys // width, keys % width), np.empty(len(keys))
    for fold in folds(label, seed):
        kept = np.setdiff1d(np.arange(len(keys)), fold)
        learner.train((pairs[0][kept], pairs[1][kept]), label[kept], _HOW, seed)
        held_out[fold] = learner.cosine((pairs[0][fold], pairs[1][fold]))
    learner.train(pairs, label, _HOW, seed)
    return learner.vectors(), held_out

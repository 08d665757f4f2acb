"""The quick models of a before/after table: a linear model on words, pixels or columns, and the words' mutual information alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cartograph.bias.words import count_words, predict_by_words, words_of
from cartograph.data.arrays import Floats32, Integers
from cartograph.features.linear_models import held_out_logistic
from cartograph.features.simple import simple_features
from cartograph.schema import LABEL, dataset_info

_PENALTY = 1.0


def guess(model: str, train: pa.Table, test: pa.Table, *, smoothing: float) -> Integers | Floats32:
    """Return a quick model's predictions of a set, fitted on another: scores ``(n_test, n_classes)``; of ``max-pmi`` labels ``(n_test,)``.

    Args:
        model: ``linear`` (logistic regression on ``simple_features``) or ``max-pmi`` (of texts).
        train: ``schema.examples_schema``.
        test: of the same task.
        smoothing: of ``max-pmi`` (``words.count_words``).
    """
    return _linear(train, test) if model == "linear" else _by_words(train, test, smoothing)


def _by_words(train: pa.Table, test: pa.Table, smoothing: float) -> Integers:
    table = count_words(*words_of(train), smoothing)
    return predict_by_words(table, words_of(test)[0], len(dataset_info(test.schema).options))


def _linear(train: pa.Table, test: pa.Table) -> Floats32:
    info = dataset_info(train.schema)
    options = max(len(info.options), 1)
    features = simple_features(train, test)
    learnt = np.arange(features.shape[0]) < train.num_rows * options
    given = train[LABEL].to_numpy().astype(np.int64)
    if info.options:
        given = (given[:, None] == np.arange(options)).astype(np.int64).reshape(-1)
    labels = np.concatenate([given, np.zeros(len(learnt) - len(given), np.int64)])
    classes = 2 if info.options else len(info.labels)
    scores: Floats32 = held_out_logistic(features, labels.astype(np.intp), classes, learnt, _PENALTY)[~learnt]
    return scores[:, 1].reshape(-1, options) if info.options else scores

"""What linear models read of multiple choice: each option with the text before it, against the other options of its row.

A label is the place of the right option, of which words say nothing by themselves. So one model scores any option, wherever it stands, by
how it differs from the others of its row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from scipy import sparse

from cartograph.data.arrays import Bools, Floats32, Integers
from cartograph.data.progress import Progress
from cartograph.data.words import WORD_OR_SIGN
from cartograph.features.comparison import beside_words, comparison_features
from cartograph.features.linear_models import held_out_logistic, out_of_fold_logistic
from cartograph.features.text import TextRows, set_in_order, text_features
from cartograph.features.vector_models import out_of_fold_discriminant

_MOST_TOGETHER = 400
_TOKEN = re.compile(WORD_OR_SIGN)


def option_features(*tables: pa.Table) -> sparse.csr_array:
    """Return features of every option of some sets, one under the other, float32, ``(n_examples · n_options, n_features)``.

    Its words and pairs of neighbours, whether the text has them too, each with each word of the text (of texts and options that make 400
    such pairs at most), and how alike the two are (``comparison``); less the mean of the row's options, which all have in common.

    Args:
        tables: sets of multiple choice (``schema.examples_schema``), of the same options.

    Raises:
        InputError: there is no row, or not a word in any option.
    """
    rows = TextRows(*tables)
    words = text_features(rows, read=_tokens)
    compared = comparison_features(rows)
    return against_others(words if compared is None else beside_words(words, compared), len(rows) // sum(map(len, tables)))


def against_others(features: sparse.csr_array, n_options: int) -> sparse.csr_array:
    """Return each option's features less the mean of its row's, both ``(n_examples · n_options, n_features)``.

    >>> against_others(sparse.csr_array(np.array([[2.0, 1.0], [0.0, 1.0]])), 2).toarray().tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    number = features.shape[0]
    row = np.arange(number) // n_options
    of_row = sparse.csr_array((np.ones(number, np.float32), (np.arange(number), row)), shape=(number, number // n_options))
    mean = of_row.T @ features
    mean.data /= np.float32(n_options)
    left = sparse.csr_array(features - of_row @ mean)
    left.eliminate_zeros()
    left.sort_indices()
    return left


def out_of_fold_options(
    features: sparse.csr_array,
    labels: Integers,
    n_options: int,
    fold: Integers,
    penalties: Sequence[float],
    *,
    progress: Progress | None = None,
) -> list[Floats32]:
    """Return, per penalty, the scores of each row's options by a logistic regression of the other folds, ``(n_examples, n_options)``.

    Args:
        features: of every option (``option_features``), ``(n_examples · n_options, n_features)``.
        labels: place of the right option, ``(n_examples,)``.
        n_options: two or more.
        fold: of each row; the rest as ``out_of_fold_logistic`` has it.
    """
    found = out_of_fold_logistic(features, _right(labels, n_options), 2, np.repeat(fold, n_options), penalties, progress=progress)
    return [_of_rows(scores, n_options) for scores in found]


def held_out_options(
    features: sparse.csr_array, labels: Integers, n_options: int, train: Bools | Floats32, penalty: float, *, even: bool = False
) -> Floats32:
    """Return the scores of every row's options by a model that was fitted on some rows, ``(n_examples, n_options)``.

    Args:
        train: which rows are learnt from, or with which weight ≥ 0, ``(n_examples,)``; the rest as above and ``held_out_logistic`` have it.
    """
    right = _right(labels, n_options)
    used: Floats32 = np.repeat(train, n_options).astype(np.float32)
    return _of_rows(held_out_logistic(features, right, 2, used, penalty, even=even), n_options)


def out_of_fold_option_vectors(vectors: Floats32, labels: Integers, fold: Integers, shrinkages: Sequence[float]) -> list[Floats32]:
    """Return, per shrinkage, the scores of each row's options by a discriminant of the other folds, ``(n_examples, n_options)``.

    Args:
        vectors: of every option, ``(n_examples, n_options, width)``, finite; of a text and an option read together.
        labels: place of the right option, ``(n_examples,)``.
        fold: of each row, ``(n_examples,)``.
        shrinkages: as of ``out_of_fold_discriminant``.
    """
    n_options = vectors.shape[1]
    between = (vectors - vectors.mean(axis=1, keepdims=True)).reshape(-1, vectors.shape[2])
    found = out_of_fold_discriminant(between, _right(labels, n_options), 2, np.repeat(fold, n_options), shrinkages)
    return [_of_rows(scores, n_options) for scores in found]


def _right(labels: Integers, n_options: int) -> Integers:
    """Return of every option whether it is the right one, 0 or 1, ``(n_examples · n_options,)``."""
    right: Integers = (labels[:, None] == np.arange(n_options)).ravel().astype(np.intp)
    return right


def _of_rows(scores: Floats32, n_options: int) -> Floats32:
    odds = 2.0 * scores[:, 1].reshape(-1, n_options)
    centred: Floats32 = odds - odds.mean(axis=1, keepdims=True)
    return centred


def _tokens(fields: Sequence[str]) -> Iterator[str]:
    text, option = (_TOKEN.findall(field.lower()) for field in fields)
    yield from option
    # No token contains a blank.
    yield from (f"{left} {right}" for left, right in pairwise(option))
    before, own = set_in_order(text), set_in_order(option)
    yield from (f"{word}  {'shared' if word in before else 'new'}" for word in own)
    if len(before) * len(own) <= _MOST_TOGETHER:
        yield from (f"{word}   {other}" for word in before for other in own)

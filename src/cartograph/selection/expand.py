"""Which rows of an unlabelled pool are most like the ambiguous rows of a data map: what to label next.

How variable a row is takes its label and a training. Without them, the model that drew the map says most: the rows of which it is least
certain are the most variable ones once they are trained on. Where there is no such model, since the map was imported, a ridge regression
learns each train row's variability from its words and pairs of words; how well it knows the map is measured on rows that it has not
seen. On five sets both are above a random order, the model by most, though not on those from which it has learnt little; cosine similarity
to the nearest ambiguous row is below both on average (``benchmarks/expand.py``).

To make more of the ambiguous rows is a suggestion of Swayamdipta et al. 2020, §7; theirs is no method for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from cartograph.data.arrays import Floats, Floats32, Integers
from cartograph.data.folds import assign_folds
from cartograph.errors import InputError
from cartograph.features.text import Row, text_features
from cartograph.statistics.correlation import Correlation, correlation, pearson

FEWEST = 50
"""Train rows that a map must have to learn from."""

_PENALTIES, _FOLDS, _BLOCK = (0.3, 1.0, 3.0, 10.0), 5, 256


@dataclass(frozen=True)
class Expansion:
    """The rows of a pool in the order in which to label them.

    Attributes:
        order: places in the pool, the highest score first, ``(n_pool,)``; of equal rows the earlier first.
        scores: of each row of the pool, in the pool's own order, ``(n_pool,)``: one minus the model's certainty, in [0, 1), or the
            variability that is expected by the texts.
        known: where the texts decided: Spearman's correlation, with its 95 % interval, of what is expected of a train row by a regression
            that has not seen it with the row's variability on the map; NaN where the map has none. None where a model decided.
        alike: of the first ``listed`` rows of ``order``, the place of the most similar ambiguous train row, ``(listed,)``.
        similarity: cosine of the two, in [0, 1], ``(listed,)``.
    """

    order: Integers
    scores: Floats
    known: Correlation | None
    alike: Integers
    similarity: Floats32


def expand(
    train: Sequence[Row],
    variability: Floats,
    ambiguous: Integers,
    pool: Sequence[Row],
    rng: np.random.Generator,
    *,
    listed: int,
    certainty: Floats | None = None,
    groups: Integers | None = None,
) -> Expansion:
    """Rank the rows of a pool by how ambiguous they are likely to be.

    Cost: O(folds · penalties · passes · words of the train set), and O(listed · ambiguous rows · words of a row).

    Args:
        train: the texts of the map's rows, as ``features.text.text_features`` takes them.
        variability: of these on the map, ``(n_train,)``.
        ambiguous: places of the ambiguous ones, one or more.
        pool: the unlabelled texts, with as many fields, one or more.
        rng: shuffles the folds and draws the interval.
        listed: how many of the first rows are compared with the ambiguous ones.
        certainty: the probability of the most probable class of each row of the pool by the map's model, ``(n_pool,)``; None where there is
            no such model.
        groups: of each train row from 0 on, ``(n_train,)``: rows of one are held out together; None: each row is on its own.

    Raises:
        InputError: fewer than ``FEWEST`` train rows, no ambiguous row, or an empty pool.
    """
    if len(train) < FEWEST:
        raise InputError(f"the map has {len(train):,} rows, and no fewer than {FEWEST} teach what an ambiguous row is like; map more rows.")
    if not len(ambiguous):
        raise InputError("the map has no ambiguous row, so nothing can be like one; train for more epochs, or with another model.")
    if not len(pool):
        raise InputError("the pool has no rows left to choose from; name a file with rows that are not in the train set.")
    features = text_features([*train, *pool])
    seen, unseen = features[: len(train)], features[len(train) :]
    scores, known = _by_texts(seen, variability, unseen, rng, groups) if certainty is None else (1 - certainty, None)
    order = np.argsort(-scores, kind="stable")
    alike, similarity = _alike(unseen[order[:listed]], seen[ambiguous])
    return Expansion(order, scores, known, ambiguous[alike], similarity)


def _by_texts(
    features: sparse.csr_array, variability: Floats, others: sparse.csr_array, rng: np.random.Generator, groups: Integers | None
) -> tuple[Floats, Correlation]:
    """Return the variability that is expected of other rows, and how well that of rows held out was."""
    if groups is None:
        fold = rng.permutation(len(variability)) % _FOLDS
    else:
        fold = assign_folds(np.zeros(len(variability), np.intp), _FOLDS, rng, groups)
    held_out = {penalty: _out_of_fold(features, variability, fold, penalty) for penalty in _PENALTIES}
    agreement = {penalty: pearson(_ranks(values), _ranks(variability)) for penalty, values in held_out.items()}
    best = max(_PENALTIES, key=lambda penalty: np.nan_to_num(agreement[penalty], nan=-1.0))
    known = correlation(_ranks(held_out[best]), _ranks(variability), rng, resamples=1000)
    return _fitted(features, variability, others, best), known


def _ranks(values: Floats) -> Floats:
    ranks: Floats = rankdata(values)
    return ranks


def _out_of_fold(features: sparse.csr_array, target: Floats, fold: Integers, penalty: float) -> Floats:
    expected = np.empty(len(target))
    for part in range(int(fold.max()) + 1):
        held = fold == part
        expected[held] = _fitted(features[~held], target[~held], features[held], penalty)
    return expected


def _fitted(features: sparse.csr_array, target: Floats, others: sparse.csr_array, penalty: float) -> Floats:
    from sklearn.linear_model import Ridge

    model = Ridge(penalty, solver="sparse_cg", tol=1e-4)
    expected: Floats = np.asarray(model.fit(features, target).predict(others), dtype=np.float64)
    return expected


def _alike(rows: sparse.csr_array, ambiguous: sparse.csr_array) -> tuple[Integers, Floats32]:
    """Return place and cosine of the most similar ambiguous row; features have length 1."""
    places, cosines = [], []
    for begin in range(0, rows.shape[0], _BLOCK):
        similarity = (rows[begin : begin + _BLOCK] @ ambiguous.T).toarray()
        places.append(similarity.argmax(axis=1))
        cosines.append(similarity.max(axis=1))
    return np.concatenate(places).astype(np.int64), np.minimum(np.concatenate(cosines), 1.0).astype(np.float32)

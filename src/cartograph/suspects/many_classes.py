"""The committee where classes are many: models that are fitted in closed form, and asked of a block of rows at a time.

One logistic regression a class, fold and penalty takes minutes where classes are a thousand, and they add nothing: of 6,000 of Banking77's
rows, 5 % of the labels wrong, the committee with them finds errors with an average precision of .87, naive Bayes alone with .92. Of what
the members say together each row keeps its most probable classes (``kept_logits.KeptShares``), so that no array is as large as rows times
classes.

Cost: O(n_examples · n_classes · width) with vectors; for naive Bayes the pairs of a word in a row and a class that it occurs in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy import sparse

from cartograph.data.arrays import Bools, Floats, Floats32, Integers, Reals
from cartograph.data.kept_logits import KeptShares, Shares, in_blocks, most_probable
from cartograph.data.progress import Progress
from cartograph.features.vector_models import SHRINKAGES, discriminants, leave_one_out_neighbours
from cartograph.suspects.mixture import fit_mixture

SMOOTHINGS = (1.0, 0.1)
NEIGHBOURS = (10, 30)

_FREQUENT = 64
_ELEMENTS = 2**22
_MIXTURE_ELEMENTS = 2**23

Scorer = Callable[[Integers], Sequence[Floats32]]
"""From the places of some rows to each member's scores of them, (n_rows, n_classes); a row's own label has no influence on its own."""


def shares_of_many(
    features: sparse.csr_array | None,
    vectors: Floats32 | None,
    known: Mapping[str, Shares],
    labels: Integers,
    n_classes: int,
    fold: Integers,
    rng: np.random.Generator,
    *,
    together: bool = False,
    progress: Progress | None = None,
) -> KeptShares:
    """Return out-of-sample class probabilities by naive Bayes, discriminants and neighbours together, of each row the most probable.

    Args:
        features: ≥ 0, ``(n_examples, n_features)``; None without words.
        vectors: ``(n_examples, width)``, finite; None without an encoder.
        known: by name, class probabilities by models that had not seen the row.
        labels: label ids, ``(n_examples,)``.
        n_classes: more than ``kept_logits.WHOLE``.
        fold: fold of each row, ``(n_examples,)``.
        rng: draws the rows that the weights of the members are fitted on, and those among which neighbours are looked for.
        together: whether rows of one fold say nothing of each other (``linked_rows``); else all other rows teach naive Bayes.
        progress: called with (rows scored, rows to score).
    """
    scorers: list[Scorer] = []
    if features is not None:
        scorers.append(_bayes_by_fold(features, labels, n_classes, fold) if together else _Bayes(features, labels, n_classes))
    if vectors is not None:
        scorers.append(_discriminants(vectors, labels, n_classes, fold))
        # The same references for every block.
        seed, apart = int(rng.integers(2**63)), fold if together else None
        scorers.append(
            lambda rows: leave_one_out_neighbours(
                vectors, labels, n_classes, NEIGHBOURS, np.random.default_rng(seed), rows=rows, fold=apart
            )
        )
    scorers += [_known(shares) for shares in known.values()]

    def scores(rows: Integers) -> Floats32:
        return np.stack([member for scorer in scorers for member in scorer(rows)])

    members = len(scores(np.arange(1)))
    number = min(len(labels), max(_MIXTURE_ELEMENTS // (members * n_classes), 200))
    sample = np.sort(rng.choice(len(labels), number, replace=False))
    mixture = fit_mixture(scores(sample), labels[sample], biased=False)
    parts = []
    for block in in_blocks(len(labels), n_classes, _ELEMENTS):
        shares = mixture.probabilities(scores(np.arange(block.start, block.stop)))
        parts.append(most_probable(shares, labels[block]))
        if progress is not None:
            progress(block.stop, len(labels))
    classes, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    return KeptShares(classes, values, n_classes)


class _Bayes:
    """Naive Bayes of each row from the counts of all other rows (``features.linear_models.leave_one_out_bayes``), but for a constant a row.

    The score of a class is a sum over the row's words. A word that no row of the class has adds the same for all such classes, so only
    classes that it occurs in are visited; of frequent words, to which one row more or less is nothing, a product of matrices takes all.
    What the row's own label gets is exact.

    Args:
        features: as in ``shares_of_many``, like ``labels`` and ``n_classes``.
        labels: see there.
        n_classes: see there.
        taught: the rows that are counted, of which none is scored, ``(n_examples,)``; None: all of them.
    """

    def __init__(self, features: sparse.csr_array, labels: Integers, n_classes: int, taught: Bools | None = None) -> None:
        self._labels, self._n_classes, self._width = labels, n_classes, features.shape[1]
        self._features, self._counts_own = features, taught is None
        if taught is not None:
            features, labels = sparse.csr_array(features[taught]), labels[taught]
        own = sparse.csr_array((np.ones(len(labels)), (np.arange(len(labels)), labels)), shape=(len(labels), n_classes))
        self._inside = sparse.csr_array(features.T.astype(np.float64) @ own)
        self._inside.sort_indices()
        self._total = np.asarray(features.sum(axis=0), dtype=np.float64).ravel()
        self._length = np.asarray(self._features.sum(axis=1), dtype=np.float64).ravel()
        self._of_class = np.asarray(self._inside.sum(axis=0), dtype=np.float64).ravel()
        frequent = np.bincount(features.indices, minlength=features.shape[1]) > _FREQUENT
        self._frequent, self._rare = np.flatnonzero(frequent), ~frequent
        self._tables = [np.empty((len(self._frequent), n_classes), np.float32) for _ in SMOOTHINGS]
        for block in in_blocks(len(self._frequent), n_classes, _ELEMENTS):
            common, total = self._inside[self._frequent[block]].toarray(), self._total[self._frequent[block]][:, None]
            for table, extra in zip(self._tables, SMOOTHINGS, strict=True):
                table[block] = np.log((common + extra) / extra) - np.log(np.maximum(total - common, 0.0) + extra) + np.log(total + extra)

    def __call__(self, rows: Integers) -> Sequence[Floats32]:
        part = sparse.csr_array(self._features[rows])
        of_row = np.repeat(np.arange(len(rows)), np.diff(part.indptr))
        word, value = part.indices, part.data.astype(np.float64)
        common = part[:, self._frequent]
        pairs = self._pairs(of_row, word, value)
        return [
            self._scores(rows, common @ table, pairs, (of_row, word, value), extra)
            for table, extra in zip(self._tables, SMOOTHINGS, strict=True)
        ]

    def _pairs(self, of_row: Integers, word: Integers, value: Floats) -> tuple[Integers, Floats, Floats, Floats]:
        """Return place in the block's scores, value, share in the class and in all of each pair of a rare word and a class."""
        rare = self._rare[word]
        of_row, word, value = of_row[rare], word[rare], value[rare]
        begin, number = self._inside.indptr[word].astype(np.int64), np.diff(self._inside.indptr)[word].astype(np.int64)
        within = np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number, number)
        places = np.repeat(begin, number) + within
        target = np.repeat(of_row, number) * self._n_classes + self._inside.indices[places]
        others = self._total[word] - value if self._counts_own else self._total[word]
        return target, np.repeat(value, number), self._inside.data[places], np.repeat(others, number)

    def _scores(
        self,
        rows: Integers,
        scores: Floats32,
        pairs: tuple[Integers, Floats, Floats, Floats],
        words: tuple[Integers, Integers, Floats],
        extra: float,
    ) -> Floats32:
        target, value, inside, others = pairs
        gain = value * (np.log((inside + extra) / extra) + np.log((others + extra) / (np.maximum(others - inside, 0.0) + extra)))
        found = scores + np.bincount(target, weights=gain, minlength=scores.size).reshape(scores.shape)
        spread, whole, length = extra * self._width, self._of_class.sum(), self._length[rows]
        outside = whole - (length[:, None] if self._counts_own else 0.0) - self._of_class
        found -= length[:, None] * np.log((self._of_class + spread) / (np.maximum(outside, 0.0) + spread))
        if not self._counts_own:
            return _centred(found)
        of_row, word, value = words
        given = self._labels[rows]
        inside = np.maximum(np.asarray(self._inside[word, given[of_row]]).ravel() - value, 0.0)
        others = self._total[word] - value
        gain = value * (np.log((inside + extra) / extra) + np.log((others + extra) / (np.maximum(others - inside, 0.0) + extra)))
        own = np.maximum(self._of_class[given] - length, 0.0)
        total = np.log((own + spread) / (whole - length - own + spread))
        found[np.arange(len(rows)), given] = np.bincount(of_row, weights=gain, minlength=len(rows)) - length * total
        return _centred(found)


def _bayes_by_fold(features: sparse.csr_array, labels: Integers, n_classes: int, fold: Integers) -> Scorer:
    """Return naive Bayes of each row from the counts of the rows of all other folds."""
    fitted = [_Bayes(features, labels, n_classes, fold != part) for part in range(int(fold.max()) + 1)]

    def scores(rows: Integers) -> Sequence[Floats32]:
        out = [np.empty((len(rows), n_classes), dtype=np.float32) for _ in SMOOTHINGS]
        for part, model in enumerate(fitted):
            own = np.flatnonzero(fold[rows] == part)
            for table, found in zip(out, model(rows[own]), strict=True):
                table[own] = found
        return out

    return scores


def _discriminants(vectors: Floats32, labels: Integers, n_classes: int, fold: Integers) -> Scorer:
    fitted = discriminants(vectors, labels, n_classes, fold, SHRINKAGES)

    def scores(rows: Integers) -> Sequence[Floats32]:
        out = [np.empty((len(rows), n_classes), dtype=np.float32) for _ in SHRINKAGES]
        for part, models in enumerate(fitted):
            own = np.flatnonzero(fold[rows] == part)
            for table, model in zip(out, models, strict=True):
                table[own] = model.scores(vectors[rows[own]])
        return out

    return scores


def _known(shares: Shares) -> Scorer:
    def scores(rows: Integers) -> Sequence[Floats32]:
        whole = shares.take(rows).dense() if isinstance(shares, KeptShares) else shares[rows]
        return [_centred(np.log(np.clip(whole, 1e-9, None)))]

    return scores


def _centred(scores: Reals) -> Floats32:
    centred: Floats32 = (scores - scores.mean(axis=1, keepdims=True)).astype(np.float32)
    return centred

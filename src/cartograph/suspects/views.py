"""Views of a data set: what models of one kind, none of which saw the row, say of every row's class; and how views are put together.

Views are put together by their log probabilities. Weights under which the given labels are most likely favour the view that predicts errors
too, where errors follow from the text; equal weights let a poor view spoil a good one, weights by how much of the labels each view alone
explains hardly. Half of the fitted and half of these was never far from the better of them on the sets that it was tried on
(``benchmarks/noise.py`` has others).

What an encoder's vectors say beside words counts for a sixth besides. Whoever labels by the words, as a list of them or a model does, errs
where these mislead, and models of words repeat the error: under the fitted weights they would count the more for it. On eight sets average
precision rises by .01 for the mistakes of a forest on words and for those of a naive Bayes, and by .002 for errors that do not depend on
the text. With a third the former rises by .02, and the latter falls by .003 (and of one class's labels given to its neighbour by .05).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cartograph.data.arrays import Floats, Floats32, Integers
from cartograph.data.progress import Progress, piece_of
from cartograph.errors import InputError
from cartograph.features.comparison import with_products
from cartograph.features.linear_models import leave_one_out_bayes, out_of_fold_bayes, out_of_fold_logistic
from cartograph.features.options import out_of_fold_option_vectors, out_of_fold_options
from cartograph.features.tables import TreeColumns
from cartograph.features.trees import DEEP_LEAVES, STAGES, out_of_fold_boosting, out_of_fold_forest
from cartograph.features.vector_models import SHRINKAGES, leave_one_out_neighbours, out_of_fold_discriminant
from cartograph.suspects.explained import entropy_of, explained_share
from cartograph.suspects.mixture import fit_mixture

WORDS, VECTORS = "words", "vectors"
"""Names of views."""

OF_VECTORS = 1 / 6
"""What vectors count beside words, whatever the labels make likelier."""

PENALTIES = (1.0, 0.3)
OF_OPTIONS = (1.0, 0.3, 0.1)
SMOOTHINGS = (3.0, 1.0, 0.3, 0.1)
NEIGHBOURS = (10, 30)
OF_CHARACTERS = (1.0,)
COMPARED = (0.01, 0.1)
"""Shrinkages of the discriminants on how alike two texts are, without and with products."""

# A mixture has a handful of parameters: more rows than this would not move them.
_MIXTURE_ROWS = 20_000

# What a view counts that explains nothing.
_LEAST = 1e-3


@dataclass(frozen=True)
class View:
    """What models of one kind say of n examples.

    Attributes:
        name: what they read: ``words`` (or what else ``simple_features`` makes), ``characters``, ``vectors``, ``trees``, or how
            the probabilities came about.
        members: names of the models.
        scores: each member's out-of-sample scores, ``(n_members, n_examples, n_classes)``; log odds, centred per row. A row's own label
            has no influence at all on its own scores.
        weights: of each member in the mixture, ``(n_members,)``. These few numbers are fitted on the labels of all rows (a
            sample of 20,000 where there are more), so a row's own label moves its own ``probabilities`` by the order of 1 / n_examples.
        probabilities: of the mixture, ``(n_examples, n_classes)``; rows sum to 1.
    """

    name: str
    members: tuple[str, ...]
    scores: Floats32
    weights: Floats
    probabilities: Floats


def words_view(
    features: sparse.csr_array,
    labels: Integers,
    n_classes: int,
    fold: Integers,
    rng: np.random.Generator,
    *,
    name: str = WORDS,
    penalties: tuple[float, ...] = PENALTIES,
    together: bool = False,
    progress: Progress | None = None,
) -> View:
    """Return what logistic regressions and naive Bayes on a sparse matrix say.

    Args:
        features: ≥ 0, ``(n_examples, n_features)``.
        labels: label ids, ``(n_examples,)``.
        n_classes: two or more.
        fold: fold of each row, ``(n_examples,)``.
        rng: draws a sample of rows for the mixture, above 20,000.
        name: what the features are of.
        penalties: of the logistic regressions.
        together: whether rows of one fold say nothing of each other (``linked_rows``); else all other rows teach naive Bayes.
        progress: called with (done, in all), in folds of its models.
    """
    logistic = out_of_fold_logistic(features, labels, n_classes, fold, penalties, progress=progress)
    if together:
        bayes = out_of_fold_bayes(features, labels, n_classes, fold, SMOOTHINGS)
    else:
        bayes = leave_one_out_bayes(features, labels, n_classes, SMOOTHINGS)
    members = (*(f"logistic {penalty:g}" for penalty in penalties), *(f"bayes {extra:g}" for extra in SMOOTHINGS))
    return _view(name, members, np.stack([*logistic, *bayes]), labels, rng)


def comparison_view(compared: Floats32, labels: Integers, n_classes: int, fold: Integers, rng: np.random.Generator) -> View:
    """Return what discriminants say of how alike the two texts of a pair are (``features.comparison``), with products of these numbers too.

    Args:
        compared: ``(n_examples, width)``.
        labels: label ids, ``(n_examples,)``.
        n_classes: two or more.
        fold: fold of each row, ``(n_examples,)``.
        rng: draws a sample of rows for the mixture, above 20,000.
    """
    members = [
        out_of_fold_discriminant(numbers, labels, n_classes, fold, (shrinkage,))[0]
        for numbers, shrinkage in zip(with_products(compared), COMPARED, strict=True)
    ]
    return _view("comparison", ("comparison", "comparison with products"), np.stack(members), labels, rng)


def vectors_view(
    vectors: Floats32,
    labels: Integers,
    n_classes: int,
    fold: Integers,
    rng: np.random.Generator,
    *,
    together: bool = False,
    shrinkages: Sequence[float] = SHRINKAGES,
    progress: Progress | None = None,
) -> View:
    """Return what linear discriminants and nearest neighbours say of an encoder's vectors, ``(n_examples, width)``; else as ``words_view``.

    Raises:
        InputError: vectors of another number of rows, or not finite.
    """
    check_vectors(vectors, len(labels))
    discriminants = out_of_fold_discriminant(vectors, labels, n_classes, fold, shrinkages)
    neighbours = leave_one_out_neighbours(vectors, labels, n_classes, NEIGHBOURS, rng, fold=fold if together else None, progress=progress)
    members = (*(f"discriminant {part:g}" for part in shrinkages), *(f"{number} neighbours" for number in NEIGHBOURS))
    return _view(VECTORS, members, np.stack([*discriminants, *neighbours]), labels, rng)


def trees_view(
    columns: TreeColumns,
    labels: Integers,
    n_classes: int,
    fold: Integers,
    rng: np.random.Generator,
    *,
    progress: Progress | None = None,
) -> View:
    """Return what boosted trees, small early and late and large ones, and a forest say of a table's columns; else as ``words_view``."""
    folds, late = int(fold.max()) + 1, STAGES[-1]
    boosted = out_of_fold_boosting(columns, labels, n_classes, fold, piece_of(progress, 0, 3, folds))
    deep = out_of_fold_boosting(columns, labels, n_classes, fold, piece_of(progress, 1, 3, folds), leaves=DEEP_LEAVES, stages=(late,))
    forest = out_of_fold_forest(columns, labels, n_classes, fold, piece_of(progress, 2, 3, folds))
    members = (*(f"{number} trees" for number in STAGES), f"{late} large trees", "forest")
    return _view("trees", members, np.stack([*boosted, *deep, forest]), labels, rng)


def options_view(features: sparse.csr_array, labels: Integers, n_options: int, fold: Integers, rng: np.random.Generator) -> View:
    """Return what logistic regressions say of the options of multiple choice.

    Args:
        features: of every option (``features.options.option_features``), ``(n_examples · n_options, n_features)``.
        labels: place of the right option, ``(n_examples,)``.
        n_options: two or more.
        fold: fold of each row, ``(n_examples,)``.
        rng: draws a sample of rows for the mixture, above 20,000.
    """
    scores = out_of_fold_options(features, labels, n_options, fold, OF_OPTIONS)
    return _view(WORDS, tuple(f"logistic {penalty:g}" for penalty in OF_OPTIONS), np.stack(scores), labels, rng)


def option_vectors_view(vectors: Floats32, labels: Integers, fold: Integers, rng: np.random.Generator) -> View:
    """Return what discriminants say of an encoder's vectors of the options, ``(n_examples, n_options, width)``; else as above."""
    scores = out_of_fold_option_vectors(vectors, labels, fold, SHRINKAGES)
    return _view(VECTORS, tuple(f"discriminant {part:g}" for part in SHRINKAGES), np.stack(scores), labels, rng)


def check_vectors(vectors: Floats32, number: int) -> None:
    """Check that there is a finite vector of each row.

    Raises:
        InputError: there are others than so many, or one is not finite.
    """
    if len(vectors) != number:
        raise InputError(f"there are vectors of {len(vectors):,} rows and {number:,} labels; give one vector per row.")
    if not np.isfinite(vectors).all():
        row = int((~np.isfinite(vectors).all(axis=1)).argmax())
        raise InputError(f"the vector of row {row + 1} holds a number that is not finite; make the vectors again, or leave that row out.")


def known_view(name: str, probabilities: Floats, labels: Integers, rng: np.random.Generator) -> View:
    """Return class probabilities that are known already as a view; none may be of a model that was trained on the row before.

    Raises:
        InputError: they are not of these rows, not of these classes, or not probabilities.
    """
    if len(probabilities) != len(labels) or not np.isfinite(probabilities).all() or (probabilities < 0).any():
        raise InputError(
            f"the probabilities of the view {name!r} have shape {probabilities.shape}, and must be finite, ≥ 0, and a row for each of "
            f"{len(labels):,} labels."
        )
    return _view(name, (name,), _centred_logs(probabilities)[None], labels, rng)


def combine(views: Sequence[View], labels: Integers, rng: np.random.Generator) -> Floats:
    """Return class probabilities by all views together, ``(n_examples, n_classes)``; rows sum to 1.

    Args:
        views: one or more, of the same rows.
        labels: label ids, ``(n_examples,)``.
        rng: draws a sample of rows for the mixtures, above 20,000.
    """
    if len(views) == 1:
        return views[0].probabilities
    logs = np.stack([_centred_logs(view.probabilities) for view in views])
    fitted = _mixed(logs, labels, rng)[0]
    entropy, rows = entropy_of(labels), np.arange(len(labels))
    explained = [max(explained_share(view.probabilities[rows, labels], entropy), _LEAST) for view in views]
    weighted = _mixed(np.average(logs, axis=0, weights=explained).astype(np.float32)[None], labels, rng)[0]
    mean: Floats32 = np.mean([_centred_logs(fitted), _centred_logs(weighted)], axis=0)
    if any(view.name == WORDS for view in views):
        for view in views:
            if view.name == VECTORS:
                mean = (1 - OF_VECTORS) * mean + OF_VECTORS * _centred_logs(view.probabilities)
    return _mixed(mean[None], labels, rng)[0]


def _view(name: str, members: tuple[str, ...], scores: Floats32, labels: Integers, rng: np.random.Generator) -> View:
    probabilities, weights = _mixed(scores, labels, rng)
    return View(name, members, scores, weights, probabilities)


def _mixed(scores: Floats32, labels: Integers, rng: np.random.Generator) -> tuple[Floats, Floats]:
    sample = np.arange(len(labels))
    if len(labels) > _MIXTURE_ROWS:
        sample = np.sort(rng.choice(len(labels), _MIXTURE_ROWS, replace=False))
    mixture = fit_mixture(scores[:, sample], labels[sample])
    return mixture.probabilities(scores), mixture.weights


def _centred_logs(probabilities: Floats) -> Floats32:
    logs = np.log(np.clip(probabilities, 1e-9, None)).astype(np.float32)
    centred: Floats32 = logs - logs.mean(axis=1, keepdims=True)
    return centred

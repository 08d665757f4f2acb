"""Class probabilities of every row by a committee of cheap models that never saw the row, and the doubt that follows.

A model that memorises its train set hides label errors from its in-sample dynamics. Here each row is scored by models that were fitted
without it: logistic regressions and naive Bayes on its words and, of single texts, on the characters of these; where an encoder's vectors
are at hand, in place of characters discriminants and nearest neighbours on them; of images linear models of pixels, discriminants and
nearest neighbours; of a table of features boosted trees and a forest beside
these; and what is known besides, such as K-fold training. Each kind is a view (``cartograph.suspects.views``), and
``cartograph.suspects.label_doubt`` turns what they say together into the probability that a label is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
from scipy import sparse

from cartograph.data.arrays import Floats32, Ids, Integers
from cartograph.data.components import numbered
from cartograph.data.folds import assign_folds
from cartograph.data.kept_logits import WHOLE, KeptShares, Shares
from cartograph.data.linked_rows import row_copies, row_groups, same_rows
from cartograph.data.progress import Progress, piece_of
from cartograph.errors import InputError
from cartograph.features.column_texts import texts_of_columns
from cartograph.features.comparison import beside_vectors, beside_words, comparison_features
from cartograph.features.options import option_features
from cartograph.features.pixels import svd_features
from cartograph.features.simple import simple_features
from cartograph.features.tables import TreeColumns, dense_columns, mostly_alike, tree_columns
from cartograph.features.text import Row, TextRows, character_features, text_features
from cartograph.features.vector_models import OF_COLUMNS, SHRINKAGES
from cartograph.schema import dataset_info
from cartograph.suspects.careless import file_order
from cartograph.suspects.copies import Copies, contradicting_copies, copies_of
from cartograph.suspects.kept_doubt import kept_doubt
from cartograph.suspects.label_doubt import Doubt, label_doubt
from cartograph.suspects.many_classes import shares_of_many
from cartograph.suspects.views import (
    OF_CHARACTERS,
    WORDS,
    View,
    check_vectors,
    combine,
    comparison_view,
    known_view,
    option_vectors_view,
    options_view,
    trees_view,
    vectors_view,
    words_view,
)
from cartograph.wording import counted

_PIXELS = 64
"""Numbers of an image, those that set images apart most, that discriminants and nearest neighbours read."""

_TEXTS = "texts among columns"


class Options(NamedTuple):
    """What a committee reads of multiple choice.

    Attributes:
        words: of every option (``features.options.option_features``), ``(n_examples · number, n_features)``.
        number: of a row's options.
        vectors: of every option, read with the text before it, ``(n_examples, number, width)``; None without an encoder.
    """

    words: sparse.csr_array
    number: int
    vectors: Floats32 | None = None

    def take(self, rows: Integers) -> Options:
        """Return what is read of some rows, ``(n_some,)`` places in their order."""
        words = self.words[(rows[:, None] * self.number + np.arange(self.number)).ravel()]
        return Options(words, self.number, None if self.vectors is None else self.vectors[rows])


class Reading(NamedTuple):
    """What a committee reads of rows: arguments of ``committee_scores`` of the same names; None of what they lack, or nobody knows."""

    data: sparse.csr_array | None
    vectors: Floats32 | None
    trees: TreeColumns | None
    apart: bool = False
    groups: Integers | None = None
    texts: Integers | None = None
    same: Integers | None = None
    compared: Floats32 | None = None
    options: Options | None = None
    labellers: Integers | None = None
    characters: sparse.csr_array | None = None
    order: Integers | None = None

    def take(self, rows: Integers) -> Reading:
        """Return what is read of some rows, ``(n_some,)`` places in their order; numbers that say which rows are alike count on from 0."""
        return Reading(
            None if self.data is None else self.data[rows],
            None if self.vectors is None else self.vectors[rows],
            None if self.trees is None else self.trees.take(rows),
            self.apart,
            None if self.groups is None else numbered(self.groups[rows]),
            None if self.texts is None else numbered(self.texts[rows]),
            None if self.same is None else numbered(self.same[rows]),
            None if self.compared is None else self.compared[rows],
            None if self.options is None else self.options.take(rows),
            None if self.labellers is None else self.labellers[rows],
            None if self.characters is None else self.characters[rows],
            None if self.order is None else self.order[rows],
        )


def reading_of(table: pa.Table, *, characters: bool = True) -> Reading:
    """Return what a committee reads of a set (``schema.examples_schema``) without an encoder's help.

    Words; of images pixels, and in few numbers what sets them apart most; of a table of features its columns, for linear models, neighbours
    and trees, and the words of texts among them; of multiple choice its options. Rows that the user linked are of one group, and pairs that
    share a text.

    Args:
        table: the rows.
        characters: whether the characters of single texts are read, too, and what sets images apart: an encoder's vectors, where there are
            some, know most of it.
    """
    info = dataset_info(table.schema)
    # First what lets go of the most: features stay.
    groups, order = row_groups(table), file_order(table)
    alike = row_copies(table, groups), same_rows(table, groups)
    if info.features:
        texts, classes = texts_of_columns(table), len(info.labels)
        words = text_features(texts) if texts else None
        spelled = character_features(texts, max(classes, 1)) if texts and characters and classes <= WHOLE else None
        read = Reading(words, None, None, False, groups, *alike, characters=spelled, order=order)
        if not info.has_columns:
            return read
        return read._replace(vectors=dense_columns({"train": table}, texts=False)["train"], trees=tree_columns(table))
    if info.task == "choice":
        return Reading(None, None, None, True, groups, options=Options(option_features(table), len(info.options)), order=order)
    compared = comparison_features(TextRows(table)) if info.task == "pair" else None
    features = simple_features(table) if compared is None else beside_words(text_features(TextRows(table)), compared)
    classes = len(info.labels)
    own = characters and info.task == "single" and classes <= WHOLE
    spelled = character_features(TextRows(table), max(classes, 1)) if own else None
    apart = svd_features({"train": table}, _PIXELS, seed=0)["train"] if info.images and characters else None
    return Reading(features, apart, None, info.task == "pair", groups, *alike, compared, characters=spelled, order=order)


@dataclass(frozen=True)
class Committee:
    """The committee's opinion of n examples.

    Attributes:
        probabilities: of all views together, out of sample, ``(n_examples, n_classes)``; rows sum to 1. Of many classes, each row's most
            probable ones.
        doubt: how doubtful each given label is, with a suggestion.
        fold: the fold of each row, ``(n_examples,)``.
        copies: how the labels of copies agree, where they were heard: of all, or of those that contradict one another.
    """

    probabilities: Shares
    doubt: Doubt
    fold: Integers
    copies: Copies | None = None


def committee_scores(
    data: Sequence[Row] | sparse.csr_array | None,
    labels: Ids,
    classes: Sequence[str],
    rng: np.random.Generator,
    *,
    folds: int | Ids = 5,
    vectors: Floats32 | None = None,
    trees: TreeColumns | None = None,
    known: Mapping[str, Shares] | None = None,
    apart: bool = False,
    groups: Integers | None = None,
    texts: Integers | None = None,
    same: Integers | None = None,
    compared: Floats32 | None = None,
    options: Options | None = None,
    labellers: Integers | None = None,
    characters: sparse.csr_array | None = None,
    order: Integers | None = None,
    progress: Progress | None = None,
) -> Committee:
    """Return out-of-fold class probabilities of every row and the doubt about its label.

    Cost: O(folds · classes · nnz); on one thread a second for 10,000 sentences, 40 s for 550,000 pairs of
    sentences in three classes, the features included; above ``kept_logits.WHOLE`` classes as
    ``many_classes`` says. Memory is bounded by blocks: 0.75 GB for those. Vectors: ``features.vector_models``.

    Args:
        data: texts, tuples of texts (fields), or a sparse matrix of features ≥ 0, ``(n_examples, n_features)``; None where words say
            nothing of the class.
        labels: label ids, ``(n_examples,)``.
        classes: class names; ``classes[i]`` is the name of label id ``i``.
        rng: draws the folds (and a sample of rows, above 20,000); nothing else is random.
        folds: number of folds, 2 or more, in which the classes are spread evenly; or the fold id of each row. A row of a class that
            no other fold has is scored by models that do not know the class: it is doubted.
        vectors: of an encoder that has not learnt from these labels, ``(n_examples, width)``.
        trees: of a table of features, what decision trees read of it.
        known: by name, class probabilities of each row by models that had not seen it, ``(n_examples, n_classes)``.
        apart: whether a row's label says how two texts relate, while words and vectors are of either text for itself.
        groups: group of each row from 0 on, ``(n_examples,)``, rows of which say nothing of each other (``linked_rows``), as no model
            may that read one of them; folds that are given must not divide one. None: each row is on its own.
        texts: a number for each row, equal for copies of one group (``linked_rows.row_copies``): their labels are heard when all models
            have spoken (``copies``), of at most ``WHOLE`` classes. None: they are not.
        same: a number for each row, equal for rows of the same words of which models may meet one to score another
            (``linked_rows.same_rows``): of their labels, where they differ, at most one is right; of at most ``WHOLE`` classes.
        compared: of pairs, how alike either's texts are (``features.comparison``), ``(n_examples, width)``; of at most ``WHOLE`` classes.
        options: of multiple choice, whose classes are the places of its options.
        labellers: who gave each label, a number, ``(n_examples,)`` (``labellers``); of at most ``WHOLE`` classes. None: nobody knows.
        characters: features of single texts beside their words (``features.text.character_features``), ``(n_examples, n_features)``; of
            at most ``WHOLE`` classes.
        order: where each row stands in the file (``careless``), ``(n_examples,)``; of at most ``WHOLE`` classes.
        progress: called with (folds done, folds), over all views; of many classes with (rows, of all).

    Raises:
        InputError: nothing to learn from (no rows, one class, blank texts, no view), labels, features, vectors or probabilities that do
            not fit, or more folds than rows.

    >>> texts = ["good fun", "a good film", "good plot"] * 4 + ["bad film", "a bad plot", "bad"] * 4
    >>> labels = np.array([1] * 12 + [0] * 11 + [1])
    >>> committee_scores(texts, labels, ["no", "yes"], np.random.default_rng(1)).doubt.score.argmax()
    np.int64(23)
    """
    given = _checked_labels(labels, classes)
    features = None if data is None else _checked_features(data, len(given))
    spelled = None if characters is None else _checked_features(characters, len(given))
    fold = assign_folds(given, folds, rng, groups) if isinstance(folds, int) else _checked_folds(folds, given)
    together = groups is not None
    copies = None if texts is None else copies_of(texts, given)
    if len(classes) > WHOLE and trees is None and (features is not None or vectors is not None or known):
        if vectors is not None:
            check_vectors(vectors, len(given))
        kept = shares_of_many(features, vectors, known or {}, given, len(classes), fold, rng, together=together, progress=progress)
        return Committee(kept, kept_doubt(kept, given), fold)
    fitted, number = sum(part is not None for part in (features, spelled, vectors, trees)), int(fold.max()) + 1
    views: list[View] = []
    if features is not None:
        shown = piece_of(progress, 0, fitted, number)
        name = WORDS if trees is None else _TEXTS
        views.append(words_view(features, given, len(classes), fold, rng, name=name, together=together, progress=shown))
    if spelled is not None:
        shown = piece_of(progress, len(views), fitted, number)
        own = partial(words_view, name="characters", penalties=OF_CHARACTERS, together=together, progress=shown)
        views.append(own(spelled, given, len(classes), fold, rng))
    if compared is not None:
        views.append(comparison_view(compared, given, len(classes), fold, rng))
        if vectors is not None:
            check_vectors(vectors, len(given))
            vectors = beside_vectors(vectors, compared)
    if vectors is not None:
        shown = piece_of(progress, fitted - 1 - int(trees is not None), fitted, number)
        shrunk = SHRINKAGES if trees is None else OF_COLUMNS
        views.append(vectors_view(vectors, given, len(classes), fold, rng, together=together, shrinkages=shrunk, progress=shown))
    if trees is not None:
        views.append(trees_view(trees, given, len(classes), fold, rng, progress=piece_of(progress, fitted - 1, fitted, number)))
    if options is not None:
        views.append(options_view(options.words, given, options.number, fold, rng))
        if options.vectors is not None:
            check_vectors(options.vectors, len(given))
            views.append(option_vectors_view(options.vectors, given, fold, rng))
    whole = {name: shares.dense() if isinstance(shares, KeptShares) else shares for name, shares in (known or {}).items()}
    views += [known_view(name, shares, given, rng) for name, shares in whole.items()]
    if not views:
        raise InputError("neither texts nor vectors nor probabilities are given, so no label can be doubted; give one of them.")
    probabilities = combine(views, given, rng)
    met = None if same is None else contradicting_copies(same, given)
    alike = trees is not None and mostly_alike(trees)
    doubt = label_doubt(
        probabilities,
        given,
        alike=alike,
        apart=apart,
        rare_first=trees is None and not apart,
        copies=copies,
        met=met,
        labellers=labellers,
        order=order,
    )
    return Committee(probabilities, doubt, fold, met if copies is None else copies)


def _checked_labels(labels: Ids, classes: Sequence[str]) -> Integers:
    if len(labels) == 0:
        raise InputError("there are no rows to score; give at least two of each class.")
    outside = (labels < 0) | (labels >= len(classes))
    if outside.any():
        row = int(outside.argmax())
        raise InputError(f"row {row + 1} has label id {labels[row]}, but there are {len(classes)} classes: ids 0 to {len(classes) - 1}.")
    present = np.unique(labels)
    if len(present) < 2:
        raise InputError(
            f"all {counted(len(labels), 'row')} have the label {classes[present[0]]!r}; without a second class no label can be doubted."
        )
    return labels.astype(np.intp)


def _checked_features(data: Sequence[Row] | sparse.csr_array, n_examples: int) -> sparse.csr_array:
    number = int(cast(Any, data).shape[0]) if sparse.issparse(data) else len(data)
    if number != n_examples:
        raise InputError(f"there are {counted(number, 'row')} of data and {n_examples:,} labels; give one label per row.")
    if not sparse.issparse(data):
        return text_features(cast(Sequence[Row], data))
    features = sparse.csr_array(data, dtype=np.float32)
    if not np.isfinite(features.data).all() or (features.data < 0).any():
        raise InputError("the features hold a negative or infinite value, but counts or TF-IDF weights ≥ 0 are needed.")
    return features


def _checked_folds(folds: Ids, labels: Integers) -> Integers:
    if folds.shape != labels.shape or folds.min() != 0 or len(np.unique(folds)) != folds.max() + 1 or folds.max() < 1:
        raise InputError("`folds` must hold one fold id per row, from 0 on, each in use, two or more; or be a number of folds.")
    return folds.astype(np.intp)

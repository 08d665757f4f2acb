"""Labels that are probably wrong, most doubtful first, from class probabilities by models that never saw the row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cartograph.data.arrays import Floats, Integers, Integers32
from cartograph.data.given import label_ids, numbers_of
from cartograph.data.kept_logits import WHOLE, KeptShares
from cartograph.data.linked_rows import linked_texts, named_by
from cartograph.errors import InputError
from cartograph.features.comparison import comparison_features
from cartograph.features.text import Row, character_features
from cartograph.suspects.committee import committee_scores
from cartograph.suspects.label_doubt import PSEUDO_ROWS, label_doubt


@dataclass(frozen=True)
class Suspects:
    """Which labels are doubted, and how much.

    Attributes:
        rows: (n_suspects,) places of the rows whose score is at least the threshold, the most doubtful first.
        score: (n_examples,) estimated probability that the given label is wrong, in [0, 1]; higher = more suspect.
        suggested: (n_examples,) the most probable class other than the given one.
    """

    rows: Integers
    score: Floats
    suggested: Integers32


def find_suspects(
    labels: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    *,
    labelled_by: Sequence[Hashable] | None = None,
    threshold: float = 0.5,
    pseudo_rows: float = PSEUDO_ROWS,
) -> Suspects:
    """Rank rows by how doubtful their labels are.

    The score weighs a row's class probabilities with an estimate of how often each class is mistaken for each other, read off the rows
    that the models are surest about (see ``cartograph.suspects.label_doubt``; Natarajan et al., NeurIPS 2013; Patrini et al., CVPR 2017).
    It is only as good as the probabilities: they should be calibrated, and no model may have been trained on the rows that it scores.
    Where they are sure of too few rows, or contradict too many of those that they are surest about, hard rows and wrong labels cannot be
    distinguished: scores only rank, and those above the threshold are not more likely wrong than not.

    Args:
        labels: (n_examples,) given label ids, integers in [0, n_classes).
        probabilities: (n_examples, n_classes) out-of-sample class probabilities; each in [0, 1], rows sum to 1. As for texts
            ``out_of_fold_probabilities`` makes them, or scikit-learn's ``cross_val_predict(…, method="predict_proba")`` for anything.
        labelled_by: (n_examples,) who gave each label, such as a name; None, an empty text or NaN where nobody knows. Labels of somebody
            who contradicts the probabilities more often than others do are doubted more.
        threshold: score from which on a row is a suspect, in [0, 1]; 0 ranks all rows.
        pseudo_rows: > 0; how many rows of evenly wrong labels the estimate starts from.

    Raises:
        InputError: labels that are no integers or outside the classes, probabilities that are negative or do not sum to 1, shapes
            that do not fit, or a number out of range.

    >>> suspects = find_suspects([0, 0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.9, 0.1]], threshold=0.0)
    >>> suspects.rows.tolist()[0], suspects.suggested.tolist()[3]
    (3, 0)
    """
    given, shares = label_ids(labels), numbers_of(probabilities, "probabilities")
    if not 0 <= threshold <= 1:
        raise InputError(f"threshold must be in [0, 1], but is {threshold}; it is the probability from which on a label is doubted.")
    who = None if labelled_by is None else named_by(labelled_by, len(given), "names of who labelled")
    doubt = label_doubt(shares, given, pseudo_rows=pseudo_rows, labellers=who)
    order = np.argsort(-doubt.score, kind="stable")
    return Suspects(order[doubt.score[order] >= threshold], doubt.score, doubt.suggested)


def out_of_fold_probabilities(
    texts: Sequence[Row],
    labels: npt.ArrayLike,
    *,
    vectors: npt.ArrayLike | None = None,
    linked: Sequence[Hashable] | None = None,
    folds: int = 5,
    seed: int = 13,
) -> Floats:
    """Return class probabilities of texts by cheap models that never saw the row, ``(n_examples, n_classes)``.

    They are what ``find_suspects`` takes. The models are logistic regressions fitted on the other folds and naive Bayes fitted on all
    other rows, on TF-IDF weights of words and pairs of words and, of single texts without vectors, of their characters; on vectors, where
    there are some, discriminants and nearest neighbours; what they say is mixed (see ``cartograph.suspects.views``). Tuples that share a
    text are held out together, and so are rows that are linked. Texts take a second for 10,000 sentences, some 40 for 500,000 pairs.

    Args:
        texts: (n_examples,) texts, or tuples of texts such as (premise, hypothesis).
        labels: (n_examples,) label ids from 0 on.
        vectors: (n_examples, width) of an encoder that has not learnt from these labels; with them far more errors are found.
        linked: (n_examples,) what links rows, such as the name of a patient, a speaker or a document; a row of None, an empty
            text or NaN stands alone.
        folds: number of folds, 2 or more.
        seed: of the folds; the same seed gives the same probabilities.

    Raises:
        InputError: no rows, one class, texts that are blank or no texts, labels that are no integers from 0 on, labels, vectors or links
            that do not fit, or more folds than rows.

    >>> texts = ["good fun", "a good film", "good plot"] * 4 + ["bad film", "a bad plot", "bad"] * 4
    >>> labels = [1] * 12 + [0] * 11 + [1]
    >>> find_suspects(labels, out_of_fold_probabilities(texts, labels)).score.argmax()
    np.int64(23)
    """
    _require_texts(texts)
    given = label_ids(labels)
    names = [str(label) for label in range(int(given.max(initial=-1)) + 1)]
    read = None if vectors is None else numbers_of(vectors, "vectors").astype(np.float32, copy=False)
    named = None if linked is None else named_by(linked, len(given))
    rng, groups = np.random.default_rng(seed), linked_texts(texts, named, given)
    compared = comparison_features(texts)
    characters = character_features(texts, len(names)) if read is None and len(names) <= WHOLE else None
    found = committee_scores(
        texts, given, names, rng, folds=folds, vectors=read, groups=groups, compared=compared, characters=characters
    ).probabilities
    return found.dense() if isinstance(found, KeptShares) else found


def _require_texts(rows: Sequence[Row]) -> None:
    for number, row in enumerate(rows, start=1):
        parts = row if isinstance(row, tuple | list) else (row,)
        wrong = next((part for part in parts if not isinstance(part, str)), None)
        if wrong is not None:
            raise InputError(
                f"row {number} of the texts is of the type {type(wrong).__name__}; give strings, or tuples of strings. Numbers beside "
                "texts are `vectors`; of a table `cartograph.audit(frame, features=True, label=…)` reads them."
            )

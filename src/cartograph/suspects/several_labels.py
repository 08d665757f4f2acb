"""How doubtful each label of a row is where a row has several, each a yes or no of its own.

Each label has a committee of its own on features that are read once (``suspects.committee``). Two things are shared besides.

What a row's other labels say (``label_stack``). A label's own committee and this count half each: where labels follow from one another it
finds far more, where they do not it costs little (``benchmarks/multilabel.py``).

How labels go wrong: from a rare label alone little can be read. So a label's doubt is the mean, in log odds, of the doubt that its own
rows show and of the doubt from all decisions together, taken for one set of yes and no. Where a label's models explain nothing of it, the
latter stands alone. That makes the doubts of different labels comparable, so that one list ranks them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cartograph.data.arrays import Floats, Ids
from cartograph.data.folds import assign_folds
from cartograph.data.progress import Progress, piece_of
from cartograph.dynamics.decisions import NAMES
from cartograph.errors import InputError
from cartograph.features.tables import mostly_alike
from cartograph.ingest.label_rows import FEWEST
from cartograph.suspects.committee import Committee, Reading, committee_scores
from cartograph.suspects.detector import prior_offset, sigmoid
from cartograph.suspects.how_many import WrongLabels
from cartograph.suspects.label_doubt import EXPLAINED, FEWEST_ROWS, NOTHING, Doubt, Unknown, label_doubt
from cartograph.suspects.label_stack import stacked

FOLDS = FEWEST
"""Folds of each label, in which its yes and its no are spread evenly; a label needs as many of both."""

_LEAST = 1e-4


@dataclass(frozen=True)
class SeveralDoubts:
    """How doubtful each label of each row is.

    Attributes:
        probabilities: of yes, out of fold, ``(n_examples, n_labels)``.
        score: probability that the given yes or no is wrong, ``(n_examples, n_labels)``; comparable between labels.
        labels: of each label what its own rows show; ``score`` and ``wrong`` are those of both views.
        together: of all decisions as one set.
    """

    probabilities: Floats
    score: Floats
    labels: tuple[Doubt, ...]
    together: Doubt


def several_doubts(reading: Reading, given: Ids, names: Sequence[str], seed: int, progress: Progress | None = None) -> SeveralDoubts:
    """Return the doubt about every label of every row.

    Cost: of one committee a label (``committee_scores``), and two small logistic regressions per label and fold.

    Args:
        reading: what the committees read of the rows, as ``committee.reading_of`` returns it.
        given: 0 and 1, ``(n_examples, n_labels)``; each label with ``FOLDS`` rows of either at least.
        names: of the labels, for messages.
        seed: of the folds.
        progress: called with (folds done, folds), over all labels.

    Raises:
        InputError: a label with fewer yes or no than folds, or as ``committee_scores``.
    """
    few = np.minimum(given.sum(axis=0), len(given) - given.sum(axis=0))
    if not len(few) or few.min() < FOLDS:
        which = f"label {names[int(few.argmin())]!r} has {int(few.min())}" if len(few) else "there is no label"
        raise InputError(f"{which} rows of yes or of no; {FOLDS} of both are needed to doubt any of them.")
    committees = [
        _committee(reading, given[:, label], np.random.default_rng([seed, 3, label]), piece_of(progress, label, len(names), FOLDS))
        for label in range(given.shape[1])
    ]
    own = np.stack([np.asarray(committee.probabilities)[:, 1] for committee in committees], axis=1)
    alike = reading.trees is not None and mostly_alike(reading.trees)
    found = _doubts(own, given, alike, reading.apart)
    if len(names) == 1:
        return found
    weak = found.together.explained < EXPLAINED
    stack = stacked(log_odds(own), found.score, given, [committee.fold for committee in committees], seed, weak=weak)
    return _doubts(sigmoid((log_odds(own) + log_odds(stack)) / 2.0), given, alike, reading.apart)


def _committee(reading: Reading, given: Ids, rng: np.random.Generator, progress: Progress | None) -> Committee:
    fold = assign_folds(given, FOLDS, rng, reading.groups)
    return committee_scores(
        reading.data,
        given,
        NAMES,
        rng,
        folds=fold,
        vectors=reading.vectors,
        trees=reading.trees,
        apart=reading.apart,
        groups=reading.groups,
        characters=reading.characters,
        progress=progress,
    )


def _doubts(yes: Floats, given: Ids, alike: bool, apart: bool) -> SeveralDoubts:
    shares = np.stack([1.0 - yes, yes], axis=2)
    together = label_doubt(shares.reshape(-1, 2), given.ravel(), alike=alike, apart=apart, missed=True)
    if together.explained < NOTHING:
        together = replace(together, score=1.0 - np.where(given == 1, yes, 1.0 - yes).ravel())
    if together.unknown == "roughly known":
        # The scores are shifted as where nothing is known.
        together = replace(together, unknown="little explained")
    all_of_them = together.score.reshape(given.shape)
    labels = tuple(label_doubt(shares[:, label], given[:, label], alike=alike, apart=apart, missed=True) for label in range(given.shape[1]))
    alone = np.stack([doubt.score if doubt.explained >= NOTHING else all_of_them[:, label] for label, doubt in enumerate(labels)], axis=1)
    odds = (log_odds(alone, 1e-9) + log_odds(all_of_them, 1e-9)) / 2.0
    unknown = np.array([doubt.unknown is not None for doubt in labels])
    if together.wrong is None and unknown.any():
        # One shift for all of these, so that the order of their suspects stays.
        why: Unknown = "much noise" if together.unknown == "much noise" else "few rows"
        odds[:, unknown] += prior_offset(odds[:, unknown].ravel(), why)
    score = sigmoid(odds)
    of_labels = tuple(
        replace(doubt, score=score[:, label], wrong=_around(doubt.wrong, float(score[:, label].sum())))
        for label, doubt in enumerate(labels)
    )
    if len(given) < FEWEST_ROWS:
        # Labels of one row stand and fall together, so that many of them make no more rows.
        together = replace(together, wrong=None, unknown=together.unknown or "few rows")
    summed = replace(together, score=score.ravel(), wrong=_around(together.wrong, float(score.sum())))
    return SeveralDoubts(yes, score, of_labels, summed)


def _around(wrong: WrongLabels | None, expected: float) -> WrongLabels | None:
    if wrong is None:
        return None
    ends = (max(end, expected) for end in (wrong.high, wrong.scattered, wrong.most))
    return WrongLabels(expected, min(wrong.low, expected), *ends)


def log_odds(probabilities: Floats, least: float = _LEAST) -> Floats:
    """Return log(p / (1 − p)), probabilities held at ``least`` and 1 − ``least``."""
    held = np.clip(probabilities, least, 1.0 - least)
    odds: Floats = np.log(held / (1.0 - held))
    return odds

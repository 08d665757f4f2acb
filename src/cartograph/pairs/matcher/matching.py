"""A trained matcher applied to records that it has not seen: which pairs match, how surely, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cartograph.data.arrays import Array, Bools, Floats, Floats32, Integers
from cartograph.pairs.estimate import POSITIVE, Sample, curve
from cartograph.pairs.matcher.blocked import block
from cartograph.pairs.matcher.features import MISSING, WHOLE, Features
from cartograph.pairs.matcher.model import Matcher, probability
from cartograph.pairs.matcher.records import Records
from cartograph.pairs.models.learner import UtteranceVectors
from cartograph.pairs.pair_space import PairSpace

_LIKENESS = ("words in any order", "digits", "amount")
_LEARNT_NEIGHBOURS = 20


@dataclass(frozen=True)
class Matches:
    """Scored pairs, the likeliest first; of one likelihood, in the order of the records.

    Attributes:
        left: (n,) rows of the left records.
        right: (n,) rows of the right records.
        score: (n,) calibrated log odds of being a match.
        reasons: (n,) how alike each field is, in words.
    """

    left: Integers
    right: Integers
    score: Floats
    reasons: tuple[str, ...]

    @property
    def probability(self) -> Floats:
        """(n,) probability of being a match, in [0, 1]."""
        return probability(self.score)

    def only(self, kept: Bools | Integers) -> Matches:
        """Return some of the pairs, in their order."""
        places = np.arange(len(self.left))[kept]
        return Matches(self.left[places], self.right[places], self.score[places], tuple(self.reasons[place] for place in places.tolist()))


def match_records(
    matcher: Matcher,
    records: Records,
    k: int,
    least: float,
    *,
    encoder: UtteranceVectors | None = None,
    learnt: UtteranceVectors | None = None,
    tell: Callable[[int, int], None] = lambda _, __: None,
) -> Matches:
    """Return the pairs of records that a matcher takes for matches.

    Term weights, and how a pair stands among its rivals, are those of these records; labels are not needed.

    Args:
        matcher: trained, or label-free.
        records: both sides; where they are one set, a pair comes once.
        k: candidates of each left record by each kind of similarity, at least 1; pairs that none proposes are never matches.
        least: smallest log odds of a match.
        encoder: the encoder's vectors, where the matcher was trained with them.
        learnt: vectors that the matcher learnt, where it did.
        tell: as ``block`` calls it.

    Raises:
        InputError: the records lack fields that the matcher reads.
    """
    features = Features(records, None if encoder is None else {"encoder": (encoder.left, encoder.right)})
    rows = np.arange(len(records.left), dtype=np.int64)
    right = rows if records.symmetric else np.arange(len(records.right), dtype=np.int64)
    space = PairSpace(rows, right, len(records.right), records.symmetric)
    blocked = block(space, len(records.left), features, k, tell)
    if learnt is not None:
        blocked = blocked.with_vectors(learnt, _LEARNT_NEIGHBOURS, features)
    score = matcher.score(blocked)
    kept = np.flatnonzero((score >= least) & blocked.blocked)
    kept = kept[np.lexsort((blocked.keys[kept], -score[kept]))]
    one, other = space.pairs(blocked.keys[kept])
    return Matches(one, other, score[kept], _reasons(blocked.names, blocked.table[kept]))


def _reasons(names: tuple[str, ...], table: Floats32) -> tuple[str, ...]:
    """Return how alike each field is: ``name 0.93; price 1.00``; ``differs``, ``is missing`` where that is so."""
    places = [(name, *name.split(": ", 1)) for name in names]
    fields = list(dict.fromkeys(field for _, field, kind in places if kind in _LIKENESS))
    shown = [field for field in fields if field != WHOLE] or fields
    columns = {field: next((name, kind) for name, own, kind in places if own == field and kind in _LIKENESS) for field in shown}
    parts: list[list[str]] = []
    for field, (name, kind) in columns.items():
        values = table[:, names.index(name)].astype(np.float64)
        alike = np.where(values == MISSING, MISSING, np.clip(1.0 - values, 0.0, 1.0) if kind == "amount" else values)
        parts.append([f"{field} is missing" if value == MISSING else f"{field} {value:.2f}" for value in alike.tolist()])
    return tuple("; ".join(row) for row in zip(*parts, strict=True))


def one_to_one(matches: Matches, *, symmetric: bool) -> Bools:
    """Return (n,) which pairs stay where each record has one partner at most: the likeliest first, as long as both records are free.

    This is the unique mapping clustering of Papadakis et al. 2021 (*Blocking and Filtering Techniques for Entity Resolution*, §7).

    Args:
        matches: the likeliest first.
        symmetric: whether both sides are one set.
    """
    taken_left: set[int] = set()
    taken_right = taken_left if symmetric else set()
    kept = np.zeros(len(matches.left), bool)
    for place, (one, other) in enumerate(zip(matches.left.tolist(), matches.right.tolist(), strict=True)):
        if one not in taken_left and other not in taken_right:
            kept[place] = True
            taken_left.add(one)
            taken_right.add(other)
    return kept


@dataclass(frozen=True)
class Threshold:
    """From which score on pairs are taken for matches, and what that gave on labelled pairs.

    Attributes:
        score: the smallest.
        precision: share of the pairs at or above it that are positive, in [0, 1]; nan where nothing is known.
        recall: share of the positives that are at or above it, in [0, 1]; nan where nothing is known.
        positives: how many there were.
    """

    score: float
    precision: float = float("nan")
    recall: float = float("nan")
    positives: int = 0


def among_more(sample: Sample, measured: int, matched: int) -> Sample:
    """Return a split's sample as it stands for a match in which each record has more candidates: its negatives represent more pairs.

    A record has as many partners among all records as in a split that parts no positive pair, but meets more others that look like one:
    a threshold that is precise in a quarter of a table is less so in the whole.

    Args:
        sample: of the split.
        measured: right records of the split.
        matched: right records of the match; where they are fewer, the sample stays as it is.
    """
    share = max(1.0, matched / max(measured, 1))
    return replace(sample, weight=np.where(sample.kind == POSITIVE, 1.0, share) * sample.weight)


def threshold_at(sample: Sample, scores: Array, least: float) -> Threshold:
    """Return what taking the pairs from a score on gives on a split's sample.

    Args:
        sample: of the split.
        scores: (n,) of its pairs.
        least: the score.
    """
    taken = scores >= least
    hits = float(sample.weight[taken & (sample.kind == POSITIVE)].sum())
    whole = float(sample.weight[taken].sum())
    return Threshold(least, hits / whole if whole else float("nan"), hits / max(sample.positives, 1), sample.positives)


def threshold_for(sample: Sample, scores: Array, precision: float) -> Threshold | None:
    """Return the threshold with the highest recall whose precision is at least this; None where none is.

    Args:
        sample: of a split that the matcher was not trained on.
        scores: (n,) of its pairs.
        precision: asked for, in (0, 1].
    """
    found = curve(sample, scores)
    enough = np.flatnonzero(found.precision >= precision)
    if not len(enough):
        return None
    place = int(enough[-1])
    return Threshold(float(found.score[place]), float(found.precision[place]), float(found.recall[place]), sample.positives)

"""Rows seen through the noise that the surest of them show, and whether models know every class though they explain hardly anything."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cartograph.data.arrays import Floats, Integers
from cartograph.data.unknown_classes import KNOWN, SURELY_RIGHT
from cartograph.suspects.anchors import anchor_counts, anchor_share, contradicting
from cartograph.suspects.given_labels import GivenLabels, posterior

ANCHORS, ANCHOR_ROWS, MOST_ANCHORS = 0.1, 100, 0.3
"""Least share of the rows predicted as a class, the surest first, that T is read off; in small sets more, for so many rows, up to a share,
and beyond it where that promises a smaller error (``anchor_share``)."""

KNOWN_SHARE, LEAST_OWN, MOST_CONTRADICTED, MOST_UNCLEAR = 0.02, 0.3, 0.25, 0.27
"""Unless models know every class: of that many of its rows at least they are sure that the label is right (``data.unknown_classes``),
having given it such a probability; no more of the surest rows have another label; and seen through the noise no more rows are unclear (no
class at .9). Where a fifth of all labels is wrong, most rows that have the label of a rare class are of another, and the labels' entropy is
explained to .01 though the rare class is known well. Chosen on uneven texts and tables with planted errors (31 are let in, and the interval
holds in all) and on 80 weak signals whose labels are right: three are let in, of which a part of the class is plain and all the rest as the
other class, which nobody can tell from wrong labels."""


class Seen(NamedTuple):
    """Rows seen through the noise that their surest ones show.

    Attributes:
        share: of the rows predicted as a class, those that the noise is read off.
        anchors: how often these have each label, ``(n_classes, n_classes)``.
        transition: T[y, z], share of the rows of true class y that are labelled z, ``(n_classes, n_classes)``.
        true_classes: probabilities of the true classes, ``(n_examples, n_classes)``.
        updated: the same with what the labels of copies say.
        score: probability that each given label is wrong, ``(n_examples,)``.
    """

    share: float
    anchors: Floats
    transition: Floats
    true_classes: Floats
    updated: Floats
    score: Floats


def seen_through(weighed: GivenLabels, known: Floats) -> Seen:
    """Return the rows seen through the noise; ``known``: class probabilities of the given labels, ``(n_examples, n_classes)``."""
    least = min(max(ANCHORS, ANCHOR_ROWS / len(known)), MOST_ANCHORS)
    share = anchor_share(known, least) if least > ANCHORS else least
    anchors = anchor_counts(*weighed.anchorable, share)
    transition = weighed.transition(anchors)
    true_classes = weighed.true_classes(transition)
    updated = weighed.heard_copies(true_classes, transition)
    return Seen(share, anchors, transition, true_classes, updated, posterior(updated, transition, weighed.labels))


def every_class_known(seen: Seen, known: Floats, given: Integers) -> bool:
    """Return whether models know every class, though hardly any of the labels' entropy is explained (``KNOWN_SHARE``)."""
    rows, own = np.bincount(given, minlength=len(seen.anchors)), known[np.arange(len(given)), given]
    surely = np.bincount(given[(seen.score < SURELY_RIGHT) & (own >= LEAST_OWN)], minlength=len(seen.anchors))
    if (surely < np.maximum(KNOWN, KNOWN_SHARE * rows)).any():
        return False
    contradicted, surest = contradicting(seen.anchors)
    unclear = float((seen.true_classes.max(axis=1) < 1.0 - SURELY_RIGHT).mean())
    return contradicted <= MOST_CONTRADICTED * surest and unclear <= MOST_UNCLEAR

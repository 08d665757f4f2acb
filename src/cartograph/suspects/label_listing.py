"""The suspects among the labels of rows that have several: which yes and no are probably wrong, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Bools, Floats, Ids, Integers
from cartograph.data.kept_logits import Logits
from cartograph.dynamics.decisions import NAMES
from cartograph.maps.measures import Measures, Uids
from cartograph.suspects.committee import Committee
from cartograph.suspects.detector import untested_committee
from cartograph.suspects.label_doubt import Doubt
from cartograph.suspects.listing import Evidence, mean_probabilities, suspects_table
from cartograph.suspects.several_labels import SeveralDoubts

UNPREDICTED = ("little explained", "roughly known", "hard rows")
"""Why it is not known of a label how many of its answers are wrong, where that of all labels does not help."""


def decision_suspects(
    uids: Uids,
    given: Ids,
    first: Integers,
    measures: Measures,
    logits: Logits,
    yes: Floats,
    score: Floats,
    doubt: Doubt,
    threshold: float,
) -> pa.Table:
    """Return ``schema.NOISE`` of decisions, each array ``(n_decisions, …)``.

    Args:
        uids: of the decisions.
        given: 0 or 1.
        first: the class of a no to the decision's label, where that of a yes is the next.
        measures: of their map.
        logits: of no and yes, ``(n_decisions, n_epochs, 2)``.
        yes: probability of a yes by models that did not see the row.
        score: probability that the given answer is wrong.
        doubt: of these decisions as one set.
        threshold: probability from which on one is a suspect.
    """
    shares = np.stack([1.0 - yes, yes], axis=1)
    committee = Committee(shares, replace(doubt, score=score), np.zeros(len(given), dtype=np.int64))
    evidence = Evidence(given, NAMES, measures, mean_probabilities(logits), logits.shape[1], committee)
    table = suspects_table(uids, untested_committee(evidence.columns, None), evidence, shares, threshold=threshold)
    suggested = pa.array(table["suggested"].to_numpy() + first, pa.int32())
    return table.set_column(table.schema.get_field_index("suggested"), table.schema.field("suggested"), suggested)


def known_labels(doubts: SeveralDoubts) -> Bools:
    """Return of which labels it is known how many answers are wrong, of their own or of all together, ``(n_labels,)``.

    The number of all together says nothing of a label that models cannot predict (``UNPREDICTED``). Of 3,000 films by seven genres, of
    which year and length say little, 30 answers about comedy would be changed, 8 of them rightly; of four genres that models predict 185
    of 202.
    """
    whole = doubts.together.wrong is not None
    return np.array([doubt.wrong is not None or (whole and doubt.unknown not in UNPREDICTED) for doubt in doubts.labels])


def wrong_of(doubts: Sequence[Doubt]) -> list[tuple[float | None, float, float] | None]:
    """Return of each label how many of its answers are wrong, with both ends of an interval.

    Without a number where only the interval is known, None where that is not known either.
    """

    def of(doubt: Doubt) -> tuple[float | None, float, float] | None:
        if doubt.wrong is not None:
            return doubt.wrong.expected, doubt.wrong.low, doubt.wrong.high
        return None if doubt.between is None else (None, doubt.between.low, doubt.between.high)

    return [of(doubt) for doubt in doubts]

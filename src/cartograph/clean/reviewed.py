"""What people's decisions say of the labels: how many of those that they looked at they changed, and what is left of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.clean.cleaning import Recipe
from cartograph.clean.decisions import Decision
from cartograph.clean.review_sheet import down_the_list
from cartograph.data.arrays import Bools, Floats, Integers
from cartograph.schema import NOISE, UID, schema_of
from cartograph.statistics.gathered import if_gathered
from cartograph.statistics.recalibration import Estimate, no_surer, recalibrate

DECIDED = schema_of({UID: "string", "changed": "bool"})
"""``data/clean/decided.parquet``: the rows that people decided about, and whether they changed the label or dropped the row."""

_LAST, _FEWEST = 20, 3
"""Of how many of the last labels down the list it is asked whether most were wrong, at most and at least."""


@dataclass(frozen=True)
class Reviewed:
    """What people looked at, and how many labels of the other rows are wrong.

    Attributes:
        rows: how many labels people decided about.
        changed: how many of them they changed, or dropped with their rows.
        decided: which of the rows those are, ``(n_examples,)``.
        expected, low, high: how many of the others are wrong, with an interval, both by what people found; None where that cannot be
            estimated.
        scattered: upper end if errors do not gather on hard rows; None as above.
        contradicted: ``more`` or ``fewer`` where people changed more or fewer of the labels that they looked at than the interval, taken of
            these, allows, or more of the last ones down the list than their probabilities do; else None.
        foreseen: how many of the labels that people looked at were estimated to be wrong; None as above.
        open_wrong: how many of the suspects that nobody decided about are wrong, by what people found; None as above.
    """

    rows: int
    changed: int
    decided: Bools
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    scattered: float | None = None
    contradicted: Literal["more", "fewer"] | None = None
    foreseen: float | None = None
    open_wrong: float | None = None


def decided_table(decisions: Mapping[str, Decision], given: Mapping[str, str]) -> pa.Table:
    """Return which rows people decided about (``DECIDED``), sorted by uid.

    Args:
        decisions: uid -> decision.
        given: uid -> the label that the row has.
    """
    uids = sorted(decisions)
    changed = [decisions[uid].outcome(given[uid]) != given[uid] for uid in uids]
    return pa.table([pa.array(uids, pa.string()), pa.array(changed, pa.bool_())], schema=DECIDED)


def reviewed(noise: pa.Table, decided: pa.Table, wrong: Mapping[str, Any] | None) -> Reviewed | None:
    """Return what people looked at, and what is left; None where they decided about no row.

    The number of the others is by their probabilities as what people found says that these are to be read (``recalibration``).

    Args:
        noise: the suspects (``schema.NOISE``), in any order.
        decided: ``DECIDED``, of some of these rows.
        wrong: how many labels are wrong, with ``expected``, ``low``, ``high``, ``scattered`` and ``most``; None where that cannot be
            estimated.
    """
    if not decided.num_rows:
        return None
    rows = _places(noise, decided)
    looked = np.zeros(noise.num_rows, bool)
    looked[rows] = True
    found_wrong = decided["changed"].to_numpy(zero_copy_only=False)
    changed = int(np.count_nonzero(found_wrong))
    if wrong is None or not wrong["expected"]:
        return Reviewed(len(rows), changed, looked)
    probability = noise["probability"].to_numpy()
    foreseen = float(probability[looked].sum())
    before = Estimate(*(float(wrong.get(end, wrong["high"])) for end in ("expected", "low", "scattered", "most")))
    read = recalibrate(probability[rows], found_wrong)
    left, low, scattered = read.number(probability[~looked], before, changed)
    high = scattered
    if before.scattered < float(wrong["high"]):
        # Rows down the list are those that the models predict least, and say nothing of hard rows below it.
        high = if_gathered(left, scattered, max(before.most - len(rows), scattered), noise.num_rows - len(rows))
    open_wrong = float(read.probability(probability[~looked & noise["flagged"].to_numpy(zero_copy_only=False)]).sum())
    below, above = before.low / before.expected, before.scattered / before.expected
    # By chance alone, people may find two standard errors more or fewer.
    chance = 2.0 * float(np.sqrt((probability[looked] * (1.0 - probability[looked])).sum()))
    side: Literal["more", "fewer"] | None = None
    last, _ = _last_of_list(noise, decided)
    of_last = probability[list(last)]
    # The whole may hide what its last rows show: the surest ones are as wrong as they look.
    by_chance = 2.0 * float(np.sqrt((of_last * (1.0 - of_last)).sum()))
    if changed > foreseen * above + chance or np.count_nonzero(list(last.values())) > float(of_last.sum()) + by_chance + 1.0:
        side = "more"
    elif changed < foreseen * below - chance:
        side = "fewer"
    return Reviewed(len(rows), changed, looked, left, low, high, scattered, side, foreseen, open_wrong)


def as_people_found(noise: pa.Table, decided: pa.Table) -> Floats:
    """Return how likely each label is wrong, for changes that no person makes (``recalibration.no_surer``), in the order of ``noise``.

    Args:
        noise: the suspects (``schema.NOISE``), in any order.
        decided: ``DECIDED``, of some of these rows.
    """
    return no_surer(noise["probability"].to_numpy(), _places(noise, decided), decided["changed"].to_numpy(zero_copy_only=False))


def errors_go_on(noise: pa.Table, decided: pa.Table) -> str:
    """Return that errors go on below the list, as a sentence: people decided about all of it, and changed most of its last labels.

    Rows below the list that they decided about as well, without a gap, count as its last ones. Empty where it is not so, or not known.

    Args:
        noise: the suspects (``schema.NOISE``), in any order.
        decided: ``DECIDED``, of some of these rows.
    """
    last, more = _last_of_list(noise, decided)
    changed = int(np.count_nonzero(list(last.values())))
    if not more or len(last) < _FEWEST or 2 * changed < len(last):
        return ""
    return f"People changed {changed} of the last {len(last)} labels down the list: errors go on below it."


def _places(noise: pa.Table, decided: pa.Table) -> Integers:
    rows: Integers = pc.index_in(decided[UID].combine_chunks(), noise[UID].combine_chunks()).to_numpy(zero_copy_only=False)
    return rows


def _last_of_list(noise: pa.Table, decided: pa.Table) -> tuple[dict[int, bool], bool]:
    """Return the places of the last rows down the list, and whether people changed their labels; and whether rows are left below them.

    None where people have not decided about all of the list.
    """
    changed = dict(zip(decided[UID].to_pylist(), decided["changed"].to_pylist(), strict=True))
    asked, listed = down_the_list(noise), noise["flagged"].to_numpy(zero_copy_only=False)
    found = [changed.get(uid) for uid in noise[UID].take(pa.array(asked)).to_pylist()]
    end = found.index(None) if None in found else len(found)
    if end < np.count_nonzero(listed):
        return {}, False
    start = max(end - _LAST, 0)
    return {row: bool(one) for row, one in zip(asked[start:end].tolist(), found[start:end], strict=True)}, end < len(found)


def all_by_people(changes: pa.Table, *, weighted: bool) -> int:
    """Return how many changes people made, if no others were made and no row is weighted; else 0.

    Args:
        changes: ``schema.CHANGES``.
        weighted: whether the cleaned rows count differently.
    """
    recipes = {f"recipe {recipe}" for recipe in get_args(Recipe)}
    people = sum(by not in recipes for by in changes["by"].to_pylist())
    return 0 if weighted or people < changes.num_rows else people


def open_suspects(noise: pa.Table, decided: pa.Table) -> pa.Table:
    """Return the list (``schema.NOISE``) without flags on rows that people decided about, who know better."""
    there = set(decided[UID].to_pylist())
    looked = np.array([uid in there for uid in noise[UID].to_pylist()], bool)
    flagged = noise["flagged"].to_numpy(zero_copy_only=False) & ~looked
    return noise.set_column(noise.schema.get_field_index("flagged"), NOISE.field("flagged"), pa.array(flagged))

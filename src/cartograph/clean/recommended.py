"""Which way of cleaning a train set is recommended: compared by cross-validation where it is estimated how many labels are wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.clean.arms import Again, Arm, ArmChoice, choose_arm, kept_as_it_is, rows_changed
from cartograph.clean.cleaning import Cleaning, aligned
from cartograph.clean.decisions import Decision
from cartograph.data.arrays import Integers
from cartograph.data.linked_rows import row_groups
from cartograph.data.progress import Progress
from cartograph.errors import GateError
from cartograph.features.options import option_features
from cartograph.features.simple import simple_features
from cartograph.features.tables import tree_columns
from cartograph.schema import LABEL, UID, dataset_info
from cartograph.statistics.determined import well_determined
from cartograph.statistics.recalibration import no_surer

WEIGHABLE = ("little explained", "roughly known", "much noise")
"""Why the number of wrong labels is not known where rows may be weighted by how doubtful their labels are. Those of a table also where they
are too few for a number: of tables of 250 rows, twelve with planted errors that were weighted gained 2.8 points on average by three models
(1.6 where cleanlab's list was dropped), two without errors .6; of texts nothing is gained."""


MOST_ROWS = 10_000
"""Of a larger train set a sample of so many rows is compared on."""


def doubted_again(
    among: Callable[[Integers], pa.Table],
    examples: pa.Table,
    decisions: Mapping[str, Decision],
    arms: Mapping[Arm, Cleaning],
    ways: Callable[[pa.Table, pa.Table, Mapping[str, Decision]], Mapping[Arm, Cleaning]],
) -> Again:
    """Return what gives the outcome of each arm for some rows, doubted as if there were no others.

    Args:
        among: returns the suspects (``schema.NOISE``) among rows, ``(n_some,)`` places in ``examples``.
        examples: the rows that are compared on.
        decisions: uid -> what people decided.
        arms: the outcome of each for every row of ``examples``: taken where decisions leave some rows without one of their classes.
        ways: returns the outcome of each arm for rows, their suspects and what people decided about them.
    """
    uids = examples[UID].to_pylist()

    def again(rows: Integers) -> Mapping[Arm, Cleaning]:
        own = {uid: decisions[uid] for row in rows.tolist() if (uid := uids[row]) in decisions}
        try:
            return ways(examples.take(pa.array(rows)), among(rows), own)
        except GateError:
            return {arm: cleaning.take(rows) for arm, cleaning in arms.items()}

    return again


def recommended_arm(
    examples: pa.Table,
    noise: pa.Table,
    decisions: Mapping[str, Decision],
    arms: Mapping[Arm, Cleaning],
    rng: np.random.Generator,
    *,
    wrong: Mapping[str, Any] | None,
    unknown: str | None = None,
    between: Mapping[str, Any] | None = None,
    again: Callable[[pa.Table, Mapping[Arm, Cleaning]], Again] | None = None,
    preferred: Collection[Arm] = (),
    progress: Progress | None = None,
) -> ArmChoice:
    """Return the arms compared by cross-validation on the train set (``choose_arm``), unless nobody could tell, or no label is doubted.

    Args:
        examples: the train set (``schema.examples_schema``).
        noise: its suspects (``schema.NOISE``), in any order.
        decisions: uid -> what people decided; such a label counts as surely right or wrong, others as that allows (``no_surer``).
        arms: the outcome of each for every row, ``original`` among them.
        rng: draws folds and, of a large set, a sample of rows.
        wrong: how many labels are wrong, with ``expected`` and ``low``, the lower end of its interval; None where it cannot be estimated.
        unknown: why it cannot. Where models explain too little or are contradicted too often (``WEIGHABLE``), or rows of a table are few,
            they may be weighted, which drops and relabels none, where models measurably gain by it.
        between: where it cannot, between which numbers it lies: from one label on, unless rows are too few, less is asked of weights.
        again: of the rows that are compared on, and the outcome of each arm for them, what doubts some of them again (``doubted_again``);
            None: they are not.
        preferred: as of ``choose_arm``.
        progress: as of ``choose_arm``.
    """
    info = dataset_info(examples.schema)
    if wrong is None:
        arms = {arm: cleaning for arm, cleaning in arms.items() if arm in ("original", "down-weight")}
        weighable = unknown in WEIGHABLE or (unknown == "few rows" and info.features)
        if not weighable or len(arms) < 2:
            return kept_as_it_is("How likely each label is wrong could not be estimated, so that nothing is changed without a person")
    looked_at = {row: decisions[uid] for row, uid in enumerate(examples[UID].to_pylist()) if uid in decisions}
    places, right_there = np.array(list(looked_at), dtype=np.intp), np.array([one.what == "keep" for one in looked_at.values()], dtype=bool)
    right = 1.0 - no_surer(aligned(noise, examples)["probability"].to_numpy(), places, ~right_there)
    right[places] = right_there
    if wrong is not None and not looked_at and (right >= 0.5).all():
        return kept_as_it_is("No label is likelier wrong than right, so that ways of cleaning are not compared")
    changed = {arm: rows_changed(cleaning, examples[LABEL].to_numpy()) for arm, cleaning in arms.items()}
    if len(right) > MOST_ROWS:
        rows = np.sort(rng.choice(len(right), MOST_ROWS, replace=False))
        examples, right = examples.take(pa.array(rows)), right[rows]
        arms = {arm: cleaning.take(rows) for arm, cleaning in arms.items()}
    choice = info.task == "choice"
    return choose_arm(
        option_features(examples) if choice else simple_features(examples),
        examples[LABEL].to_numpy(),
        info.labels,
        right,
        arms,
        rng,
        row_groups(examples),
        again=None if again is None else again(examples, arms),
        changed=changed,
        known=wrong is not None and well_determined(wrong["expected"], wrong["low"]),
        estimated=wrong is not None or (unknown in WEIGHABLE and between is not None and between["low"] >= 1.0),
        of_options=choice,
        columns=tree_columns(examples) if info.has_columns else None,
        preferred=preferred,
        progress=progress,
    )

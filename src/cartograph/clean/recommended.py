"""Which way of cleaning a train set is recommended: compared by cross-validation where it is estimated how many labels are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.clean.arms import Arm, ArmChoice, choose_arm, kept_as_it_is
from cartograph.clean.cleaning import Cleaning, aligned
from cartograph.clean.decisions import Decision
from cartograph.data.linked_rows import user_groups
from cartograph.data.progress import Progress
from cartograph.features.options import option_features
from cartograph.features.simple import simple_features
from cartograph.schema import LABEL, UID, dataset_info
from cartograph.statistics.determined import well_determined

WEIGHABLE = ("little explained", "much noise")
"""Why the number of wrong labels is not known where rows may be weighted by how doubtful their labels are."""


def recommended_arm(
    examples: pa.Table,
    noise: pa.Table,
    decisions: Mapping[str, Decision],
    arms: Mapping[Arm, Cleaning],
    rng: np.random.Generator,
    *,
    wrong: Mapping[str, Any] | None,
    unknown: str | None = None,
    progress: Progress | None = None,
) -> ArmChoice:
    """Return the arms compared by cross-validation on the train set (``choose_arm``); nothing is compared where nobody could tell.

    Args:
        examples: the train set (``schema.examples_schema``).
        noise: its suspects (``schema.NOISE``), in any order.
        decisions: uid -> what people decided; such a label counts as surely right or wrong.
        arms: the outcome of each for every row, ``original`` among them.
        rng: draws folds and, of a large set, a sample of rows.
        wrong: how many labels are wrong, with ``expected`` and ``low``, the lower end of its interval; None where it cannot be estimated.
        unknown: why it cannot. Where models explain too little or are contradicted too often (``WEIGHABLE``), rows may still be weighted,
            which drops and relabels none: 11 of 14 samples of reviews and pairs of sentences, a fifth of their labels wrong or none, were
            weighted, and linear models won .9 to 7.3 points by it (on clean pairs .9 and 1.7).
        progress: as of ``choose_arm``.
    """
    info = dataset_info(examples.schema)
    if wrong is None:
        arms = {arm: cleaning for arm, cleaning in arms.items() if arm in ("original", "down-weight")}
        if unknown not in WEIGHABLE or len(arms) < 2:
            return kept_as_it_is("How likely each label is wrong could not be estimated, so that nothing is changed without a person")
    right = 1.0 - aligned(noise, examples)["probability"].to_numpy()
    for row, uid in enumerate(examples[UID].to_pylist()):
        if uid in decisions:
            right[row] = float(decisions[uid].what == "keep")
    labels, groups = examples[LABEL].to_numpy(), user_groups(examples)
    known, choice = wrong is not None and well_determined(wrong["expected"], wrong["low"]), info.task == "choice"
    features = option_features(examples) if choice else simple_features(examples)
    return choose_arm(features, labels, len(info.labels), right, arms, rng, groups, known=known, of_options=choice, progress=progress)

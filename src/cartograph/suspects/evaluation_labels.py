"""Which labels of an evaluation set look wrong: by models of the train set's rows and of its own others, none of which saw the row.

How labels go wrong is read off the evaluation set alone, since it was seldom labelled as the train set was: of clean questions beside a
train set of which a fifth is wrong, 41 of 800 would else be called wrong, and so 4 are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Floats, Ids, Integers
from cartograph.data.folds import assign_folds
from cartograph.data.kept_logits import KeptShares, Shares
from cartograph.data.progress import Progress
from cartograph.features.tables import mostly_alike
from cartograph.schema import LABEL, UID, dataset_info, examples_schema
from cartograph.suspects.among import forms_of, scored
from cartograph.suspects.columns import log_odds_of
from cartograph.suspects.committee import Committee, Reading
from cartograph.suspects.detector import prior_offset
from cartograph.suspects.kept_doubt import kept_doubt
from cartograph.suspects.label_doubt import Doubt, label_doubt
from cartograph.suspects.listing import committee_reasons, listed


@dataclass(frozen=True)
class EvaluationDoubt:
    """What is found of one evaluation set.

    Attributes:
        rows: ``schema.NOISE`` of all its rows, in their order.
        doubt: about its labels, classes that differ in their form only being one, and how many are wrong.
        one_class: whether all classes are forms of one, so that the number says nothing.
    """

    rows: pa.Table
    doubt: Doubt
    one_class: bool = False


def together(train: pa.Table, sets: Mapping[str, pa.Table]) -> pa.Table:
    """Return a train set and evaluation sets (``schema.examples_schema``), one under the other, with the columns that all have."""
    schema = examples_schema(dataset_info(train.schema))
    return pa.concat_tables([table.select(schema.names).cast(schema) for table in (train, *sets.values())]).combine_chunks()


def evaluation_doubts(
    train: pa.Table,
    sets: Mapping[str, pa.Table],
    reading: Reading,
    *,
    folds: int,
    seed: int,
    threshold: float,
    progress: Progress | None = None,
) -> dict[str, EvaluationDoubt]:
    """Return what is found of each evaluation set.

    Args:
        train: train rows, some or all (``schema.examples_schema``).
        sets: evaluation sets by name, of the train set's distribution; one row each or more.
        reading: what a committee reads of all these rows, one set under the other (``together``).
        folds: number of folds.
        seed: of the folds.
        threshold: probability from which on a row is flagged.
        progress: called with (folds done, folds).

    Raises:
        InputError: as ``committee_scores``.
    """
    names = dataset_info(train.schema).labels
    labels = np.concatenate([table[LABEL].to_numpy() for table in (train, *sets.values())])
    fold = assign_folds(labels, min(folds, len(labels)), np.random.default_rng([seed, 1]), reading.groups)
    rng = np.random.default_rng([seed, 3])
    forms = forms_of(reading, labels, names)
    left = forms.classes
    meant = labels if len(left) == len(names) else np.searchsorted(left, forms.first[labels]).astype(np.int32)
    committee = scored(reading, meant, [names[number] for number in left], fold, rng, progress=progress)
    alike = reading.trees is not None and mostly_alike(reading.trees)
    found, start = {}, train.num_rows
    for name, table in sets.items():
        rows = np.arange(start, start + table.num_rows)
        start += table.num_rows
        own, given = _of_rows(committee.probabilities, rows), meant[rows]
        doubt = kept_doubt(own, given) if isinstance(own, KeptShares) else label_doubt(own, given, alike=alike, apart=reading.apart)
        # In terms of all classes, each row under the form that it has.
        named = forms.committee(partial(_known, Committee(own, doubt, fold[rows])), labels[rows])
        odds = log_odds_of(doubt.score)
        why = pa.array(list(committee_reasons(named.probabilities, labels[rows], names)), pa.string())
        odds = odds + prior_offset(odds, doubt.unknown)
        of_set = listed(table[UID], odds, labels[rows], names, named.probabilities, threshold=threshold, why=why)
        found[name] = EvaluationDoubt(of_set, doubt, forms.alone)
    return found


def _known(committee: Committee, labels: Ids, classes: Integers) -> Committee:
    return committee


def _of_rows(shares: Shares, rows: Integers) -> Shares:
    if isinstance(shares, KeptShares):
        return shares.take(rows)
    own: Floats = shares[rows]
    return own

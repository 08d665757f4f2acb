"""A part of the train set held out of every retraining, to score models on where an audit has no evaluation set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartograph.config import Settings
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.parameters.retrain import Retrain
from tasks.audit.parameters.train import Train

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.data.arrays import Bools


def holds_out(settings: Settings) -> bool:
    """Return whether retrained models are scored on a part of the train set.

    Not where an audit has an evaluation set, nor where it only reads dynamics that were made elsewhere.
    """
    retrain, train = settings.find(Retrain), settings.find(Train)
    if retrain is None or train is None or settings.of(Ingest).evaluation:
        return False
    return retrain.held_out > 0 and train.dynamics is None


def held_out_rows(params: Retrain, examples: pa.Table) -> Bools:
    """Return which rows of the train set are held out, ``(n_examples,)``: the share of each class, at least one row in all."""
    return part_of_each_class(examples, params.held_out, params.held_out_seed)


def part_of_each_class(examples: pa.Table, share: float, *seed: int) -> Bools:
    """Return which rows are drawn, ``(n_examples,)``: the share of each class, rounded down, at least one row in all.

    Linked rows are drawn together (``linked_rows``), so that no model is scored on what it knows of their siblings, and the share is then
    rounded to twentieths, or to groups where they are fewer.
    """
    import numpy as np

    from cartograph.data.folds import drawn_groups
    from cartograph.data.linked_rows import row_groups
    from cartograph.schema import LABEL

    rng = np.random.default_rng(seed)
    labels, groups = examples[LABEL].to_numpy(), row_groups(examples)
    if groups is not None:
        return drawn_groups(labels, share, rng, groups)
    held = np.zeros(len(labels), np.bool_)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        held[rng.permutation(rows)[: int(share * len(rows))]] = True
    if not held.any():
        held[rng.integers(len(labels))] = True
    return held


def held_out_set(params: Retrain, examples: pa.Table) -> pa.Table:
    """Return the rows that are held out as an evaluation set in distribution, under their given labels."""
    return as_held_out(examples, held_out_rows(params, examples))


def as_held_out(examples: pa.Table, held: Bools) -> pa.Table:
    """Return rows of a train set as an evaluation set in distribution."""
    from dataclasses import replace

    from cartograph.compare.versions import HELD_OUT
    from cartograph.schema import ANNOTATOR_LABELS, GROUPS, dataset_info, examples_schema

    info = replace(dataset_info(examples.schema), name=HELD_OUT, domain="id")
    more = {name: column in examples.column_names for name, column in (("annotators", ANNOTATOR_LABELS), ("groups", GROUPS))}
    schema = examples_schema(info, **more)
    # Rows to train on may have weights and ranks, too.
    return examples.filter(held).select(schema.names).cast(schema)

"""A train set made from another one: some of its rows, some under another label."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Floats32
from cartograph.errors import InputError
from cartograph.schema import LABEL, UID, WEIGHT, dataset_info


def rows_of(table: pa.Table, uids: pa.Array | pa.ChunkedArray, what: str, where: str = "the set") -> pa.Table:
    """Return the rows that ``uids`` name, in their order.

    Args:
        table: rows with a column ``uid``.
        uids: strings.
        what: where the uids are from, for messages.
        where: what the table is, for messages.

    Raises:
        InputError: a uid is not in the table.
    """
    wanted = uids.combine_chunks() if isinstance(uids, pa.ChunkedArray) else uids
    if wanted.equals(table[UID].combine_chunks()):
        return table.combine_chunks()
    return table.take(_places(table, wanted, what, where)).combine_chunks()


def _places(table: pa.Table, uids: pa.Array, what: str, where: str) -> pa.Array:
    places = pc.index_in(uids, value_set=table[UID].combine_chunks())
    if places.null_count:
        raise InputError(
            f"{what} names uid {uids.filter(pc.is_null(places))[0].as_py()!r}, which {where} does not have ({places.null_count:,} such "
            "rows); it was made from other data: run the audit again."
        )
    return places


def take_subset(examples: pa.Table, subset: pa.Table, what: str = "the subset") -> pa.Table:
    """Return the rows of a train set that a subset names, under the subset's labels and with its weights, where it has any.

    Rows keep the train set's order, so that a subset of all rows and labels is the train set itself.

    Args:
        examples: the train set (``schema.examples_schema``).
        subset: ``schema.SUBSET`` or ``WEIGHTED_SUBSET``, in any order.
        what: the subset's name, for messages.

    Raises:
        InputError: a uid is not in the train set, or twice in the subset, a label is not one of the train set's, or a weight is
            not a number of 0 or more, or all are 0.
    """
    info = dataset_info(examples.schema)
    wanted = subset[UID].combine_chunks()
    rows = _places(examples, wanted, what, "the train set").to_numpy()
    order = np.argsort(rows, kind="stable")
    twice = np.flatnonzero(np.diff(rows[order]) == 0)
    if len(twice):
        raise InputError(f"{what} names uid {wanted[int(order[twice[0]])].as_py()!r} twice; a row can be in it once.")
    labels = subset[LABEL].to_numpy()[order]
    if len(labels) and not (labels.min() >= 0 and labels.max() < len(info.labels)):
        wrong = int(labels.min() if labels.min() < 0 else labels.max())
        raise InputError(f"{what} has the label id {wrong}, but the train set's labels are 0 to {len(info.labels) - 1}.")
    taken = examples if len(order) == examples.num_rows else examples.take(pa.array(rows[order]))
    place = taken.schema.get_field_index(LABEL)
    taken = taken.set_column(place, taken.schema.field(LABEL), pa.array(labels, pa.int32()))
    if WEIGHT in subset.column_names:
        taken = taken.append_column(WEIGHT, pa.array(_weights(subset, what)[order], pa.float32()))
    return taken.combine_chunks()


def _weights(subset: pa.Table, what: str) -> Floats32:
    weights: Floats32 = pc.fill_null(subset[WEIGHT], float("nan")).to_numpy().astype(np.float32)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        uid, value = subset[UID][int(bad[0])].as_py(), weights[bad[0]]
        raise InputError(
            f"{what} gives uid {uid!r} the weight {value} ({len(bad):,} such rows), where a number of 0 or more is needed; 0, or leave the "
            "row out, if it should not count."
        )
    if len(weights) and not weights.any():
        raise InputError(f"{what} gives all {len(weights):,} rows the weight 0; one at least has to count.")
    return weights

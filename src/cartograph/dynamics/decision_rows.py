"""Each label of each row as a row of its own, so that what is made for rows with one label serves rows with several.

Its class says which label and which answer: class 2k is a no to label k, class 2k + 1 a yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Integers, Objects
from cartograph.dynamics.decisions import NAMES
from cartograph.errors import InputError
from cartograph.schema import LABEL, ROW, SOURCE, UID, VALUES, DatasetInfo, dataset_info, examples_schema


def decision_classes(names: Sequence[str]) -> tuple[str, ...]:
    """Return the classes of the labels of these names.

    >>> decision_classes(["love", "war"])
    ('love: no', 'love: yes', 'war: no', 'war: yes')
    """
    return tuple(f"{name}: {answer}" for name in names for answer in NAMES)


def decision_names(uids: Objects, names: Sequence[str]) -> Objects:
    """Return what each label of each row is called, ``(n_examples, n_labels)``: the row's uid, ``#`` and the label's name.

    It says the same whichever other labels there are, so that what people decide holds for the next audit too.

    Raises:
        InputError: two are called the same.
    """
    named = np.array([[f"{uid}#{name}" for name in names] for uid in uids], dtype=object).reshape(len(uids), len(names))
    if len(set(named.ravel().tolist())) < named.size:
        first, again = np.unique(named.ravel().astype(str), return_counts=True)
        raise InputError(
            f"{str(first[again > 1][0])!r} is a label of one row and of another, since uids or labels hold `#`; take it out of the labels' "
            "names, or name another uid."
        )
    return named


def decision_rows(rows: pa.Table, uids: Objects, classes: Sequence[str], labels: Integers) -> pa.Table:
    """Return decisions as a set.

    Args:
        rows: of each decision its row (``schema.examples_schema``).
        uids: of the decisions.
        classes: of all decisions, or of those of one label.
        labels: class id of each.
    """
    before = dataset_info(rows.schema)
    info = DatasetInfo("train", "train", before.task, before.text, (), tuple(classes), (), before.features, before.characters)
    schema = examples_schema(info)
    own: dict[str, Any] = {UID: pa.array(uids, pa.string()), LABEL: pa.array(labels, pa.int32())}
    kept = (*info.fields, *([VALUES] if info.features else []), SOURCE, ROW)
    own |= {name: rows[name].combine_chunks() for name in kept}
    return pa.Table.from_arrays([own[name] for name in schema.names], schema=schema)

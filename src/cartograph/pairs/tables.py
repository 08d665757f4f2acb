"""Tasks, samples and collected pairs as Arrow tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.data.arrays import Ids
from cartograph.data.parquet import write_parquet
from cartograph.pairs.estimate import Sample
from cartograph.pairs.pair_space import Keys
from cartograph.pairs.task import Task
from cartograph.schema import schema_of

UTTERANCES = schema_of({"id": "string", "text": "string", "split": "int8?"})
"""One side of a task, in the order of its rows; ``split`` (an index into ``SPLITS``) is null on a side that all splits share."""

_FIELD = "field "
# Before the name of a field's column, which comes after those of UTTERANCES.

STATED = schema_of({"left": "int64", "right": "int64", "label": "int8", "split": "int8?"})
"""Stated pairs: rows of the two sides, 1 or 0, and the split; null where it is that of the left utterance."""

COLLECTED = schema_of({"left": "int64", "right": "int64", "label": "int8", "round": "int32"})
"""Pairs that were asked about, in the order of their rounds and within one of their choice; ``label`` 1, 0, or ``SKIPPED``."""

SKIPPED = -1
"""The label of a pair that people skipped."""


def save_task(task: Task, left_ids: Sequence[str], right_ids: Sequence[str], folder: Path) -> None:
    """Write ``left.parquet``, where the sides differ ``right.parquet``, and ``stated.parquet`` into an existing folder."""
    left = [pa.array(left_ids, pa.string()), pa.array(task.left, pa.string()), pa.array(task.split, pa.int8())]
    meaning = {b"symmetric": str(task.symmetric).encode(), b"transitive": str(task.transitive).encode()}
    table = pa.Table.from_arrays(left, schema=UTTERANCES.with_metadata(meaning))
    write_parquet(_with_fields(table, task, 0), folder / "left.parquet")
    if not task.symmetric:
        right = [pa.array(right_ids, pa.string()), pa.array(task.right, pa.string()), pa.nulls(len(task.right), pa.int8())]
        write_parquet(_with_fields(pa.Table.from_arrays(right, schema=UTTERANCES), task, 1), folder / "right.parquet")
    split = pa.nulls(len(task.stated_label), pa.int8()) if task.stated_split is None else pa.array(task.stated_split)
    stated = [pa.array(task.stated_left), pa.array(task.stated_right), pa.array(task.stated_label), split]
    write_parquet(pa.Table.from_arrays(stated, schema=STATED), folder / "stated.parquet")


def _with_fields(table: pa.Table, task: Task, side: int) -> pa.Table:
    for name, values in task.fields.items():
        table = table.append_column(f"{_FIELD}{name}", pa.array(values[side], pa.string()))
    return table


def load_task(folder: Path) -> Task:
    """Return the task that ``save_task`` wrote."""
    left = pq.read_table(folder / "left.parquet")
    stated = pq.read_table(folder / "stated.parquet")
    symmetric, transitive = ((left.schema.metadata or {})[name] == b"True" for name in (b"symmetric", b"transitive"))
    right = left if symmetric else pq.read_table(folder / "right.parquet")
    texts = left["text"].to_pylist()
    names = [name for name in left.column_names if name.startswith(_FIELD)]
    return Task(
        left=texts,
        right=texts if symmetric else right["text"].to_pylist(),
        split=left["split"].to_numpy(),
        symmetric=symmetric,
        transitive=transitive,
        stated_left=stated["left"].to_numpy(),
        stated_right=stated["right"].to_numpy(),
        stated_label=stated["label"].to_numpy(),
        stated_split=None if stated["split"].null_count else stated["split"].to_numpy(),
        fields={name.removeprefix(_FIELD): (left[name].to_pylist(), right[name].to_pylist()) for name in names},
    )


def save_sample(sample: Sample, path: Path) -> None:
    """Write a sample."""
    table = pa.table({"key": sample.keys, "kind": sample.kind, "weight": sample.weight})
    write_parquet(table.replace_schema_metadata({b"pairs": str(sample.pairs).encode()}), path)


def load_sample(path: Path) -> Sample:
    """Return the sample that ``save_sample`` wrote."""
    table = pq.read_table(path)
    pairs = int((table.schema.metadata or {})[b"pairs"])
    return Sample(table["key"].to_numpy(), table["kind"].to_numpy(), table["weight"].to_numpy(), pairs)


def collected_table(keys: Keys, labels: Ids, number: int, width: int) -> pa.Table:
    """Return the pairs of one round as ``COLLECTED``."""
    rounds = np.full(len(keys), number, np.int32)
    return pa.Table.from_arrays(
        [pa.array(keys // width), pa.array(keys % width), pa.array(np.asarray(labels, np.int8)), pa.array(rounds)], schema=COLLECTED
    )


def keys_of(table: pa.Table, width: int) -> Keys:
    """Return the keys of a table's pairs, in its order."""
    keys: Keys = table["left"].to_numpy() * width + table["right"].to_numpy()
    return keys

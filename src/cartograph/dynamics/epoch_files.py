"""Epoch files: training dynamics on disk, one Parquet file per epoch keyed by uid; writing, reading and aligning them.

Above ``kept_logits.WHOLE`` classes a file holds what ``kept_logits.keep`` keeps of each row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cartograph.data.arrays import Array, Floats32, Integers32, Objects
from cartograph.data.kept_logits import WHOLE, KeptLogits, Logits, in_blocks, keep, spread
from cartograph.data.uids import SHOWN, in_uid_order, some, without
from cartograph.errors import InputError
from cartograph.schema import N_CLASSES, dynamics_schema, kept_dynamics_schema
from cartograph.wording import counted

EPOCH_FILE = re.compile(r"epoch=(\d+)\.parquet")


class Dynamics(NamedTuple):
    """Training dynamics of a whole run, aligned by uid.

    Attributes:
        uids: (n_examples,) strings, sorted.
        gold: (n_examples,) int32 label ids.
        logits: (n_examples, n_epochs, n_classes) float32, epochs in order; of many classes ``KeptLogits``.
    """

    uids: Objects
    gold: Integers32
    logits: Logits

    def __repr__(self) -> str:
        examples, epochs, classes = self.logits.shape
        return f"Dynamics({counted(examples, 'example')}, {counted(epochs, 'epoch')}, {counted(classes, 'class', 'classes')})"


def epoch_file(folder: Path, epoch: int) -> Path:
    """Return the file of an epoch's dynamics; epochs are counted from 0."""
    return folder / f"epoch={epoch}.parquet"


def dynamics_table(uids: pa.Array, gold: Array, logits: Floats32) -> pa.Table:
    """Build one epoch's table from (n,) uids, (n,) gold label ids and (n, n_classes) logits."""
    if logits.shape[1] > WHOLE:
        parts = [keep(logits[rows], gold[rows]) for rows in in_blocks(len(gold), logits.shape[1])] or [keep(logits, gold)]
        return kept_table(uids, gold, [np.concatenate(column) for column in zip(*parts, strict=True)], logits.shape[1])
    values = pa.array(np.ascontiguousarray(logits, np.float32).reshape(-1))
    columns = [uids, pa.array(gold.astype(np.int32)), pa.FixedSizeListArray.from_arrays(values, max(logits.shape[1], 1))]
    return pa.Table.from_arrays(columns, schema=dynamics_schema(max(logits.shape[1], 1)))


def kept_table(uids: pa.Array, gold: Array, parts: Sequence[Array], n_classes: int) -> pa.Table:
    """Build one epoch's table from (n,) uids, (n,) gold label ids, and what ``keep`` returned of all rows."""
    classes, logits, rest = parts
    lists = [pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), classes.shape[1]) for values in (classes, logits)]
    columns = [uids, pa.array(gold.astype(np.int32)), *lists, pa.array(rest)]
    return pa.Table.from_arrays(columns, schema=kept_dynamics_schema(n_classes, classes.shape[1]))


def n_classes_of(table: pa.Table) -> int:
    """Return the number of classes of one epoch's table."""
    known = (table.schema.metadata or {}).get(N_CLASSES)
    return int(table.schema.field("logits").type.list_size) if known is None else int(known)


def kept_of(table: pa.Table) -> tuple[Integers32, Floats32, Floats32]:
    """Return what ``keep`` returned of the rows of one epoch's table of many classes."""
    return _lists(table, "classes"), _lists(table, "logits"), table.column("rest").to_numpy()


def logits_of(table: pa.Table) -> Floats32:
    """Return the (n, n_classes) logits of one epoch's table."""
    if "rest" in table.column_names:
        return spread(*kept_of(table), n_classes_of(table))
    whole: Floats32 = _lists(table, "logits")
    return whole


def by_blocks(table: pa.Table, work: Callable[[Floats32, Integers32], Array]) -> Array:
    """Return what ``work`` makes of (n, n_classes) logits and (n,) gold ids, block by block of the rows of one epoch's table."""
    gold = table.column("gold").to_numpy()
    blocks = in_blocks(table.num_rows, n_classes_of(table), 2**18)
    parts = [work(logits_of(table.slice(rows.start, rows.stop - rows.start)), gold[rows]) for rows in blocks]
    return np.concatenate(parts) if parts else work(logits_of(table), gold)


def _lists(table: pa.Table, name: str) -> Any:
    chunks = [chunk.flatten().to_numpy() for chunk in table.column(name).chunks]
    kind = table.schema.field(name).type
    flat = np.concatenate(chunks) if chunks else np.empty(0, kind.value_type.to_pandas_dtype())
    return flat.reshape(table.num_rows, kind.list_size)


def read_dynamics(folder: str | Path, *, intersection: bool = False) -> Dynamics:
    """Read the dynamics of a run from its ``epoch=N.parquet`` files.

    Args:
        folder: of the files; epochs must follow one another from 0.
        intersection: go on with the uids that every epoch has, where some are missing from some epoch; else that is an error.

    Raises:
        InputError: no such file, an epoch without one, a file that is not of this format, uids missing from an epoch
            (each named with its epoch), a uid twice in one epoch, or a uid with two gold labels.

    >>> import tempfile, torch
    >>> from cartograph.dynamics.recorder import DynamicsRecorder
    >>> recorder = DynamicsRecorder(tempfile.mkdtemp())
    >>> recorder.record(["b", "a"], torch.tensor([[2.0, 0.0], [0.5, 1.0]]), [0, 1])
    >>> _ = recorder.end_epoch()
    >>> uids, gold, logits = read_dynamics(recorder.folder)
    >>> uids.tolist(), gold.tolist(), logits.shape
    (['a', 'b'], [1, 0], (2, 1, 2))
    """
    folder = Path(folder)
    return align_epochs([_read_epoch(path) for path in _epoch_files(folder)], folder, intersection=intersection)


def align_epochs(tables: Sequence[pa.Table], source: Path, *, intersection: bool = False) -> Dynamics:
    """Align the epochs' tables (``schema.dynamics_schema``, any order of rows) by uid.

    Args:
        tables: one per epoch, in order.
        source: where they come from, for messages.
        intersection: as in ``read_dynamics``.

    Raises:
        InputError: as in ``read_dynamics``; also where epochs differ in their number of classes.
    """
    tables = [_in_order(table, epoch, source) for epoch, table in enumerate(tables)]
    widths = [n_classes_of(table) for table in tables]
    if len(set(widths)) > 1:
        epoch = next(epoch for epoch, width in enumerate(widths) if width != widths[0])
        raise InputError(
            f"{source}: epoch 0 has {widths[0]} classes and epoch {epoch} has {widths[epoch]}; all epochs must come from one training."
        )
    if not all(table.column("uid").equals(tables[0].column("uid")) for table in tables):
        tables = _common(tables, source, intersection)
    uids = tables[0].column("uid").combine_chunks()
    gold = tables[0].column("gold").to_numpy().copy()
    # One epoch after the other in memory: that is how they are written here and how they are read for the measures.
    for epoch, table in enumerate(tables):
        _require_same_gold(uids, gold, table.column("gold").to_numpy(), epoch, source)
    names = uids.to_numpy(zero_copy_only=False)
    if all("rest" in table.column_names for table in tables):
        shape = len(uids), len(tables), tables[0].schema.field("logits").type.list_size
        classes, values, rest = np.empty(shape, np.int32), np.empty(shape, np.float32), np.empty(shape[:2], np.float32)
        for epoch, table in enumerate(tables):
            classes[:, epoch], values[:, epoch], rest[:, epoch] = kept_of(table)
        return Dynamics(names, gold, KeptLogits(classes, values, rest, widths[0]))
    by_epoch = np.empty((len(tables), len(uids), widths[0]), np.float32)
    for epoch, table in enumerate(tables):
        by_epoch[epoch] = logits_of(table)
    return Dynamics(names, gold, by_epoch.transpose(1, 0, 2))


def _epoch_files(folder: Path) -> list[Path]:
    found = {int(name[1]): path for path in (folder.iterdir() if folder.is_dir() else ()) if (name := EPOCH_FILE.fullmatch(path.name))}
    if not found:
        raise InputError(f"{folder} holds no dynamics: expected files epoch=0.parquet, epoch=1.parquet, ….")
    missing = next((epoch for epoch in range(max(found)) if epoch not in found), None)
    if missing is not None:
        raise InputError(f"{folder} has dynamics up to epoch {max(found)} but none of epoch {missing}: epoch={missing}.parquet is missing.")
    return [found[epoch] for epoch in sorted(found)]


def _read_epoch(path: Path) -> pa.Table:
    try:
        table = pq.ParquetFile(path, memory_map=True).read()
        logits = table.schema.field("logits").type
        if "rest" in table.column_names:
            schema = kept_dynamics_schema(n_classes_of(table), logits.list_size)
            return table.select(schema.names).cast(schema)
        width = logits.list_size if pa.types.is_fixed_size_list(logits) else len(table.column("logits")[0])
        return table.select(["uid", "gold", "logits"]).cast(dynamics_schema(width))
    except (pa.ArrowException, KeyError, IndexError, OSError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} is no file of training dynamics ({str(error).splitlines()[0]}); "
            "expected columns uid (string), gold (int32) and logits (one float per class)."
        ) from error


def _in_order(table: pa.Table, epoch: int, source: Path) -> pa.Table:
    table = table.combine_chunks()
    uids = table.column("uid")
    if len(uids) > 1 and not pc.all(pc.less(uids[:-1], uids[1:])).as_py():
        table = table.take(pc.sort_indices(uids)).combine_chunks()
        uids = table.column("uid")
        twice = uids[1:].filter(pc.equal(uids[:-1], uids[1:])).unique()
        if len(twice):
            raise InputError(
                f"{source}: epoch {epoch} has {counted(len(twice), 'uid')} more than once: {some(twice)}; a uid must name one example."
            )
    return table


def _common(tables: list[pa.Table], source: Path, intersection: bool) -> list[pa.Table]:
    every = in_uid_order(pa.chunked_array([chunk for table in tables for chunk in table.column("uid").chunks]).unique())
    common = every
    lacking = []
    for epoch, table in enumerate(tables):
        missing = without(every, table.column("uid"))
        if len(missing):
            lacking.append(f"epoch {epoch} lacks {counted(len(missing), 'uid')} ({some(missing)})")
        common = common.filter(pc.is_in(common, value_set=table.column("uid").combine_chunks()))
    if not len(common):
        raise InputError(f"{source}: no uid is in every epoch: {_few(lacking)}; record all epochs from one train set with lasting uids.")
    if not intersection:
        raise InputError(
            f"{source}: the epochs do not hold the same uids: {_few(lacking)}; {len(common):,} of {len(every):,} are in every epoch: "
            "remove the rows of the others from the files, or, of files epoch=N.parquet, go on with those in Python by "
            "`from_dynamics(read_dynamics(folder, intersection=True))`."
        )
    return [table.filter(pc.is_in(table.column("uid"), value_set=common)).combine_chunks() for table in tables]


def _few(lacking: list[str]) -> str:
    more = len(lacking) - SHOWN
    return "; ".join(lacking[:SHOWN]) + (f"; and {counted(more, 'more epoch')}" if more > 0 else "")


def _require_same_gold(uids: pa.Array, gold: Integers32, other: Integers32, epoch: int, source: Path) -> None:
    differing = np.flatnonzero(gold != other)
    if len(differing):
        row = differing[0]
        raise InputError(
            f"{source}: uid {uids[row].as_py()!r} has gold label {gold[row]} in epoch 0 and {other[row]} in epoch {epoch} "
            f"({counted(len(differing), 'such uid')}); all epochs must come from one train set."
        )

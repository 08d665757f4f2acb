"""Training dynamics from elsewhere: the reference implementation's JSONL files, and tables of coordinates alone.

Swayamdipta et al. 2020 publish both: ``dynamics_epoch_E.jsonl`` with ``guid``, ``logits_epoch_E`` and ``gold``, and a table of
``guid``, ``confidence``, ``variability`` and ``correctness``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from cartograph.data.arrays import Floats
from cartograph.data.uids import some
from cartograph.dynamics.epoch_files import Dynamics, align_epochs, dynamics_table
from cartograph.errors import InputError
from cartograph.schema import COORDINATES
from cartograph.wording import counted

_REFERENCE_FILE = re.compile(r"dynamics_epoch_(\d+)\.jsonl")
_COORDINATE_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet")


def is_reference_folder(folder: str | Path) -> bool:
    """Return whether a folder holds dynamics in the reference format."""
    return any(_REFERENCE_FILE.fullmatch(path.name) for path in Path(folder).iterdir())


def read_reference_dynamics(folder: str | Path) -> Dynamics:
    """Read ``dynamics_epoch_E.jsonl`` files; a guid may be a string or a number.

    Args:
        folder: of the files; epochs must follow one another.

    Raises:
        InputError: no such file, an epoch missing between others, a record that is not of this format, a guid twice in an
            epoch, or guids missing from an epoch.
    """
    folder = Path(folder)
    found = {int(name[1]): path for path in (folder.iterdir() if folder.is_dir() else ()) if (name := _REFERENCE_FILE.fullmatch(path.name))}
    if not found:
        raise InputError(
            f"{folder} holds no dynamics in the reference format: expected files dynamics_epoch_0.jsonl, dynamics_epoch_1.jsonl, …."
        )
    missing = next((epoch for epoch in range(min(found), max(found)) if epoch not in found), None)
    if missing is not None:
        raise InputError(f"{folder} has dynamics of epochs {min(found)} and {max(found)} but dynamics_epoch_{missing}.jsonl is missing.")
    return align_epochs([_reference_epoch(found[epoch], epoch) for epoch in sorted(found)], folder)


def _reference_epoch(path: Path, epoch: int) -> pa.Table:
    key = f"logits_epoch_{epoch}"
    uids, gold, logits = [], [], []
    for line, record in _records(path):
        try:
            uids.append(_uid(record["guid"]))
            gold.append(int(record["gold"]))
            logits.append([float(value) for value in record[key]])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{path} line {line}: expected guid, {key} (a list of numbers) and gold (a label id), but {_reason(error)}."
            ) from error
        if len(logits[-1]) != len(logits[0]) or not logits[-1]:
            raise InputError(f"{path} line {line}: guid {uids[-1]!r} has {len(logits[-1])} logits, and line 1 has {len(logits[0])}.")
    if not uids:
        raise InputError(f"{path} is empty; expected one record per training example.")
    return dynamics_table(pa.array(uids, pa.string()), np.array(gold), np.array(logits, np.float32))


def read_coordinates(path: str | Path, *, epochs: int | None = None) -> pa.Table:
    """Read a data map without logits.

    Args:
        path: JSON lines, CSV, TSV or Parquet with ``guid`` or ``uid``, ``confidence``, ``variability``, ``correctness``.
        epochs: the number of epochs E behind it. Correctness is a count of epochs or a fraction of them: where every value
            is whole and some exceed 1, or E is given, they are counts and divided by E (their maximum, where E is None).

    Returns:
        ``schema.COORDINATES``, sorted by uid.

    Raises:
        InputError: the file or a column is missing, a value is no number or out of range, or a uid is not unique.
    """
    path = Path(path)
    columns = _coordinate_columns(path)
    uids = columns.pop("uid")
    order = pc.sort_indices(uids)
    uids = uids.take(order)
    twice = uids[1:].filter(pc.equal(uids[1:], uids[:-1])).unique()
    if len(twice):
        raise InputError(f"{path} has {counted(len(twice), 'uid')} more than once: {some(twice)}; a uid must name one example.")
    values = {name: column[order.to_numpy()] for name, column in columns.items()}
    values["correctness"] = _fraction(path, values["correctness"], epochs)
    for name, column in values.items():
        outside = np.flatnonzero(~((column >= 0) & (column <= 1)))
        if len(outside):
            raise InputError(f"{path}: uid {uids[outside[0]].as_py()!r} has {name} {column[outside[0]]:g}, which is not within 0 and 1.")
    return pa.Table.from_arrays([uids, *(pa.array(values[name]) for name in COORDINATES.names[1:])], schema=COORDINATES)


def _fraction(path: Path, correctness: Floats, epochs: int | None) -> Floats:
    whole = bool((correctness == np.round(correctness)).all())
    top = float(correctness.max(initial=0.0))
    if not whole or (epochs is None and top <= 1):
        return correctness
    if epochs is not None and top > epochs:
        raise InputError(
            f"{path} has correctness up to {top:g}, more than the {epochs} epochs given; set the number of epochs it was made with."
        )
    return correctness / (epochs or top)


def _coordinate_columns(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputError(f"{path} does not exist; expected a table of coordinates ({', '.join(_COORDINATE_SUFFIXES)}).")
    try:
        table = _read_table(path)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as {path.suffix or 'a table'}: {str(error).splitlines()[0]}.") from error
    name = next((name for name in ("uid", "guid") if name in table.column_names), None)
    wanted = [name or "uid or guid", "confidence", "variability", "correctness"]
    missing = [column for column in wanted if column not in table.column_names]
    if missing:
        raise InputError(f"{path} has no column {', '.join(missing)}; its columns are {', '.join(table.column_names) or 'none'}.")
    if not table.num_rows:
        raise InputError(f"{path} is empty; expected one row per training example.")
    try:
        columns: dict[str, Any] = {"uid": pa.array([_uid(value) for value in table.column(wanted[0]).to_pylist()], pa.string())}
    except TypeError as error:
        raise InputError(f"{path}: column {name}: {error}.") from error
    for column in wanted[1:]:
        columns[column] = _numbers(path, column, table.column(column))
    return columns


def _numbers(path: Path, name: str, column: pa.ChunkedArray) -> Floats:
    try:
        values: Floats = column.cast(pa.float64()).to_numpy()
    except pa.ArrowException as error:
        raise InputError(f"{path}: column {name} must hold numbers, but {str(error).splitlines()[0]}.") from error
    missing = np.flatnonzero(~np.isfinite(values))
    if len(missing):
        raise InputError(f"{path} row {missing[0] + 1}: column {name} has no number ({counted(len(missing), 'such row')}).")
    return values


def _read_table(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return pq.ParquetFile(path).read()
    if path.suffix in (".csv", ".tsv"):
        options = pa.csv.ParseOptions(delimiter="\t" if path.suffix == ".tsv" else ",", newlines_in_values=True)
        strings = pa.csv.ConvertOptions(column_types={"uid": pa.string(), "guid": pa.string()})
        return pa.csv.read_csv(path, parse_options=options, convert_options=strings)
    if path.suffix in (".jsonl", ".json"):
        return pa.Table.from_pylist([record for _, record in _records(path)])
    raise InputError(f"{path} is not of a format that coordinates are read from; known: {', '.join(_COORDINATE_SUFFIXES)}.")


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    record = json.loads(line)
                    if not isinstance(record, dict):
                        raise InputError(f"{path} line {number} must hold a JSON object, but holds {line.strip()[:60]!r}.")
                    yield number, record
    except json.JSONDecodeError as error:
        raise InputError(f"{path} line {number} is not JSON ({error.msg}); expected one object per line.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from error


def _uid(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError(f"a guid must be a string or a whole number, not {value!r}")
    return str(value)


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)

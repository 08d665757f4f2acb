"""A training on rows of one class only: nothing is learnt, and the only model that they allow always names that class."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.data.json_files import write_json
from cartograph.data.parquet import write_parquet
from cartograph.dynamics.epoch_files import dynamics_table
from cartograph.schema import COORDINATES, HISTORY, LABEL, UID, dataset_info
from cartograph.statistics.metrics import accuracy, macro_f1


def certain_map(uids: pa.ChunkedArray) -> pa.Table:
    """Return the coordinates of so many rows under that model: every row is right, in every epoch, for certain (``schema.COORDINATES``)."""
    number = len(uids)
    columns = {UID: uids, "confidence": np.ones(number), "variability": np.zeros(number), "correctness": np.ones(number)}
    return pa.table([columns[field.name] for field in COORDINATES], names=COORDINATES.names).cast(COORDINATES)


def nothing_learnt(name: str, rows: int, check: str) -> tuple[dict[str, Any], dict[str, float]]:
    """Return what ``training.json`` holds of rows of one class, and the numbers, ``train.failed`` among them.

    Args:
        name: the class's.
        rows: how many there are.
        check: what a user should look at.

    >>> nothing_learnt("spam", 40, "`ingest.label`")[0]["learning"]["sentence"]
    'Nothing could be learnt: all 40 rows have the label `spam`, so their map says nothing. Check `ingest.label`.'
    """
    which, whose = (f"all {rows:,} rows have", "their") if rows > 1 else ("the one row has", "its")
    sentence = f"Nothing could be learnt: {which} the label `{name}`, so {whose} map says nothing. Check {check}."
    training = {"model": None, "record": None, "epochs": None, "source": "one class", "parameters": None, "device": None}
    learning = {"learning": {"state": "one class", "sentence": sentence}}
    return training | learning, {"rows": rows, "train.accuracy": 1.0, "train.failed": 1, "train.learnt": 0}


def write_constant(label: int, rows: int, evaluation: Mapping[str, pa.Table], folder: Path) -> dict[str, float]:
    """Write the files of a failed training that always names one class; return its numbers, ``train.failed`` among them.

    Args:
        label: the class's id.
        rows: rows of the train set.
        evaluation: evaluation sets by name (``schema.examples_schema``).
        folder: an existing folder; ``predictions/<set>.parquet``, an empty ``history.parquet`` and ``metrics.json`` are written.
    """
    (folder / "predictions").mkdir()
    metrics: dict[str, float] = {"epochs": 0, "rows": rows, "train.accuracy": 1.0, "train.failed": 1}
    for name, table in evaluation.items():
        table = table.sort_by(UID)
        logits = np.zeros((table.num_rows, len(dataset_info(table.schema).labels)), np.float32)
        logits[:, label] = 1.0
        gold = table[LABEL].to_numpy()
        write_parquet(dynamics_table(table[UID].combine_chunks(), gold, logits), folder / "predictions" / f"{name}.parquet")
        metrics |= {f"{name}.accuracy": accuracy(logits, gold), f"{name}.macro_f1": macro_f1(logits, gold)}
    write_parquet(HISTORY.empty_table(), folder / "history.parquet")
    write_json(folder / "metrics.json", metrics)
    return metrics

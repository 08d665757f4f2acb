"""The files of a training on rows of one class only: predictions that always name that class, and a failed training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from cartograph.data.json_files import write_json
from cartograph.data.parquet import write_parquet
from cartograph.dynamics.epoch_files import dynamics_table
from cartograph.schema import HISTORY, LABEL, UID, dataset_info
from cartograph.statistics.metrics import accuracy, macro_f1


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

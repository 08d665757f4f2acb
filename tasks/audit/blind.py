"""What people found in the blind check of an audit, for its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.json_files import json_text, read_json
from cartograph.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.clean.blind_check import Key

FOUND = "review/blind.json"

_NEEDED = (
    *("labels.rows", "labels.mislabelled", "labels.low", "labels.high"),
    *("predicted_noise.rows", "predicted_clean.rows"),
)


def found_text(key: Key, numbers: Mapping[str, float]) -> str:
    """Return what is kept of a blind check, as JSON: its numbers, and which rows they are of."""
    items = [asdict(item) for item in key.items]
    return json_text({"sheet": key.sheet, "among": dict(key.among), "items": items, "found": dict(numbers)})


def blind_found(path: Path, examples: pa.Table, noise: pa.Table) -> Mapping[str, float] | None:
    """Return what people found who read rows of an audit blind; None where its rows, labels or suspects have changed since.

    Args:
        path: of the file that the import wrote (``found_text``).
        examples: the train set (``schema.examples_schema``).
        noise: its suspects (``schema.NOISE``), in any order.

    Raises:
        InputError: the file is not one that the import wrote.
    """
    import numpy as np

    from cartograph.clean.blind_check import KINDS
    from cartograph.schema import LABEL, UID, dataset_info

    try:
        kept = read_json(path)
        numbers = {str(name): float(value) for name, value in kept["found"].items()}
        whole = "labels.mislabelled" not in numbers or all(isfinite(numbers[name]) for name in _NEEDED)
        read = [(str(item["uid"]), str(item["predicted"]), str(item["given"])) for item in kept["items"]]
        among = {str(kind): int(number) for kind, number in kept["among"].items()}
        if not read or not whole:
            raise ValueError("no rows, or numbers that are none")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path} does not hold what a blind check found; import the filled sheet again, or delete the file.") from error
    names = dataset_info(examples.schema).labels
    given = dict(zip(examples[UID].to_pylist(), examples[LABEL].to_pylist(), strict=True))
    flagged = noise["flagged"].to_numpy(zero_copy_only=False)
    kinds = dict(zip(noise[UID].to_pylist(), np.where(flagged, *KINDS).tolist(), strict=True))
    now = dict(zip(KINDS, (int(flagged.sum()), int((~flagged).sum())), strict=True))
    same = all(uid in given and names[given[uid]] == label and kinds.get(uid) == kind for uid, kind, label in read)
    return numbers if same and among == now and "labels.mislabelled" in numbers else None


def read_blind(inputs: Mapping[str, Path], suspects: str) -> Mapping[str, float] | None:
    """Return what people found who read rows of an audit blind; None where nobody did, or where its rows have changed since.

    Args:
        inputs: declared name -> path, of a step that may read ``FOUND``.
        suspects: name of the folder of suspects.

    Raises:
        InputError: as ``blind_found`` does.
    """
    import pyarrow.parquet as pq

    if FOUND not in inputs or suspects not in inputs:
        return None
    examples, noise = inputs["data/ingest"] / "train.parquet", inputs[suspects] / "noise.parquet"
    return blind_found(inputs[FOUND], pq.read_table(examples), pq.read_table(noise))

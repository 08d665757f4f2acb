"""Vectors of an earlier embedding, kept for rows whose texts have not changed."""

from __future__ import annotations

import filecmp
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.data.arrays import Floats32, Integers
from cartograph.data.json_files import read_json, write_json

MADE = "made.json"
"""The file beside embeddings that says who made them, and how many rows of each set were kept and made."""

CONTENT, VECTOR = "content", "embedding"


@dataclass(frozen=True)
class KeptVectors:
    """The rows of an earlier embedding.

    Attributes:
        keys: of each set's rows, what their texts say.
        vectors: (n_rows, width): those of a row's sides one after the other.
        made: the earlier embedding's own record, as ``made.json`` has it.
    """

    keys: dict[str, list[str]]
    vectors: Floats32
    made: dict[str, Any]

    @cached_property
    def places(self) -> dict[str, int]:
        """Key of a row's texts -> its row in ``vectors``."""
        return {key: place for place, key in enumerate(key for keys in self.keys.values() for key in keys)}

    def of(self, keys: Sequence[str], width: int) -> Integers:
        """Return each row's place in ``vectors``: -1 for a row without one, and for all rows where vectors are of another width."""
        if not len(self.vectors) or self.vectors.shape[1] != width:
            return np.full(len(keys), -1)
        return np.array([self.places.get(key, -1) for key in keys], np.int64)


def read_kept(earlier: Path | None, encoder: Path, identity: str) -> KeptVectors:
    """Return what can be kept: all rows of the earlier embedding where the same encoder made them in the same way, else none.

    Args:
        earlier: a folder that ``embed_sets`` wrote; None, or one that cannot be read: nothing is kept.
        encoder: a folder that the encoder of now was saved to; its files must be in ``earlier`` byte for byte.
        identity: what else decides the vectors, such as versions of libraries; the same as then.
    """
    nothing = KeptVectors({}, np.empty((0, 0), np.float32), {})
    if earlier is None:
        return nothing
    try:
        made = read_json(earlier / MADE)
        files = [path.relative_to(encoder).as_posix() for path in encoder.rglob("*") if path.is_file()]
        if made["identity"] != identity or filecmp.cmpfiles(encoder, earlier, files, shallow=False)[0] != files:
            return nothing
        tables = {name: pq.read_table(earlier / f"{name}.parquet", columns=[CONTENT, VECTOR]) for name in made["sets"]}
        keys = {name: table[CONTENT].to_pylist() for name, table in tables.items()}
        flat = [chunk.flatten().to_numpy() for table in tables.values() for chunk in table[VECTOR].chunks]
        vectors = np.concatenate(flat).reshape(sum(map(len, keys.values())), -1)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return nothing
    return KeptVectors(keys, vectors, made)


def write_record(identity: str, texts: int, sets: Mapping[str, Mapping[str, int]], folder: Path) -> None:
    """Write the record of an embedding: ``texts`` distinct ones were read; of each set's rows so many were ``kept`` and ``made``."""
    made = {"identity": identity, "texts": texts, "sets": sets}
    write_json(folder / MADE, made)

"""Embeddings of whole sets of examples: made once, kept beside the encoder that made them, and found again by uid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch

from cartograph.errors import InputError
from cartograph.models.base import Side, sides_of
from cartograph.models.encoder import Encoder, Pooling, Vectors, saved_reading
from cartograph.schema import UID, DatasetInfo, Task, dataset_info
from cartograph.trainer_isolation import available_threads, isolated

_CHUNK = 20_000


class Embedded(NamedTuple):
    """What was embedded: how many distinct texts, and how many numbers each became."""

    texts: int
    width: int


def embed_sets(
    pretrained: str,
    sets: Mapping[str, Path],
    folder: Path,
    *,
    pooling: Pooling = "mean",
    max_length: int = 128,
    batch_size: int = 64,
    device: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> Embedded:
    """Embed sets of examples, and write them beside the encoder that did it.

    Of a pair both sides are embedded alone; an option of a choice is embedded together with what stands before it. A text that
    occurs again, in whatever set, is embedded once.

    Args:
        pretrained: the encoder: a local folder or a hub id.
        sets: files of examples (``schema.examples_schema``) by name.
        folder: an existing folder, into which the encoder and ``<set>.parquet`` are written: ``uid`` and ``embedding``, the vectors of
            a row's sides or options one after the other. A ``Recipe`` for the model ``probe`` takes it as ``pretrained``.
        pooling: ``mean`` of the tokens' states, or the first token's (``cls``).
        max_length: most tokens of a text; what is longer is cut.
        batch_size: texts read together.
        device: ``auto`` (a GPU where there is one), ``cpu`` or ``cuda``.
        progress: called with (texts read, texts to read).

    Raises:
        InputError: the encoder cannot be used, or ``cuda`` is asked for where there is none.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device is `cuda`, but torch sees no GPU here; set it to `auto` or `cpu`.")
    where = "cuda" if device != "cpu" and torch.cuda.is_available() else "cpu"
    tables = {name: pq.ParquetFile(path).read() for name, path in sets.items()}
    with isolated(0, available_threads()):
        encoder = Encoder.load(pretrained, pooling=pooling, max_length=max_length)
        sides = {name: _sides(table) for name, table in tables.items()}
        every = [side for part in sides.values() for side in part]
        vectors, rows = encoder.distinct_vectors(every, batch_size=batch_size, device=where, progress=progress)
        start = 0
        for name, table in tables.items():
            own = rows[start : start + len(sides[name])].reshape(table.num_rows, -1)
            _write(table.column(UID).combine_chunks(), vectors, own, folder / f"{name}.parquet")
            start += own.size
        encoder.save(folder)
    return Embedded(*vectors.shape)


class Embeddings:
    """The vectors of examples: those of ``embed_sets`` where the folder has them, else made now.

    Args:
        pretrained: a folder that ``embed_sets`` wrote; or any encoder, a local folder or a hub id.
        max_length: most tokens of a text, where the folder does not say it.
    """

    def __init__(self, pretrained: str, max_length: int) -> None:
        self._pretrained = pretrained
        self._reading = saved_reading(pretrained)
        self._max_length = max_length
        self._last: tuple[list[Side], Vectors] | None = None

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, loaded when it is first needed."""
        known = self._reading or {"pooling": "mean", "max_length": self._max_length}
        return Encoder.load(self._pretrained, pooling=known["pooling"], max_length=known["max_length"])

    def kept(self, table: pa.Table, info: DatasetInfo) -> Vectors | None:
        """Return the vectors that were made of a set, as ``made`` would; None where there are none.

        Raises:
            InputError: a row has none, because the embeddings are of other data.
        """
        path = Path(self._pretrained).expanduser() / f"{info.name}.parquet"
        if self._reading is None or not path.is_file():
            return None
        kept = pq.ParquetFile(path, memory_map=True).read()
        places = pc.index_in(table.column(UID).combine_chunks(), value_set=kept.column(UID).combine_chunks())
        if places.null_count:
            unknown = table.column(UID).combine_chunks().filter(pc.is_null(places))[0].as_py()
            raise InputError(
                f"{path} has no embedding of uid {unknown!r} ({places.null_count:,} of {table.num_rows:,} rows have none); "
                "it was made from other data: embed this data."
            )
        width = kept.schema.field("embedding").type.list_size
        flat = np.concatenate([chunk.flatten().to_numpy() for chunk in kept.column("embedding").chunks])
        vectors: Vectors = flat.reshape(-1, width)[places.to_numpy()]
        return vectors.reshape(-1, width // len(info.options)) if info.options else vectors

    def made(self, sides: Sequence[Side], task: Task) -> Vectors:
        """Embed texts now.

        Returns:
            (n_sides, width), for pairs (n_sides, 2 · width): the vector of one side, then of the other.
        """
        wanted = _separate(sides, task)
        # A model that is made from a train set reads it once more to be trained.
        if self._last is None or self._last[0] != wanted:
            vectors, rows = self.encoder.distinct_vectors(wanted)
            self._last = wanted, vectors[rows]
        return self._last[1].reshape(len(sides), -1)


def _sides(table: pa.Table) -> list[Side]:
    info = dataset_info(table.schema)
    return _separate(sides_of(table, info), info.task)


def _separate(sides: Sequence[Side], task: Task) -> list[Side]:
    if task != "pair":
        return list(sides)
    return [Side(text) for side in sides for text in (side.first, side.second or "")]


def _write(uids: pa.Array, vectors: Vectors, rows: np.ndarray, path: Path) -> None:
    width = rows.shape[1] * vectors.shape[1]
    schema = pa.schema([pa.field(UID, pa.string(), nullable=False), pa.field("embedding", pa.list_(pa.float32(), width), nullable=False)])
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False, write_statistics=False) as writer:
        for start in range(0, len(uids), _CHUNK):
            values = pa.array(vectors[rows[start : start + _CHUNK]].reshape(-1))
            columns = [uids[start : start + _CHUNK], pa.FixedSizeListArray.from_arrays(values, width)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))

"""Embeddings of whole sets of examples: computed once, saved beside their encoder, and looked up by uid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cartograph.data.arrays import Floats32, Integers
from cartograph.data.content import content_keys
from cartograph.errors import InputError
from cartograph.models.base import Side, sides_of
from cartograph.models.device import chosen_device, has_bfloat16
from cartograph.models.frozen.kept_vectors import CONTENT, VECTOR, KeptVectors, read_kept, write_record
from cartograph.models.frozen.text_encoder import Encoder, Pooling, saved_reading
from cartograph.models.isolation import available_threads, isolated, require_device
from cartograph.schema import UID, DatasetInfo, Task, dataset_info, schema_of

_CHUNK = 20_000


class EmbeddingCounts(NamedTuple):
    """How many distinct texts were embedded, how wide their vectors are, and how many rows kept an earlier vector."""

    texts: int
    width: int
    kept: int


def embed_sets(
    pretrained: str,
    sets: Mapping[str, Path],
    folder: Path,
    *,
    pooling: Pooling = "mean",
    max_length: int = 128,
    batch_size: int = 64,
    device: str = "auto",
    earlier: Path | None = None,
    identity: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> EmbeddingCounts:
    """Embed sets of examples, and write them beside the encoder that did it.

    Of a pair both sides are embedded alone; an option of a choice is embedded together with the text before it. A text that
    occurs again, in whatever set, is embedded once. Rows whose texts an earlier embedding by the same encoder has keep their vectors:
    on the same machine they are those that would be made now.

    Args:
        pretrained: the encoder: a local folder or a hub id.
        sets: files of examples (``schema.examples_schema``) by name.
        folder: an existing folder, into which the encoder and ``<set>.parquet`` are written: ``uid``, ``content`` (a key of the texts) and
            ``embedding``, the vectors of a row's sides or options one after the other. A ``Recipe`` for the model ``probe`` takes it as
            ``pretrained``. ``made.json`` counts the rows of each set that were kept and made.
        pooling: ``mean`` of the tokens' states, or the first token's (``cls``).
        max_length: most tokens of a text; what is longer is cut.
        batch_size: texts read together.
        device: ``auto`` (a GPU where there is one), ``cpu`` or ``cuda``.
        earlier: a folder that this function wrote before.
        identity: what else decides the vectors, such as versions of libraries; another one, and nothing is kept.
        progress: called with (texts read, texts to read).

    Raises:
        InputError: the encoder cannot be used, or ``cuda`` is asked for on a machine without a GPU.
    """
    require_device(device)
    where = chosen_device(device)
    # Sums of floating-point numbers depend on the device, on its numbers' bits, and on how many texts are read together.
    identity = f"{identity} {where}{' bfloat16' * has_bfloat16(where)} {batch_size}"
    tables = {name: pq.ParquetFile(path).read() for name, path in sets.items()}
    with isolated(0, available_threads()):
        encoder = Encoder.load(pretrained, pooling=pooling, max_length=max_length)
        encoder.save(folder)
        known = read_kept(earlier, folder, identity)
        parts = {name: _Part(table, known, encoder.width) for name, table in tables.items()}
        every = [side for part in parts.values() for side in part.unknown]
        vectors, rows = encoder.distinct_vectors(every, batch_size=batch_size, device=where, progress=progress)
    start = 0
    for name, part in parts.items():
        part.write(known, vectors, rows[start : start + len(part.unknown)], folder / f"{name}.parquet")
        start += len(part.unknown)
    texts, counts = len(vectors), {name: part.counts for name, part in parts.items()}
    if known.made and {name: part.keys for name, part in parts.items()} == known.keys:
        # The same rows again: what was made of them then, so that the same data give the same bytes.
        texts, counts = known.made["texts"], known.made["sets"]
    write_record(identity, texts, counts, folder)
    return EmbeddingCounts(texts, encoder.width, sum(part["kept"] for part in counts.values()))


class _Part:
    """A set to embed: where its rows have vectors already, and the texts of the others."""

    def __init__(self, table: pa.Table, known: KeptVectors, width: int) -> None:
        sides = _sides(table)
        self.each = len(sides) // table.num_rows
        self.width = width * self.each
        self.uids = table.column(UID).combine_chunks()
        self.keys = content_keys(table)
        self.places = known.of(self.keys, self.width)
        self.unknown = [side for row in np.flatnonzero(self.places < 0) for side in sides[row * self.each : (row + 1) * self.each]]

    @property
    def counts(self) -> dict[str, int]:
        made = len(self.unknown) // self.each
        return {"kept": len(self.keys) - made, "made": made}

    def write(self, known: KeptVectors, vectors: Floats32, rows: Integers, path: Path) -> None:
        """Write the set's vectors: those that are known, and for the unknown texts ``vectors[rows]``."""
        made = np.cumsum(self.places < 0) - 1
        of_row = rows.reshape(-1, self.each)
        schema = schema_of({UID: "string", CONTENT: "string", VECTOR: pa.list_(pa.float32(), self.width)})
        with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False, write_statistics=False) as writer:
            for start in range(0, len(self.keys), _CHUNK):
                part = slice(start, start + _CHUNK)
                places = self.places[part]
                values = np.empty((len(places), self.width), np.float32)
                values[places >= 0] = known.vectors[places[places >= 0]].reshape(-1, self.width)
                values[places < 0] = vectors[of_row[made[part][places < 0]]].reshape(-1, self.width)
                column = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), self.width)
                writer.write_table(pa.Table.from_arrays([self.uids[part], pa.array(self.keys[part]), column], schema=schema))


class Embeddings:
    """The vectors of examples: read where ``embed_sets`` wrote them, else computed now.

    Args:
        pretrained: a folder that ``embed_sets`` wrote; or any encoder, a local folder or a hub id.
        max_length: most tokens of a text, where the folder does not say it.
    """

    def __init__(self, pretrained: str, max_length: int) -> None:
        self._pretrained = pretrained
        self._reading = saved_reading(pretrained)
        self._max_length = max_length
        self._last: tuple[list[Side], Floats32] | None = None

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, loaded when it is first needed."""
        known = self._reading or {"pooling": "mean", "max_length": self._max_length}
        return Encoder.load(self._pretrained, pooling=known["pooling"], max_length=known["max_length"])

    def saved(self, table: pa.Table, info: DatasetInfo) -> Floats32 | None:
        """Return the vectors that ``embed_sets`` wrote of a set, as ``embed`` returns them; None where there are none.

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
        width = kept.schema.field(VECTOR).type.list_size
        flat = np.concatenate([chunk.flatten().to_numpy() for chunk in kept.column(VECTOR).chunks])
        vectors: Floats32 = flat.reshape(-1, width)[places.to_numpy()]
        return vectors.reshape(-1, width // len(info.options)) if info.options else vectors

    def embed(self, sides: Sequence[Side], task: Task) -> Floats32:
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

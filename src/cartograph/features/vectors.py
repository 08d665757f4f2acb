"""One feature vector per row, from words or from a file: the features Φ of AFLite, and those that distances are measured in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy import sparse

from cartograph.data.arrays import Floats32, Reals
from cartograph.data.progress import Progress
from cartograph.errors import InputError
from cartograph.features.text import TextRows, text_features
from cartograph.schema import UID, DatasetInfo, schema_of

COLUMN = "features"
_CHUNK = 20_000
_SQUARED_NORM = 10.0
_MOST_ROWS = 50_000
_MOST_HALF = 6e4


class Words(NamedTuple):
    """The words of some sets.

    Attributes:
        weighted: TF-IDF (``text_features``) of all sets' rows, one set under the other; of a choice a row per option.
        examples: of each set the number of examples.
        rows: of each set the number of rows.
    """

    weighted: sparse.csr_array
    examples: dict[str, int]
    rows: dict[str, int]


def bow_words(tables: Mapping[str, pa.Table], progress: Progress | None = None) -> Words:
    """Return the words of some sets; of a choice every option is read with the text.

    Args:
        tables: the sets (``schema.examples_schema``) by name.
        progress: called with (rows read, rows to read).
    """
    weighted = text_features(TextRows(*tables.values()), progress=progress)
    examples = {name: table.num_rows for name, table in tables.items()}
    return Words(weighted, examples, {name: len(TextRows(table)) for name, table in tables.items()})


def bow_features(words: Words, dimensions: int, seed: int, progress: Progress | None = None) -> dict[str, Floats32]:
    """Return bag-of-words features of each row of some sets: TF-IDF, reduced to few dimensions by a
    truncated SVD of ``train`` (of 50,000 random rows of it, where it has more) and scaled to a mean squared length of 10 there, which
    suits the usual penalty of a logistic regression.

    The options of a choice are joined by ``join_options``.

    Args:
        words: of sets, ``train`` among them (``bow_words``).
        dimensions: most dimensions; fewer where there are fewer words or rows.
        seed: of the SVD.
        progress: called with (rows reduced, rows to reduce), from the end of the SVD on.
    """
    weighted, examples, rows = words
    ends = np.cumsum([0, *rows.values()]).tolist()
    parts = {name: range(start, end) for name, start, end in zip(rows, ends, ends[1:], strict=False)}
    width = min(dimensions, weighted.shape[1] - 1, rows["train"] - 1)
    if width < 1:  # one row, or one word: there is nothing to decompose
        nothing = {name: np.zeros((number, rows[name] // max(number, 1), 1), np.float32) for name, number in examples.items()}
        return {name: join_options(values) for name, values in nothing.items()}
    directions = _directions(weighted, parts["train"], width, seed)
    projected = {name: _projected(weighted, part, directions, progress) for name, part in parts.items()}
    scale = np.sqrt(_SQUARED_NORM / max(float(np.einsum("ij,ij->i", projected["train"], projected["train"]).mean()), 1e-12))
    for values in projected.values():
        values *= np.float32(scale)
    return {name: join_options(values.reshape(examples[name], -1, width)) for name, values in projected.items()}


def _directions(weighted: sparse.csr_array, train: range, width: int, seed: int) -> Floats32:
    """Return the directions of an SVD, (n_features, width), of these rows, or of a random 50,000, whose directions are much the same."""
    from sklearn.decomposition import TruncatedSVD

    if len(train) <= _MOST_ROWS:
        sample = weighted[train.start : train.stop]
    else:
        sample = weighted[train.start + np.sort(np.random.default_rng([seed, 17]).choice(len(train), _MOST_ROWS, replace=False))]
    return np.ascontiguousarray(TruncatedSVD(width, random_state=seed).fit(sample).components_.T)


def _projected(weighted: sparse.csr_array, rows: range, directions: Floats32, progress: Progress | None) -> Floats32:
    """Return rows on these directions, block by block, ``(n_rows, width)``."""
    found = np.empty((len(rows), directions.shape[1]), np.float32)
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        found[start : start + _CHUNK] = weighted[part.start : part.stop] @ directions
        if progress is not None:
            progress(part.stop, weighted.shape[0])
    return found


def join_options(vectors: Floats32) -> Floats32:
    """Return one vector per row from one per option.

    Of two options it is the second's minus the first's, so that a linear model scores an option the same in either place; more
    are concatenated.

    Args:
        vectors: (n_examples, n_options, width); one option is no choice.
    """
    if vectors.shape[1] == 2:
        return np.ascontiguousarray(vectors[:, 1] - vectors[:, 0])
    return vectors.reshape(len(vectors), -1)


def join_sides(vectors: Floats32, info: DatasetInfo) -> Floats32:
    """Return one vector per row from those of its sides, concatenated as ``embed_sets`` wrote them.

    Of a pair: both, the absolute value of their difference, and their product (Conneau et al. 2017); of a choice as ``join_options``.

    Args:
        vectors: (n_examples, n_sides · width).
        info: what the set is.
    """
    if info.task == "pair":
        first, second = np.split(vectors, 2, axis=1)
        return np.concatenate([first, second, np.abs(first - second), first * second], axis=1)
    if info.task == "choice":
        return join_options(vectors.reshape(len(vectors), len(info.options), -1))
    return vectors


def write_features(uids: pa.ChunkedArray, features: Floats32, path: Path) -> None:
    """Write ``uid`` and ``features`` (a list of fixed size), sorted as given.

    Numbers of 16 bits, which keep three digits, where they can hold the values: half the file; else of 32.
    """
    width = features.shape[1]
    kind = pa.float16() if np.abs(features).max(initial=0.0) <= _MOST_HALF else pa.float32()
    schema = schema_of({UID: "string", COLUMN: pa.list_(kind, width)})
    names = uids.combine_chunks()
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False, write_statistics=False) as writer:
        for start in range(0, len(features), _CHUNK):
            values = pa.array(np.ascontiguousarray(features[start : start + _CHUNK], dtype=kind.to_pandas_dtype()).reshape(-1))
            writer.write_table(
                pa.Table.from_arrays([names[start : start + _CHUNK], pa.FixedSizeListArray.from_arrays(values, width)], schema=schema)
            )


def read_features(path: Path, uids: Sequence[str] | pa.ChunkedArray | None = None, *, what: str | None = None) -> tuple[pa.Array, Floats32]:
    """Read vectors from a Parquet file that has a column ``uid`` and one column of number lists, all of one length.

    Args:
        path: the file.
        uids: the rows wanted, in this order; None: all.
        what: the file's name in messages.

    Returns:
        (n_examples,) uids, and (n_examples, width) float32.

    Raises:
        InputError: it is no such file, a uid has no features or occurs twice, lists differ in length, or a value is not finite.
    """
    found, values = _vectors(path, uids, what or str(path), pa.float32())
    return found, cast(Floats32, values)


def read_stored_features(path: Path, uids: pa.ChunkedArray | None = None, *, what: str | None = None) -> tuple[pa.Array, Reals]:
    """Read vectors as ``read_features`` does; numbers of 16 bits, as ``write_features`` writes them, stay such: half the memory."""
    return _vectors(path, uids, what or str(path), pa.float16())


def _vectors(path: Path, uids: Sequence[str] | pa.ChunkedArray | None, name: str, least: pa.DataType) -> tuple[pa.Array, Reals]:
    """Return uids and vectors, whose numbers have as many bits as the file's, but at least, and at most 32; raises as ``read_features``."""
    try:
        names, values = _read(path, name, least)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{name} cannot be read as Parquet ({error}); give a Parquet file with the columns uid and features.") from error
    if uids is None:
        return names, values
    wanted = pa.array(uids, pa.string()) if not isinstance(uids, pa.ChunkedArray) else uids.combine_chunks()
    places = pc.index_in(wanted, value_set=names)
    if places.null_count:
        missing = wanted.filter(pc.is_null(places))[0].as_py()
        raise InputError(
            f"{name} has no features of uid {missing!r} ({places.null_count:,} of {len(wanted):,} rows have none); give a vector for every "
            "row of the set."
        )
    return wanted, values if wanted.equals(names) else values[places.to_numpy()]


def _read(path: Path, name: str, least: pa.DataType) -> tuple[pa.Array, Reals]:
    """Return all uids and vectors of a file; raises as ``read_features``, and what Arrow raises."""
    file = pq.ParquetFile(path, memory_map=True)
    column = _vector_column(file.schema_arrow, name)
    names = file.read([UID])[UID].cast(pa.string()).combine_chunks()
    if pc.count_distinct(names).as_py() < len(names):
        twice = next(entry["values"] for entry in pc.value_counts(names).to_pylist() if entry["counts"] > 1)
        raise InputError(f"{name} has uid {twice!r} more than once; a row has one vector.")
    values = _regular(file, column, names, name, least)
    return names, _irregular(file.read([column])[column].combine_chunks(), names, name) if values is None else values


def _regular(file: pq.ParquetFile, column: str, names: pa.Array, name: str, least: pa.DataType) -> Reals | None:
    """Return the vectors of a file whose lists are all of one size, read block by block; None where they are not, or something is empty."""
    kind = file.schema_arrow.field(column).type
    if not pa.types.is_fixed_size_list(kind) or not kind.list_size:
        return None
    held = least if kind.value_type == pa.float16() else pa.float32()
    values, start = np.empty((len(names), kind.list_size), held.to_pandas_dtype()), 0
    for batch in file.iter_batches(_CHUNK, columns=[column]):
        lists = batch.column(0)
        flat = pc.cast(lists.flatten(), held)
        if lists.null_count or flat.null_count:
            return None
        stop = start + len(lists)
        values[start:stop] = flat.to_numpy().reshape(len(lists), -1)
        _require_finite(names[start:stop], values[start:stop], name)
        start = stop
    return values


def _irregular(lists: pa.Array, names: pa.Array, name: str) -> Floats32:
    """Return the vectors of any lists of one length.

    Raises:
        InputError: as ``read_features``.
    """
    if lists.null_count:
        raise InputError(
            f"{name} has no features in the row with uid {names.filter(pc.is_null(lists))[0].as_py()!r}; give every row its vector."
        )
    lengths = pc.list_value_length(lists)
    bounds = pc.min_max(lengths).as_py()
    if bounds["min"] != bounds["max"] or not bounds["max"]:
        raise InputError(
            f"{name}: the lists have between {bounds['min']} and {bounds['max']} numbers; every row's vector must have the same length."
        )
    flat = pc.cast(lists.flatten(), pa.float32()) if lists.type.value_type != pa.float32() else lists.flatten()
    if flat.null_count:
        raise InputError(f"{name} has an empty value within a list; every value must be a number.")
    values: Floats32 = flat.to_numpy(zero_copy_only=False).reshape(len(names), -1)
    _require_finite(names, values, name)
    return values


def _require_finite(uids: pa.Array, values: Reals, name: str) -> None:
    for start in range(0, len(values), _CHUNK):
        finite = np.isfinite(values[start : start + _CHUNK])
        if not finite.all():
            row, column = (int(place) for place in np.argwhere(~finite)[0])
            raise InputError(
                f"{name} has {values[start + row, column]} among the features of uid {uids[start + row].as_py()!r}; every value must be a "
                "finite number: make them again, or leave such rows out."
            )


def _vector_column(schema: pa.Schema, name: str) -> str:
    """Return which column of a file holds its vectors."""
    lists = (pa.types.is_fixed_size_list, pa.types.is_list, pa.types.is_large_list)
    vectors = [field.name for field in schema if any(is_kind(field.type) for is_kind in lists)]
    numbers = [field for field in vectors if pa.types.is_floating(schema.field(field).type.value_type)]
    if UID not in schema.names or len(numbers) != 1:
        raise InputError(
            f"{name} must have a column `uid` and one column of floating-point lists, but has {', '.join(schema.names)}; write one "
            "list of numbers per row."
        )
    return str(numbers[0])

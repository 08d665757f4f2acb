"""One feature vector per row, from words or from a file: the features Φ of AFLite, and those that distances are measured in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy import sparse

from cartograph.data.arrays import Floats32
from cartograph.errors import InputError
from cartograph.features.text import TextRows, text_features
from cartograph.schema import UID, DatasetInfo, schema_of

COLUMN = "features"
_CHUNK = 20_000
_SQUARED_NORM = 10.0
_MOST_ROWS = 50_000
_MOST_HALF = 6e4


def bow_features(tables: Mapping[str, pa.Table], dimensions: int, seed: int) -> dict[str, Floats32]:
    """Return bag-of-words features of each row of some sets: TF-IDF (``text_features``), reduced to few dimensions by a
    truncated SVD of ``train`` (of 50,000 random rows of it, where it has more) and scaled to a mean squared length of 10 there, which
    suits the usual penalty of a logistic regression.

    Of a choice every option is read with the text, and the options are joined by ``join_options``.

    Args:
        tables: sets of examples (``schema.examples_schema``) by name, ``train`` among them.
        dimensions: most dimensions; fewer where there are fewer words or rows.
        seed: of the SVD.
    """
    from sklearn.decomposition import TruncatedSVD

    rows = {name: len(TextRows(table)) for name, table in tables.items()}
    weighted = text_features(TextRows(*tables.values()))
    ends = np.cumsum([0, *rows.values()])
    parts = {name: weighted[start:end] for name, start, end in zip(rows, ends, ends[1:], strict=False)}
    width = min(dimensions, weighted.shape[1] - 1, parts["train"].shape[0] - 1)
    if width < 1:  # one row, or one word: there is nothing to decompose
        return {
            name: join_options(np.zeros((table.num_rows, rows[name] // max(table.num_rows, 1), 1), np.float32))
            for name, table in tables.items()
        }
    svd = TruncatedSVD(width, random_state=seed).fit(_sampled(parts["train"], seed))
    projected = {name: svd.transform(part).astype(np.float32, copy=False) for name, part in parts.items()}
    scale = np.sqrt(_SQUARED_NORM / max(float(np.einsum("ij,ij->i", projected["train"], projected["train"]).mean()), 1e-12))
    for values in projected.values():
        values *= np.float32(scale)
    return {name: join_options(values.reshape(tables[name].num_rows, -1, width)) for name, values in projected.items()}


def _sampled(rows: sparse.csr_array, seed: int) -> sparse.csr_array:
    """Return the rows that an SVD is taken of: a random 50,000 where there are more, whose directions are much the same."""
    if rows.shape[0] <= _MOST_ROWS:
        return rows
    return rows[np.sort(np.random.default_rng([seed, 17]).choice(rows.shape[0], _MOST_ROWS, replace=False))]


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
    name = what or str(path)
    names, lists = _columns(path, name)
    if pc.count_distinct(names).as_py() < len(names):
        twice = next(entry["values"] for entry in pc.value_counts(names).to_pylist() if entry["counts"] > 1)
        raise InputError(f"{name} has uid {twice!r} more than once; a row has one vector.")
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
    values = flat.to_numpy(zero_copy_only=False).reshape(len(names), -1)
    _require_finite(names, values, name)
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
    return wanted, values[places.to_numpy()]


def _require_finite(uids: pa.Array, values: Floats32, name: str) -> None:
    for start in range(0, len(values), _CHUNK):
        finite = np.isfinite(values[start : start + _CHUNK])
        if not finite.all():
            row, column = (int(place) for place in np.argwhere(~finite)[0])
            raise InputError(
                f"{name} has {values[start + row, column]} among the features of uid {uids[start + row].as_py()!r}; every value must be a "
                "finite number: make them again, or leave such rows out."
            )


def _columns(path: Path, name: str) -> tuple[pa.Array, Any]:
    try:
        table = pq.ParquetFile(path, memory_map=True).read()
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{name} cannot be read as Parquet ({error}); give a Parquet file with the columns uid and features.") from error
    lists = (pa.types.is_fixed_size_list, pa.types.is_list, pa.types.is_large_list)
    vectors = [field.name for field in table.schema if any(is_kind(field.type) for is_kind in lists)]
    numbers = [field for field in vectors if pa.types.is_floating(table.schema.field(field).type.value_type)]
    if UID not in table.column_names or len(numbers) != 1:
        raise InputError(
            f"{name} must have a column `uid` and one column of floating-point lists, but has {', '.join(table.column_names)}; write one "
            "list of numbers per row."
        )
    return table[UID].cast(pa.string()).combine_chunks(), table[numbers[0]].combine_chunks()

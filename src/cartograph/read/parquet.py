"""Parquet files, as raw columns or as typed tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.errors import InputError
from cartograph.read.arrow import raw_columns
from cartograph.read.source import Batch, Source


def read(source: Source) -> Iterator[Batch]:
    """Yield the rows of a Parquet file.

    Raises:
        InputError: it is not a Parquet file, or a damaged one.
    """
    done = 0
    for table in tables(source):
        yield raw_batch(table, source.name, done)
        done += len(table)


def raw_batch(table: pa.Table, name: str, start: int) -> Batch:
    """Return typed rows as a batch of raw columns.

    Args:
        table: typed columns.
        name: what messages call the source.
        start: rows of the source that came before.
    """
    return Batch(raw_columns(table, name), pa.array(range(start + 1, start + 1 + len(table)), pa.int64()))


def tables(source: Source) -> Iterator[pa.Table]:
    """Yield a Parquet file as typed tables, in order.

    Raises:
        InputError: as ``read``.
    """
    try:
        with pq.ParquetFile(source.path) as file:
            size, done = Path(source.path).stat().st_size, 0
            for part in file.iter_batches(batch_size=source.batch_rows):
                yield pa.Table.from_batches([part], file.schema_arrow)
                done += len(part)
                if source.progress is not None:
                    source.progress(size * done // file.metadata.num_rows, size)
    except (pa.ArrowInvalid, pa.ArrowIOError, UnicodeDecodeError) as error:
        raise InputError(
            f"{source.name} is not a Parquet file that can be read ({str(error).splitlines()[0]}); fetch it again, or name its `format`."
        ) from error

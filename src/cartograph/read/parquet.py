"""Parquet files, as raw columns or as typed tables."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.errors import InputError
from cartograph.read.arrow import raw_columns
from cartograph.read.source import BATCH_ROWS, Batch, Source

_IMAGES = 1_000


def read(source: Source) -> Iterator[Batch]:
    """Yield the rows of a Parquet file.

    Raises:
        InputError: it is not a Parquet file, or a damaged one.
    """
    done = 0
    for table in tables(source):
        yield Batch(raw_columns(table, source.name), pa.array(range(done + 1, done + 1 + len(table)), pa.int64()))
        done += len(table)


def tables(source: Source) -> Iterator[pa.Table]:
    """Yield a Parquet file as typed tables, in order.

    Raises:
        InputError: as ``read``.
    """
    try:
        with pq.ParquetFile(source.path) as file:
            for part in file.iter_batches(batch_size=_IMAGES if source.images else BATCH_ROWS):
                yield pa.Table.from_batches([part], file.schema_arrow)
    except (pa.ArrowInvalid, pa.ArrowIOError, UnicodeDecodeError) as error:
        raise InputError(
            f"{source.name} is not a Parquet file that can be read ({str(error).splitlines()[0]}); fetch it again, or name its `format`."
        ) from error

"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.errors import InputError
from cartograph.read.arrow import raw_columns
from cartograph.read.source import BATCH_ROWS, Batch, Source


def read(source: Source) -> Iterator[Batch]:
    """Yield the rows of a Parquet file.

    Raises:
        InputError: it is not a Parquet file, or a damaged one.
    """
    done = 0
    try:
        with pq.ParquetFile(source.path) as file:
            for part in file.iter_batches(batch_size=BATCH_ROWS):
                table = raw_columns(pa.Table.from_batches([part], file.schema_arrow), source.name)
                yield Batch(table, pa.array(range(done + 1, done + 1 + len(table)), pa.int64()))
                done += len(table)
    except (pa.ArrowInvalid, pa.ArrowIOError) as error:
        raise InputError(
            f"{source.name} is not a Parquet file that can be read ({str(error).splitlines()[0]}); fetch it again, or name its `format`."
        ) from error

"""Parquet files written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.data.whole_files import whole_file


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a table so that the file is whole, and on disk, or absent."""
    with whole_file(path) as file:
        pq.write_table(table, file, compression="zstd", use_dictionary=False, write_statistics=False)

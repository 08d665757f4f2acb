"""Parquet files written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a table so that the file is whole, and on disk, or absent."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        pq.write_table(table, file, compression="zstd", use_dictionary=False, write_statistics=False)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames inside a folder outlast a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

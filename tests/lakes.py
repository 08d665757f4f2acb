"""Real lake tables for tests: a Delta table in a folder, an Iceberg table with a catalogue in SQLite; each write makes a version."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

VARIABLE = "REVIEWS_CATALOG"
SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string()), ("label", pa.string())])


@dataclass(frozen=True)
class Lake:
    """A table with its entry in params.yaml, and what writes to it.

    Attributes:
        entry: without a version.
        write: appends rows; returns the version that the table has then.
        replace: likewise, the rows that were there are gone.
        version: the key of params.yaml that holds a version.
    """

    entry: dict[str, Any]
    write: Callable[[pa.Table], int]
    replace: Callable[[pa.Table], int]
    version: str


def rows(start: int, stop: int) -> pa.Table:
    """Reviews with these numbers."""
    numbers = range(start, stop)
    texts = [f"the café number {number} was {'dull' if number % 2 else 'great'}" for number in numbers]
    return pa.table({"id": numbers, "text": texts, "label": ["bad" if number % 2 else "good" for number in numbers]}, schema=SCHEMA)


def delta(folder: Path) -> Lake:
    """A Delta table that has no rows yet."""
    from deltalake import DeltaTable, write_deltalake

    path = str(folder / "reviews")

    def write(table: pa.Table, mode: Any = "append") -> int:
        write_deltalake(path, table, mode=mode)
        return DeltaTable(path).version()

    return Lake({"table": path, "format": "delta"}, write, lambda table: write(table, "overwrite"), "version")


def iceberg(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """An Iceberg table that has no rows yet, its catalogue in the environment."""
    from pyiceberg.catalog import load_catalog

    properties = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}/warehouse"}
    monkeypatch.setenv(VARIABLE, json.dumps(properties))
    catalog = load_catalog("default", **properties)
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.reviews", SCHEMA)

    def written(change: Callable[[pa.Table], None]) -> Callable[[pa.Table], int]:
        def write(content: pa.Table) -> int:
            change(content)
            snapshot = table.refresh().current_snapshot()
            assert snapshot is not None
            return snapshot.snapshot_id

        return write

    entry = {"table": "shop.reviews", "format": "iceberg", "catalog": f"env:{VARIABLE}"}
    return Lake(entry, written(table.append), written(table.overwrite), "snapshot")

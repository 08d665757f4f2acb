"""Where an audit's tables go: a schema of a database, or a table of a lake; never the table that the rows come from.

Databases and catalogues are named by the environment variable that holds their address, as where rows are read. A process of its own reads
that variable and writes; here nothing of it is known.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.data.parquet import write_parquet
from cartograph.errors import InputError
from cartograph.read.databases import Query, ask_process, variable_of
from cartograph.read.lakes import LakeTable
from cartograph.write.tables import ALL_TABLES

if TYPE_CHECKING:
    import pyarrow as pa

_LIMIT = "publish.tables.max_seconds"


@dataclass(frozen=True)
class Schema:
    """A schema of a database.

    Attributes:
        database: the environment variable that holds the address, as ``env:NAME``.
        into: the schema's name; in SQLite, which has none, what the tables' names begin with.
    """

    database: str
    into: str

    @property
    def names(self) -> tuple[str, ...]:
        """The tables' names, as a query of any of the databases may write them."""
        return tuple(name for table in ALL_TABLES for name in (f"{self.into}.{table}", f"{self.into}_{table}"))


def require_other_than_source(target: Schema | LakeTable, sources: Iterable[Query | LakeTable]) -> None:
    """Check that no table is written to that rows are read from.

    Args:
        target: where tables go.
        sources: the queries and tables of the audit.

    Raises:
        InputError: one is both.
    """
    for source in sources:
        both = None
        if isinstance(target, Schema) and isinstance(source, Query):
            # However it is quoted: "cartograph" . "suspects".
            asked = re.sub(r"[\"'`\[\]\s]", "", source.query).lower()
            both = next((name for name in target.names if name.lower() in asked), None)
        elif isinstance(target, LakeTable) and isinstance(source, LakeTable) and _place(target) == _place(source):
            both = target.table
        if both is not None:
            raise InputError(
                f"`publish.tables` names {both}, which the audit reads its rows from; a source is never written to: name another place."
            )


def _place(table: LakeTable) -> str:
    if table.format == "iceberg" or "://" in table.table:
        return f"{table.format}:{table.table.rstrip('/')}"
    return f"{table.format}:{Path(table.table).expanduser().resolve()}"


def write_tables(target: Schema | LakeTable, audit: str, tables: Mapping[str, pa.Table], seconds: float) -> int:
    """Write an audit's tables in one transaction, in place of what is there of the same audit; return how many rows.

    Args:
        target: where to.
        audit: its fingerprint.
        tables: as ``findings.findings`` or ``label_findings.label_findings`` returns them.
        seconds: the longest that it may take; nothing is written then.

    Raises:
        InputError: the variable is not set, the place cannot be written to, or a table there is another.
    """
    request: dict[str, Any] = {"audit": audit, "seconds": seconds, "tables": list(tables)}
    if isinstance(target, Schema):
        process, name, variable = "cartograph.write.database_process", f"the database of {target.database}", variable_of(target.database)
        request |= {"into": target.into}
    else:
        in_environment = target.catalog is not None and target.catalog.startswith("env:")
        process, name, variable = "cartograph.write.lake_process", target.title, variable_of(target.catalog or "") if in_environment else ""
        request |= {"table": target.table, "format": target.format, "catalog": None if in_environment else target.catalog}
    if variable and not os.environ.get(variable):
        raise InputError(f"{name} cannot be written to: the environment variable {variable} is not set; set it to the address.")
    with tempfile.TemporaryDirectory(prefix="cartograph-") as folder:
        for table, rows in tables.items():
            write_parquet(rows, Path(folder) / f"{table}.parquet")
        answer = ask_process(process, request | {"folder": folder, "variable": variable}, name, seconds, limit=_LIMIT)
    return int(answer["rows"])

"""The process in which a database is written to: all tables of one audit in one transaction, which replaces what it has of that audit.

It is a process of its own so that it alone holds the connection, and can be ended when its time is over: what was not committed is then
not there. The address comes from the environment, and stays out of all that is said. Only tables that have these very columns are
written to: a table of something else is left alone.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.read.answering import Refused, Request, answer_one
from cartograph.read.database_process import file_of, hidden
from cartograph.write.tables import ALL_TABLES, AUDIT, TABLES, key_of

_TYPES = {pa.string(): "TEXT", pa.int64(): "BIGINT", pa.float64(): "FLOAT8"}
_ROWS = 50_000


@dataclass(frozen=True)
class Connection:
    """A transaction that has begun.

    Attributes:
        execute: runs a statement.
        columns: of a table; empty where it is not there.
        insert: appends rows to a table.
        commit: ends the transaction; without it nothing was written.
        name: a table's name as statements have it.
        make_schema: makes the schema where it is missing.
    """

    execute: Callable[[str], object]
    columns: Callable[[str], list[str]]
    insert: Callable[[str, pa.Table], object]
    commit: Callable[[], object]
    name: Callable[[str], str]
    make_schema: Callable[[], object]


def main() -> None:
    """Answer a request to write."""
    answer_one(_answer, hidden, done="written to", needs="a driver", extra=lambda _: "databases")


def _answer(request: Request, address: str) -> dict[str, Any]:
    files = {name: Path(request["folder"]) / f"{name}.parquet" for name in request["tables"]}
    tables = ((name, pq.read_table(file)) for name, file in files.items())
    return {"rows": write(address, request["into"], request["audit"], tables, request["seconds"], tuple(files))}


def write(
    address: str, into: str, audit: str, tables: Iterable[tuple[str, pa.Table]], seconds: float, names: Sequence[str] = tuple(TABLES)
) -> int:
    """Write the tables of an audit in one transaction, in place of what is there of it; return how many rows.

    Args:
        address: of the database.
        into: the schema; in SQLite, which has none, what the tables' names begin with.
        audit: its fingerprint.
        tables: name and rows of each, as ``tables.ALL_TABLES`` has them, one at a time.
        seconds: the longest that a statement may take, where the server can end it.
        names: of the tables.

    Raises:
        Refused: the address is of no such database, or a table of that name has other columns.
    """
    if not re.fullmatch("[0-9a-f]{8,64}", audit) or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", into):
        raise Refused("is given a name that is not one")
    scheme = address.partition(":")[0].lower()
    opened = {"postgresql": _postgresql, "postgres": _postgresql, "sqlite": _sqlite, "duckdb": _duckdb}.get(scheme)
    if opened is None:
        raise Refused("has an address of another kind than postgresql://…, sqlite:///FILE and duckdb:///FILE")
    rows = 0
    with opened(address, into, seconds) as connection:
        _prepare(connection, names)
        for name, table in tables:
            connection.execute(f"DELETE FROM {connection.name(name)} WHERE {AUDIT} = '{audit}'")  # noqa: S608
            connection.insert(name, table)
            rows += table.num_rows
        connection.commit()
    return rows


def _prepare(connection: Connection, names: Sequence[str]) -> None:
    """Make what is missing of schema and tables.

    Raises:
        Refused: a table of that name is another.
    """
    found = {name: connection.columns(name) for name in names}
    for name, there in found.items():
        if there and sorted(there) != sorted(ALL_TABLES[name].names):
            shown = ", ".join(sorted(there))[:200]
            raise Refused(
                f"has a table {connection.name(name)} that is not Cartograph's (its columns are {shown}), which is left as it is; name "
                "another place with `into`"
            )
    connection.make_schema()
    for name in names:
        if not found[name]:
            columns = [f'"{field.name}" {_TYPES[field.type]}{"" if field.nullable else " NOT NULL"}' for field in ALL_TABLES[name]]
            key = ", ".join(f'"{column}"' for column in key_of(name))
            connection.execute(f"CREATE TABLE {connection.name(name)} ({', '.join(columns)}, PRIMARY KEY ({key}))")


@contextmanager
def _postgresql(address: str, into: str, seconds: float) -> Iterator[Connection]:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address) as connection, connection.cursor() as cursor:

        def ask(statement: str) -> list[Any]:
            cursor.execute(statement)
            return list(cursor.fetchall())

        def columns(name: str) -> list[str]:
            where = f"table_schema = '{into}' AND table_name = '{name}'"
            return [row[0] for row in ask(f"SELECT column_name::text FROM information_schema.columns WHERE {where}")]  # noqa: S608

        def make_schema() -> None:
            # To make one that is there needs a right that a writer of tables need not have.
            if not ask(f"SELECT 1 FROM pg_namespace WHERE nspname = '{into}'"):  # noqa: S608
                cursor.execute(f'CREATE SCHEMA "{into}"')

        def insert(name: str, table: pa.Table) -> None:
            cursor.adbc_ingest(name, table, mode="append", db_schema_name=into)

        cursor.execute(f"SET LOCAL statement_timeout = {max(round(seconds * 1000), 1)}")
        # One audit after the other: two that make the schema at once would stop each other.
        ask(f"SELECT pg_advisory_xact_lock(hashtext('cartograph.{into}'))::text")
        yield Connection(cursor.execute, columns, insert, connection.commit, lambda name: f'"{into}"."{name}"', make_schema)


@contextmanager
def _sqlite(address: str, into: str, seconds: float) -> Iterator[Connection]:
    path = f"file:{quote(file_of(address))}?mode=rw"
    with closing(sqlite3.connect(path, uri=True, timeout=seconds, isolation_level=None)) as connection:

        def insert(name: str, table: pa.Table) -> None:
            marks = ", ".join("?" * table.num_columns)
            for batch in table.to_batches(max_chunksize=_ROWS):
                rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
                connection.executemany(f'INSERT INTO "{into}_{name}" VALUES ({marks})', rows)  # noqa: S608

        def columns(name: str) -> list[str]:
            return [row[0] for row in connection.execute(f"SELECT name FROM pragma_table_info('{into}_{name}')")]  # noqa: S608

        connection.execute("BEGIN IMMEDIATE")
        yield Connection(
            connection.execute, columns, insert, lambda: connection.execute("COMMIT"), lambda name: f'"{into}_{name}"', lambda: None
        )


@contextmanager
def _duckdb(address: str, into: str, seconds: float) -> Iterator[Connection]:
    import duckdb

    settings = {"enable_external_access": "false", "autoinstall_known_extensions": "false", "lock_configuration": "true"}
    with closing(duckdb.connect(file_of(address), config=settings)) as connection:

        def insert(name: str, table: pa.Table) -> None:
            connection.register("written", table)
            connection.execute(f'INSERT INTO "{into}"."{name}" SELECT * FROM written')  # noqa: S608
            connection.unregister("written")

        def columns(name: str) -> list[str]:
            where = f"table_schema = '{into}' AND table_name = '{name}'"
            return [row[0] for row in connection.execute(f"SELECT column_name FROM information_schema.columns WHERE {where}").fetchall()]  # noqa: S608

        connection.execute("BEGIN")
        yield Connection(
            connection.execute,
            columns,
            insert,
            lambda: connection.execute("COMMIT"),
            lambda name: f'"{into}"."{name}"',
            lambda: connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{into}"'),
        )


if __name__ == "__main__":
    main()

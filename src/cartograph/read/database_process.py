"""The process in which a database is read: one query that only reads, its rows streamed into one Parquet file.

It is a process of its own so that a query can be ended when its time is over, whatever the driver does. The address of the database comes
from the environment, and stays out of all that is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.read import adbc_servers
from cartograph.read.answering import Refused, Request, answer_one

_ROWS = 50_000
_LONGEST = 300


def main() -> None:
    """Answer a request to read."""
    answer_one(_answer, hidden, done="read", needs="a driver", extra=extra_of)


def _answer(request: dict[str, Any], address: str) -> dict[str, Any]:
    with _batches(address, request["query"], request["seconds"]) as (schema, batches):
        if request["target"] is None:
            # By position: two columns may have one name.
            first: list[Any] = next(([column[0].as_py() for column in batch.columns] for batch in batches if batch.num_rows), [])
            return {"rows": 1, "first": [None if value is None else str(value) for value in first]}
        return {"rows": write_rows(schema, batches, Path(request["target"]), request["max_bytes"])}


def write_rows(schema: pa.Schema, batches: Iterator[pa.RecordBatch], target: Path, most: int) -> int:
    """Write batches to a Parquet file as they come; return how many rows there are.

    Args:
        schema: of every batch.
        batches: Arrow's record batches.
        target: the file to write.
        most: bytes that all batches may hold, as Arrow holds them.

    Raises:
        Refused: they hold more.
    """
    rows = size = 0
    with pq.ParquetWriter(target, schema, compression="zstd", use_dictionary=False, write_statistics=False) as file:
        for batch in batches:
            rows += batch.num_rows
            size += batch.nbytes
            if size > most:
                raise Refused(
                    f"returns more than {most / 1e6:,.1f} MB, beyond what `fetch.max_megabytes` allows; raise that, or select fewer rows"
                )
            if batch.num_rows:
                file.write_batch(batch)
    return rows


@contextmanager
def _batches(address: str, query: str, seconds: float) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    """Yield the schema and the batches of a query's rows."""
    kind = _KINDS.get(_scheme(address))
    if kind is None:
        forms = f"postgresql://…, sqlite:///FILE, duckdb:///FILE, {adbc_servers.FORMS}"
        raise Refused(f"has an address of another kind than {forms}")
    with kind.opened(address, query, seconds) as reader:
        yield reader.schema, iter(reader)


def extra_of(address: str) -> str:
    """Return the extra that installs the driver for an address.

    >>> extra_of("grpc+tls://example.org:443"), extra_of("sqlite:///a.db")
    ('flightsql', 'databases')
    """
    kind = _KINDS.get(_scheme(address))
    return kind.extra if kind else "databases"


def _scheme(address: str) -> str:
    return address.partition(":")[0].lower()


@contextmanager
def _postgresql(address: str, query: str, seconds: float) -> Iterator[Any]:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        cursor.execute(f"SET LOCAL statement_timeout = {max(round(seconds * 1000), 1)}")
        cursor.execute(query)
        yield cursor.fetch_record_batch()
        connection.rollback()


@contextmanager
def _sqlite(address: str, query: str, seconds: float) -> Iterator[Any]:
    from adbc_driver_sqlite import StatementOptions, dbapi

    with dbapi.connect(f"file:{quote(file_of(address))}?mode=ro") as connection, connection.cursor() as cursor:
        # Types are those of the first batch's values.
        cursor.adbc_statement.set_options(**{StatementOptions.BATCH_ROWS.value: str(_ROWS)})
        cursor.execute(query)
        yield cursor.fetch_record_batch()


@contextmanager
def _duckdb(address: str, query: str, seconds: float) -> Iterator[Any]:
    import duckdb

    settings = {"enable_external_access": "false", "autoinstall_known_extensions": "false", "lock_configuration": "true"}
    with closing(duckdb.connect(file_of(address), read_only=True, config=settings)) as connection:
        if len(duckdb.extract_statements(query)) != 1:
            raise Refused("is asked for several statements; write one query")
        relation = connection.sql(query)
        if relation is None:
            raise Refused("is asked for a statement without rows; write a query")
        yield relation.to_arrow_reader(_ROWS)


@dataclass(frozen=True)
class _Kind:
    opened: Callable[[str, str, float], AbstractContextManager[Any]]
    extra: str


_FLIGHT_SQL = _Kind(adbc_servers.flightsql, "flightsql")
_KINDS = {
    "postgresql": _Kind(_postgresql, "databases"),
    "postgres": _Kind(_postgresql, "databases"),
    "sqlite": _Kind(_sqlite, "databases"),
    "duckdb": _Kind(_duckdb, "databases"),
    "snowflake": _Kind(adbc_servers.snowflake, "snowflake"),
    "bigquery": _Kind(adbc_servers.bigquery, "bigquery"),
    "grpc": _FLIGHT_SQL,
    "grpc+tcp": _FLIGHT_SQL,
    "grpc+tls": _FLIGHT_SQL,
}


def file_of(address: str) -> str:
    """Return the path in ``sqlite:///relative``, ``sqlite:////absolute``, and likewise of DuckDB.

    Raises:
        Refused: there is no such file.
    """
    path = re.sub(r"^\w+:(///?)?", "", address)
    if not Path(unquote(path)).is_file():
        raise Refused("is a file that does not exist")
    return unquote(path)


def hidden(text: str, _: Request, address: str) -> str:
    """Return a text on one line, without the address: what ``answer_one`` says of a database."""
    return without_secrets(text, address)


def without_secrets(text: str, address: str) -> str:
    """Return a text on one line, without the address of a database and its parts.

    >>> without_secrets("no user 'ann' at db.example.org with s%cret", "postgresql://ann:s%25cret@db.example.org/reviews")
    "no user '…' at … with …"
    """
    try:
        parts = urlsplit(address)
        held = [address, parts.netloc, parts.password, parts.username, parts.hostname, parts.query]
    except ValueError:
        held = [address]
    held += [value.partition("=")[2] for value in re.split(r"[&\s]", address) if "=" in value]
    scheme, _, rest = address.partition(":")
    if scheme.lower() not in ("sqlite", "duckdb"):
        # A password with an unescaped `/` or `@` is in pieces elsewhere than where a password belongs.
        held += [piece for piece in re.split(r"[/:@?&=#\s]+", rest.rpartition("@")[0] or rest) if len(piece) > 1]
    for secret in sorted({spelled for one in held if one for spelled in (one, unquote(one))}, key=len, reverse=True):
        text = text.replace(secret, "…")
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


if __name__ == "__main__":
    main()

"""Snowflake, BigQuery and Flight SQL through their ADBC drivers: servers that have no read-only transaction.

What protects them is the role that one reads with; besides, a statement that is not one SELECT is refused before it is sent. What the
address has after ``?`` is given to the driver: Snowflake's connection parameters, otherwise the options of the ADBC driver by their names.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from cartograph.read.answering import Refused

FORMS = "snowflake://USER:PASSWORD@ACCOUNT/DATABASE/SCHEMA, bigquery:///PROJECT/DATASET, grpc+tls://HOST:PORT"
_OF_STATEMENTS = "adbc.bigquery.sql.query."
_NOT_WORDS = re.compile(r"""--[^\n]*|/\*.*?\*/|('(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`)""", re.DOTALL)
_WRITES = re.compile(r"\b(insert|update|delete|merge|into|as\s+procedure)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Connecting:
    """What a driver is called with.

    Attributes:
        uri: the address, for drivers that take one.
        database: options of the connection.
        statement: options of each statement.
    """

    uri: str | None
    database: dict[str, str]
    statement: dict[str, str | int]


def require_one_select(query: str) -> None:
    """Check that a query reads, as far as its words say.

    Raises:
        Refused: it is several statements, does not begin with SELECT or WITH, or writes.
    """
    bare = _NOT_WORDS.sub(lambda found: "''" if found[1] else " ", query).strip().rstrip(";").strip()
    if ";" in bare:
        raise Refused("is asked for several statements; write one query")
    if not re.match(r"\(*\s*(select|with)\b", bare, re.IGNORECASE):
        raise Refused("has no read-only transaction, so that only a query that begins with SELECT or WITH is sent to it")
    if found := _WRITES.search(bare):
        word = " ".join(found[1].upper().split())
        raise Refused(f"has no read-only transaction, so that a query with {word} is not sent to it; quote it where it is a column's name")


def snowflake_options(address: str, seconds: float) -> Connecting:
    """Return what Snowflake's driver is called with.

    Args:
        address: ``snowflake://USER:PASSWORD@ACCOUNT/DATABASE/SCHEMA?warehouse=NAME``.
        seconds: the longest that a statement may take.
    """
    form = address.partition("://")[2]
    limit = f"STATEMENT_TIMEOUT_IN_SECONDS={max(round(seconds), 1)}"
    return Connecting(f"{form}{'&' if '?' in form else '?'}{limit}", {"adbc.snowflake.sql.client_option.disable_telemetry": "true"}, {})


def bigquery_options(address: str, seconds: float) -> Connecting:
    """Return what BigQuery's driver is called with; it takes Google's default credentials.

    Args:
        address: ``bigquery:///PROJECT/DATASET``, or ``bigquery:///PROJECT``.
        seconds: the longest that a query may take.

    Raises:
        Refused: the address has another form.
    """
    parts, given = _parsed(address)
    names = [unquote(name) for name in f"{parts.netloc}{parts.path}".split("/") if name]
    if not 1 <= len(names) <= 2 or "@" in parts.netloc:
        raise Refused("has an address of another form than bigquery:///PROJECT/DATASET; credentials are Google's own")
    statement: dict[str, str | int] = {
        "adbc.bigquery.sql.query.job_timeout": max(round(seconds * 1000), 1),
        "adbc.bigquery.sql.query.default_project_id": names[0],
        **({"adbc.bigquery.sql.query.default_dataset_id": names[1]} if names[1:] else {}),
        **{name: int(value) if value.isdecimal() else value for name, value in given.items() if name.startswith(_OF_STATEMENTS)},
    }
    database = {name: value for name, value in given.items() if not name.startswith(_OF_STATEMENTS)}
    return Connecting(None, {"adbc.bigquery.sql.project_id": names[0], **database}, statement)


def flightsql_options(address: str, seconds: float) -> Connecting:
    """Return what the driver of Flight SQL is called with.

    Args:
        address: ``grpc://HOST:PORT``, ``grpc+tls://USER:PASSWORD@HOST:PORT``.
        seconds: the longest that each call may take.

    Raises:
        Refused: the address has another form.
    """
    parts, given = _parsed(address)
    who, at, server = parts.netloc.rpartition("@")
    user, _, password = who.partition(":")
    database = {"username": unquote(user), "password": unquote(password)} if at else {}
    limits = {f"adbc.flight.sql.rpc.timeout_seconds.{call}": str(max(seconds, 0.001)) for call in ("connect", "query", "fetch")}
    return Connecting(f"{parts.scheme}://{server}", {**limits, **database, **given}, {})


def _parsed(address: str) -> tuple[Any, dict[str, str]]:
    parts = urlsplit(address)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not all(name.startswith("adbc.") for name in given):
        raise Refused("has an address with something after `?` that is no option of the driver; their names begin with adbc.")
    return parts, given


def snowflake(address: str, query: str, seconds: float) -> AbstractContextManager[Any]:
    """Return what yields the reader of a query's rows."""
    require_one_select(query)
    from adbc_driver_snowflake import dbapi

    return _reader(dbapi.connect, snowflake_options(address, seconds), query, seconds)


def bigquery(address: str, query: str, seconds: float) -> AbstractContextManager[Any]:
    """Return what yields the reader of a query's rows."""
    require_one_select(query)
    from adbc_driver_bigquery import dbapi

    return _reader(dbapi.connect, bigquery_options(address, seconds), query, seconds)


def flightsql(address: str, query: str, seconds: float) -> AbstractContextManager[Any]:
    """Return what yields the reader of a query's rows."""
    require_one_select(query)
    from adbc_driver_flightsql import dbapi

    return _reader(dbapi.connect, flightsql_options(address, seconds), query, seconds)


@contextmanager
def _reader(connect: Callable[..., Any], called: Connecting, query: str, seconds: float) -> Iterator[Any]:
    where = (called.database,) if called.uri is None else (called.uri, called.database)
    with _limited(seconds), connect(*where, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**called.statement)
        cursor.execute(query)
        reader = cursor.fetch_record_batch()
        if not reader.schema.names:
            raise Refused("returns no rows, and does not say which columns they would have")
        yield reader


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Say in one way that a server's or a driver's time-out has ended a query."""
    started = time.monotonic()
    try:
        yield
    except Refused:
        raise
    except Exception:
        if time.monotonic() - started < seconds:
            raise
        raise Refused(f"took longer than {seconds:,.0f} seconds, which `fetch.max_seconds` allows; raise that, or select less") from None

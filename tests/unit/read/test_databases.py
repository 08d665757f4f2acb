"""Queries of real databases: rows as they are, and what is refused."""

from __future__ import annotations

import os
import sqlite3
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.errors import InputError
from cartograph.read.databases import Query, mark_of, snapshot
from tests import flightsql
from tests.postgresql import PASSWORD, Server, server

ROWS = [(number, f"the café number {number}", "bad" if number % 2 else "good") for number in range(60)]
ENDLESS = "with recursive t as (select 1 as i union all select i + 1 from t) select count(*) from t"


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Server]:
    with server() as running:
        values = ", ".join(f"({number}, '{text}', '{label}')" for number, text, label in ROWS)
        running.run("create table reviews (id bigint, text text, label text)", f"insert into reviews values {values}")
        yield running


@pytest.fixture(scope="module")
def flight_sql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of Flight SQL with reviews."""
    reviews = pa.table(dict(zip(("id", "text", "label"), map(list, zip(*ROWS, strict=True)), strict=True)))
    with flightsql.server(tmp_path_factory.mktemp("flight"), reviews=reviews) as address:
        yield address


def fill(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("create table reviews (id integer, text text, label text)")
    connection.executemany("insert into reviews values (?, ?, ?)", ROWS)
    connection.commit()
    connection.close()


@pytest.fixture(params=["postgresql", "sqlite", "duckdb", "flightsql"])
def database(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The reference of a database with reviews, of each kind."""
    path = tmp_path / f"reviews of {request.param}.db"
    if request.param == "postgresql":
        address = request.getfixturevalue("postgresql").address
    elif request.param == "flightsql":
        address = request.getfixturevalue("flight_sql")
    elif request.param == "sqlite":
        fill(path)
        address = f"sqlite:///{path}"
    else:
        import duckdb

        with duckdb.connect(str(path)) as connection:
            connection.execute("create table reviews (id bigint, text varchar, label varchar)")
            connection.executemany("insert into reviews values (?, ?, ?)", ROWS)
        address = f"duckdb:///{path}"
    monkeypatch.setenv("REVIEWS_DB", address)
    return "env:REVIEWS_DB"


def asked(query: Query, path: Path, most: int = 10_000_000, seconds: float = 60) -> int:
    return snapshot(query, path, max_bytes=most, seconds=seconds)


def test_rows_come_as_they_are_and_the_same_bytes_each_time(database: str, tmp_path: Path) -> None:
    query = Query(database, "select id, text, label from reviews order by id")
    assert asked(query, tmp_path / "a.parquet") == len(ROWS)
    assert [tuple(row.values()) for row in pq.read_table(tmp_path / "a.parquet").to_pylist()] == ROWS
    asked(query, tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_a_query_without_rows_has_its_columns(database: str, tmp_path: Path) -> None:
    query = Query(database, "select text, label from reviews where id < 0")
    if os.environ["REVIEWS_DB"].startswith("grpc:"):
        # This server does not name them.
        with pytest.raises(InputError, match="returns no rows, and does not say which columns"):
            asked(query, tmp_path / "a.parquet")
        return
    assert asked(query, tmp_path / "a.parquet") == 0
    assert pq.read_table(tmp_path / "a.parquet").column_names == ["text", "label"]


def test_a_watermark_changes_with_what_it_says(database: str) -> None:
    query = Query(database, "select 1", "select max(id), count(*) from reviews")
    assert mark_of(query, 60) == '["select max(id), count(*) from reviews", "59", "60"]'
    assert mark_of(Query(database, "select 1"), 60) is None


def test_a_watermark_has_every_column_also_where_two_have_one_name(database: str) -> None:
    if os.environ["REVIEWS_DB"].startswith("grpc:"):
        pytest.skip("this server refuses two columns of one name")
    watermark = "select max(id) as a, count(*) as a from reviews"
    assert mark_of(Query(database, "select 1", watermark), 60) == f'["{watermark}", "59", "60"]'


@pytest.mark.slow
def test_nothing_can_be_written(database: str, tmp_path: Path) -> None:
    for statement in ("delete from reviews", "delete from reviews returning id", "drop table reviews", "create table mine (id int)"):
        with pytest.raises(InputError, match=r"the database of env:REVIEWS_DB .+\.$"):
            asked(Query(database, statement), tmp_path / "a.parquet")
    assert asked(Query(database, "select id from reviews"), tmp_path / "a.parquet") == len(ROWS)


def test_a_query_that_returns_too_much_or_is_wrong_says_so(database: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"returns more than 0\.0 MB.*`fetch\.max_megabytes`"):
        asked(Query(database, "select text from reviews"), tmp_path / "a.parquet", most=100)
    with pytest.raises(InputError, match="nonsense"):
        asked(Query(database, "select nonsense from reviews"), tmp_path / "a.parquet")


@pytest.mark.slow
def test_a_query_that_does_not_end_is_ended(database: str, tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(InputError, match=r"`fetch\.max_seconds` allows|statement timeout"):
        asked(Query(database, ENDLESS), tmp_path / "a.parquet", seconds=1)
    assert time.monotonic() - started < 60


@pytest.mark.slow
def test_no_message_holds_what_the_address_holds(postgresql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = postgresql.address
    wrong = (
        right.replace("auditor", "pl4nted-user"),
        right.replace(str(postgresql.port), "1"),
        right.replace("postgresql:", "mysql:"),
        f"sqlite:///{tmp_path}/{PASSWORD}.db",
        f"duckdb:///{tmp_path}/{PASSWORD}.db",
        f"postgresql://?host=127.0.0.1&port={postgresql.port}&user=pl4nted-user&password={PASSWORD}",
        "postgresql://ann:pl4nted/pl4nted-too@127.0.0.1:1/x",
        "postgresql://ann:pl4nted",
    )
    for address in wrong:
        keeps_its_secret(address, tmp_path, monkeypatch)
    with pytest.raises(InputError, match="written env:NAME") as error:
        Query(right, "select 1").path  # noqa: B018
    assert "pl4nted" not in str(error.value)


def keeps_its_secret(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWS_DB", address)
    with pytest.raises(InputError) as error:
        asked(Query("env:REVIEWS_DB", "select 1"), tmp_path / "a.parquet")
    said = "".join(traceback.format_exception(error.value))
    assert "pl4nted" not in said, said


@pytest.mark.parametrize(
    "address",
    [
        "grpc://pl4nted-user:pl4nted@127.0.0.1:1",
        "grpc://127.0.0.1:1?adbc.flight.sql.authorization_header=Bearer%20pl4nted",
        "grpc://127.0.0.1:1?pl4nted=pl4nted",
        "grpc://ann:pl4nted/pl4nted-too@127.0.0.1:1",
        "snowflake://pl4nted",
        "snowflake://ann:pl4nted@127.0.0.1:1/db?protocol=http&account=pl4nted&loginTimeout=1",
        "bigquery:///pl4nted?adbc.bigquery.sql.auth_type=pl4nted",
        "bigquery://ann:pl4nted@pl4nted/reviews",
    ],
)
def test_no_message_of_a_server_elsewhere_holds_what_the_address_holds(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeps_its_secret(address, tmp_path, monkeypatch)


def test_a_server_of_flight_sql_takes_a_password_alone(flight_sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in (flight_sql.replace(flightsql.PASSWORD, "another"), flight_sql.replace(flightsql.PASSWORD, "")):
        monkeypatch.setenv("REVIEWS_DB", address)
        with pytest.raises(InputError, match="cannot be read: UNAUTHENTICATED"):
            asked(Query("env:REVIEWS_DB", "select 1"), tmp_path / "a.parquet")


def test_a_driver_that_is_not_installed_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for extra, address in (("snowflake", "snowflake://a:b@c/d"), ("bigquery", "bigquery:///p/d"), ("flightsql", "grpc+tls://host:1")):
        absent = tmp_path / f"adbc_driver_{extra}"
        absent.mkdir()
        (absent / "__init__.py").write_text("raise ImportError('No module named x')")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv("REVIEWS_DB", address)
        with pytest.raises(InputError, match=rf"needs a driver that is not installed .+ -e '\.\[{extra}\]'"):
            asked(Query("env:REVIEWS_DB", "select 1"), tmp_path / "a.parquet")


def test_a_variable_that_is_not_set_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REVIEWS_DB", raising=False)
    with pytest.raises(InputError, match="the environment variable REVIEWS_DB is not set; set it to an address such as"):
        asked(Query("env:REVIEWS_DB", "select 1"), tmp_path / "a.parquet")


def test_a_query_of_duckdb_reads_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    duckdb.connect(str(tmp_path / "x.db")).close()
    (tmp_path / "other.csv").write_text("a\n1\n")
    monkeypatch.setenv("REVIEWS_DB", f"duckdb:///{tmp_path}/x.db")
    for statement in (f"select * from '{tmp_path}/other.csv'", "set enable_external_access = true; select 1"):
        with pytest.raises(InputError, match="the database of env:REVIEWS_DB"):
            asked(Query("env:REVIEWS_DB", statement), tmp_path / "a.parquet")

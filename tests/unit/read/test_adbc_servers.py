"""What the drivers of Snowflake, BigQuery and Flight SQL are called with, and which statements are not sent."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cartograph.read.adbc_servers import bigquery_options, flightsql_options, require_one_select, snowflake, snowflake_options
from cartograph.read.answering import Refused


@pytest.mark.parametrize(
    "query",
    [
        "select id, text, label from reviews",
        "  -- those that don't fit\n/* ; */ SELECT 1;  ",
        "with a as (select 1) select * from a",
        "(select 1) union all (select 2)",
        "select 'a; delete from b', \"update\", `into` from c -- merge",
        "select replace(text, 'it''s', '') as updated, last_update from reviews",
    ],
)
def test_one_query_that_reads_is_sent(query: str) -> None:
    require_one_select(query)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("delete from reviews", "begins with SELECT or WITH"),
        ("selection", "begins with SELECT or WITH"),
        ("", "begins with SELECT or WITH"),
        ("select 1; drop table reviews", "several statements"),
        ("select '; --'; drop table reviews", "several statements"),
        ("with gone as (delete from reviews returning id) select * from gone", "DELETE"),
        ("select * into mine from reviews", "INTO"),
        ("with p as procedure () returns int as $$ begin end $$ call p()", "AS PROCEDURE"),
        ("select 1 -- it's\n into mine", "INTO"),
    ],
)
def test_what_may_write_is_refused_before_it_is_sent(query: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        require_one_select(query)


def test_options_are_those_of_the_address_and_the_limit() -> None:
    called = flightsql_options("grpc+tls://an%40n:s%2Fcret@host:443?adbc.flight.sql.rpc.call_header.database=shop", 60)
    assert called.uri == "grpc+tls://host:443"
    assert called.database == {
        "username": "an@n",
        "password": "s/cret",
        "adbc.flight.sql.rpc.call_header.database": "shop",
        **{f"adbc.flight.sql.rpc.timeout_seconds.{call}": "60" for call in ("connect", "query", "fetch")},
    }
    assert "username" not in flightsql_options("grpc://host:1", 60).database
    called = bigquery_options(
        "bigquery:///shop/reviews?adbc.bigquery.sql.location=EU&adbc.bigquery.sql.query.max_bytes_billed=1000000", 0.5
    )
    assert called.uri is None and called.database == {"adbc.bigquery.sql.project_id": "shop", "adbc.bigquery.sql.location": "EU"}
    assert called.statement == {
        "adbc.bigquery.sql.query.job_timeout": 500,
        "adbc.bigquery.sql.query.default_project_id": "shop",
        "adbc.bigquery.sql.query.default_dataset_id": "reviews",
        "adbc.bigquery.sql.query.max_bytes_billed": 1_000_000,
    }
    assert bigquery_options("bigquery://shop", 1).database == {"adbc.bigquery.sql.project_id": "shop"}
    assert snowflake_options("snowflake://a:b@c/d/e?warehouse=w", 90).uri == "a:b@c/d/e?warehouse=w&STATEMENT_TIMEOUT_IN_SECONDS=90"
    assert snowflake_options("snowflake://a:b@c/d", 0.1).uri == "a:b@c/d?STATEMENT_TIMEOUT_IN_SECONDS=1"


@pytest.mark.parametrize("address", ["bigquery:///", "bigquery:///a/b/c", "bigquery://ann:s@a/b", "bigquery:///a?token=x"])
def test_an_address_of_another_form_is_refused(address: str) -> None:
    with pytest.raises(Refused, match="has an address"):
        bigquery_options(address, 60)


def test_the_driver_of_bigquery_knows_the_options() -> None:
    dbapi = pytest.importorskip("adbc_driver_bigquery.dbapi")
    called = bigquery_options("bigquery:///shop/reviews?adbc.bigquery.sql.query.max_bytes_billed=1000000", 60)
    anywhere = {"adbc.bigquery.sql.auth_type": "adbc.bigquery.sql.auth_type.json_credential_string"}
    someone = {"type": "authorized_user", "client_id": "a", "client_secret": "b", "refresh_token": "c"}
    with (
        dbapi.connect({**called.database, **anywhere, "adbc.bigquery.sql.auth_credentials": json.dumps(someone)}, autocommit=True) as open_,
        open_.cursor() as cursor,
    ):
        cursor.adbc_statement.set_options(**called.statement)
        assert cursor.adbc_statement.get_option_int("adbc.bigquery.sql.query.job_timeout") == 60_000
        assert cursor.adbc_statement.get_option_int("adbc.bigquery.sql.query.max_bytes_billed") == 1_000_000


@pytest.fixture
def asked() -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """The port of a server that lets everybody in and knows no table, and what it was asked: path and content."""
    found: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"] or 0))
            content = gzip.decompress(content) if self.headers["content-encoding"] == "gzip" else content
            found.append((self.path, content.decode()))
            answer = {"success": False, "code": "2003", "message": "no such table", "data": None}
            if "login-request" in self.path:
                answer = {"success": True, "data": {"token": "t", "masterToken": "m", "sessionId": 1, "parameters": [], "sessionInfo": {}}}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, found
        server.shutdown()


def test_snowflake_gets_user_limit_and_query_and_nothing_of_this_machine(asked: tuple[int, list[tuple[str, str]]]) -> None:
    pytest.importorskip("adbc_driver_snowflake")
    port, requests = asked
    address = f"snowflake://an%40n:s%2Fcret@127.0.0.1:{port}/shop/public?protocol=http&account=a&warehouse=w"
    with pytest.raises(Exception, match="no such table"), snowflake(address, "select text from reviews", 77):
        pass
    [login] = [json.loads(content)["data"] for path, content in requests if "login-request" in path]
    assert (login["LOGIN_NAME"], login["PASSWORD"]) == ("an@n", "s/cret")
    assert login["SESSION_PARAMETERS"]["STATEMENT_TIMEOUT_IN_SECONDS"] == "77"
    assert [json.loads(content)["sqlText"] for path, content in requests if "query-request" in path] == ["select text from reviews"]
    assert [path for path, _ in requests if "telemetry" in path] == []
    before = len(requests)
    with pytest.raises(Refused), snowflake(address, "delete from reviews", 77):
        pass
    assert len(requests) == before

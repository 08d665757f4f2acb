"""Writing into real databases: once, whole or not at all, and nowhere else."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from cartograph.read.answering import Refused
from cartograph.write.database_process import write
from cartograph.write.tables import LABEL_TABLES
from tests.postgresql import Server, server
from tests.written import FIRST, SECOND, killed, tables

Ask = Callable[[str], list[tuple[object, ...]]]
KILLED = """
import os, signal, sys
from cartograph.write.database_process import write
from tests.written import tables

def some():
    whole = iter(tables(sys.argv[2], rows=5, label="half").items())
    yield next(whole)
    yield next(whole)
    os.kill(os.getpid(), signal.SIGKILL)

write(sys.argv[1], "found", sys.argv[2], some(), 60)
"""


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Server]:
    with server() as running:
        yield running


def _ask_sqlite(path: Path) -> Ask:
    def ask(statement: str) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(path)
        with connection:
            rows = connection.execute(statement).fetchall()
        connection.close()
        return rows

    return ask


def _ask_duckdb(path: Path) -> Ask:
    import duckdb

    def ask(statement: str) -> list[tuple[object, ...]]:
        with duckdb.connect(str(path)) as connection:
            return list(connection.execute(statement).fetchall())

    return ask


@pytest.fixture(params=["postgresql", "sqlite", "duckdb"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Ask, str]:
    """A database's address, what asks it, and what the tables' names begin with."""
    path = tmp_path / f"some {request.param}.db"
    if request.param == "postgresql":
        running = request.getfixturevalue("postgresql")
        running.run('drop schema if exists "found" cascade')
        return running.address, lambda asked: running.ask(asked) if asked.startswith("select") else running.run(asked) or [], "found."
    if request.param == "sqlite":
        path.touch()
        return f"sqlite:///{path}", _ask_sqlite(path), "found_"
    ask = _ask_duckdb(path)
    ask("select 1")
    return f"duckdb:///{path}", ask, "found."


def test_written_twice_it_is_there_once_and_beside_other_audits(database: tuple[str, Ask, str]) -> None:
    address, ask, at = database
    assert write(address, "found", FIRST, tables(FIRST).items(), 60) == 9
    write(address, "found", SECOND, tables(SECOND).items(), 60)
    assert write(address, "found", FIRST, tables(FIRST, rows=2, label="bad").items(), 60) == 6
    for name in ("suspects", "decisions", "cleaned"):
        assert ask(f"select audit, count(*) from {at}{name} group by audit order by audit") == [(FIRST, 2), (SECOND, 3)]
    assert ask(f"select uid, label, probability, rank from {at}suspects where audit = '{FIRST}' order by uid") == [
        ("0", "bad", 0.5, 0),
        ("1", "bad", 0.5, 1),
    ]


def test_of_rows_with_several_labels_each_label_of_a_row_is_a_row(database: tuple[str, Ask, str]) -> None:
    address, ask, at = database
    write(address, "found", FIRST, tables(FIRST).items(), 60)
    several = tables(FIRST, of=LABEL_TABLES)
    own = several["label_suspects"]
    again = own.set_column(own.schema.get_field_index("label"), own.schema.field("label"), pa.array(["another"] * len(own)))
    several["label_suspects"] = pa.concat_tables([own, again])
    for _ in range(2):
        assert write(address, "found", FIRST, several.items(), 60, tuple(LABEL_TABLES)) == 12
    assert ask(f"select label, count(*) from {at}label_suspects group by label order by label") == [("another", 3), ("good", 3)]
    assert ask(f"select count(*) from {at}suspects") == [(3,)], "those of an audit with one label are left alone"


def test_killed_between_two_tables_it_is_not_there_at_all(database: tuple[str, Ask, str]) -> None:
    address, ask, at = database
    killed(KILLED, address, SECOND)
    write(address, "found", FIRST, tables(FIRST).items(), 60)
    assert ask(f"select distinct audit from {at}suspects") == [(FIRST,)]
    killed(KILLED, address, SECOND)
    killed(KILLED, address, FIRST)
    for name in ("suspects", "decisions", "cleaned"):
        assert ask(f"select audit, count(*) from {at}{name} group by audit") == [(FIRST, 3)]
    assert ask(f"select distinct label from {at}suspects") == [("good",)], "what was there of the audit is as it was"
    assert write(address, "found", SECOND, tables(SECOND).items(), 60) == 9


def test_a_table_of_something_else_is_left_as_it_is(database: tuple[str, Ask, str]) -> None:
    address, ask, at = database
    if at == "found.":
        ask("create schema found")
    ask(f"create table {at}cleaned (uid text, audit text)")
    ask(f"insert into {at}cleaned values ('1', '{FIRST}')")
    with pytest.raises(Refused, match="is not Cartograph's"):
        write(address, "found", FIRST, tables(FIRST).items(), 60)
    assert ask(f"select uid from {at}cleaned") == [("1",)]
    with pytest.raises(Exception, match="suspects"):
        ask(f"select * from {at}suspects")


def test_names_that_are_none_are_refused() -> None:
    for into, audit in (('x"; drop table reviews; --', FIRST), ("found", "' or 1 = 1")):
        with pytest.raises(Refused):
            write("sqlite:///nowhere.db", into, audit, [], 60)

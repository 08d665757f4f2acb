from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from cartograph.errors import InputError
from cartograph.read.databases import Query
from cartograph.read.lakes import LakeTable
from cartograph.write.destination import Schema, require_other_than_source, write_tables
from tests.postgresql import PASSWORD
from tests.written import FIRST, tables


def test_a_process_of_its_own_writes_what_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "reviews.db"
    path.touch()
    monkeypatch.setenv("REVIEWS_DB", f"sqlite:///{path}")
    for _ in range(2):
        assert write_tables(Schema("env:REVIEWS_DB", "found"), FIRST, tables(FIRST), 60) == 9
    connection = sqlite3.connect(path)
    assert connection.execute("select count(*), min(reason) from found_suspects").fetchall() == [(3, "it's")]
    connection.close()


@pytest.mark.parametrize("query", ['select * from "found" . "suspects"', "select * from Found.Suspects s", "select uid from found_cleaned"])
def test_a_query_s_own_table_is_never_written_to(query: str) -> None:
    with pytest.raises(InputError, match="a source is never written to"):
        require_other_than_source(Schema("env:REVIEWS_DB", "found"), [Query("env:REVIEWS_DB", query)])


def test_a_lake_table_is_never_its_own_source(tmp_path: Path) -> None:
    source = LakeTable(str(tmp_path / "reviews"), "delta", version=3)
    for written in (f"{tmp_path}/reviews/", f"{tmp_path}/x/../reviews"):
        with pytest.raises(InputError, match="a source is never written to"):
            require_other_than_source(LakeTable(written, "delta"), [source])
    require_other_than_source(LakeTable(f"{tmp_path}/found", "delta"), [source, Query("env:X", "select 1 from found.suspects")])
    with pytest.raises(InputError, match="a source is never written to"):
        require_other_than_source(LakeTable("shop.a", "iceberg", catalog="prod"), [LakeTable("shop.a", "iceberg", 7, "env:CATALOG")])


def test_what_goes_wrong_names_the_variable_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REVIEWS_DB", raising=False)
    with pytest.raises(InputError, match="the environment variable REVIEWS_DB is not set"):
        write_tables(Schema("env:REVIEWS_DB", "found"), FIRST, tables(FIRST), 60)
    monkeypatch.setenv("REVIEWS_DB", f"postgresql://auditor:{PASSWORD}@127.0.0.1:9/postgres")
    with pytest.raises(InputError, match="the database of env:REVIEWS_DB cannot be written to") as raised:
        write_tables(Schema("env:REVIEWS_DB", "found"), FIRST, tables(FIRST), 60)
    assert PASSWORD not in str(raised.value)
    assert "auditor" not in str(raised.value)

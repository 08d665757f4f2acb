"""Writing to real lake tables: once, in one commit or not at all, and nowhere else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from cartograph.read.answering import Refused
from cartograph.write.lake_process import write_delta, write_iceberg
from cartograph.write.tables import LABEL_TABLES, one_table
from tests.lakes import VARIABLE, iceberg, rows
from tests.written import FIRST, SECOND, killed, tables

KILLED_DELTA = """
import os, signal, sys
import pyarrow as pa
from cartograph.write.tables import LABEL_TABLES, one_table
from cartograph.write.lake_process import write_delta
from tests.written import tables

class Cut:
    def __init__(self, table):
        self.table, self.schema = table, table.schema

    def __arrow_c_stream__(self, requested_schema=None):
        def batches():
            yield from self.table.slice(0, 4).to_batches()
            os.kill(os.getpid(), signal.SIGKILL)
        return pa.RecordBatchReader.from_batches(self.schema, batches()).__arrow_c_stream__(requested_schema)

write_delta(sys.argv[1], sys.argv[2], Cut(one_table(tables(sys.argv[2], rows=5, label="half"))))
"""
KILLED_ICEBERG = """
import os, signal, sys
from pyiceberg.catalog.sql import SqlCatalog
from cartograph.write.tables import LABEL_TABLES, one_table
from cartograph.write.lake_process import write_iceberg
from tests.written import tables

SqlCatalog.commit_table = lambda *given, **more: os.kill(os.getpid(), signal.SIGKILL)
write_iceberg("shop.found", sys.argv[2], one_table(tables(sys.argv[2], rows=5, label="half")), None, sys.argv[1])
"""


def counts(table: pa.Table) -> dict[str, int]:
    return {audit: table["audit"].to_pylist().count(audit) for audit in sorted(set(table["audit"].to_pylist()))}


def delta_rows(path: str) -> pa.Table:
    from cartograph.read.lakes import LakeTable, look_at, snapshot

    table = LakeTable(path, "delta", look_at(LakeTable(path, "delta"), 60).version)
    target = Path(path).parent / "read.parquet"
    snapshot(table, target, max_bytes=10_000_000, seconds=60)
    return pa.parquet.read_table(target)


def test_a_delta_table_has_an_audit_once_and_by_one_commit(tmp_path: Path) -> None:
    from deltalake import DeltaTable

    path = str(tmp_path / "found")
    write_delta(path, FIRST, one_table(tables(FIRST)))
    write_delta(path, SECOND, one_table(tables(SECOND)))
    before = DeltaTable(path).version()
    write_delta(path, FIRST, one_table(tables(FIRST, rows=2)))
    assert DeltaTable(path).version() == before + 1
    assert counts(delta_rows(path)) == {FIRST: 6, SECOND: 9}


def test_of_rows_with_several_labels_a_table_of_its_own_has_an_audit_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, several = str(tmp_path / "found"), one_table(tables(FIRST, of=LABEL_TABLES))
    for _ in range(2):
        write_delta(path, FIRST, several)
    assert counts(delta_rows(path)) == {FIRST: 9}
    with pytest.raises(Refused, match="findings of audits whose rows have several labels, in other columns; name another"):
        write_delta(path, SECOND, one_table(tables(SECOND)))
    iceberg(tmp_path, monkeypatch)
    write_iceberg("shop.found", FIRST, one_table(tables(FIRST)), None, os.environ[VARIABLE])
    with pytest.raises(Refused, match="findings of audits whose rows have one label, in other columns; name another"):
        write_iceberg("shop.found", SECOND, several, None, os.environ[VARIABLE])


def test_a_delta_table_has_nothing_of_a_write_that_was_killed(tmp_path: Path) -> None:
    path = str(tmp_path / "found")
    write_delta(path, FIRST, one_table(tables(FIRST)))
    for audit in (FIRST, SECOND):
        killed(KILLED_DELTA, path, audit)
    found = delta_rows(path)
    assert counts(found) == {FIRST: 9}
    assert "half" not in found["label"].to_pylist()


def test_an_iceberg_table_has_an_audit_once_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyiceberg.catalog import load_catalog

    iceberg(tmp_path, monkeypatch)
    address = os.environ[VARIABLE]

    def read() -> pa.Table:
        return load_catalog("default", **json.loads(address)).load_table("shop.found").scan().to_arrow()

    for audit, number, expected in ((FIRST, 3, {FIRST: 9}), (SECOND, 3, {FIRST: 9, SECOND: 9}), (FIRST, 2, {FIRST: 6, SECOND: 9})):
        write_iceberg("shop.found", audit, one_table(tables(audit, rows=number)), None, address)
        assert counts(read()) == expected
    for audit in (FIRST, "ef56" * 16):
        killed(KILLED_ICEBERG, address, audit)
    assert counts(read()) == {FIRST: 6, SECOND: 9}
    assert "half" not in read()["label"].to_pylist()


def test_a_table_of_something_else_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from deltalake import DeltaTable, write_deltalake

    path = str(tmp_path / "reviews-table")
    write_deltalake(path, rows(0, 5))
    with pytest.raises(Refused, match="is not a table of Cartograph's"):
        write_delta(path, FIRST, one_table(tables(FIRST)))
    assert DeltaTable(path).version() == 0
    lake = iceberg(tmp_path, monkeypatch)
    lake.write(rows(0, 5))
    with pytest.raises(Refused, match="is not a table of Cartograph's"):
        write_iceberg("shop.reviews", FIRST, one_table(tables(FIRST)), None, os.environ[VARIABLE])
    with pytest.raises(Refused, match="namespace that does not exist"):
        write_iceberg("nowhere.found", FIRST, one_table(tables(FIRST)), None, os.environ[VARIABLE])

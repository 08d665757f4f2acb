"""Real tables of a lake: the rows of one version as they are, and what is refused."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cartograph.errors import InputError
from cartograph.read.formats import Source, read
from cartograph.read.lakes import LakeTable, check_table, look_at, snapshot
from tests.lakes import VARIABLE, Lake, delta, iceberg, rows


@pytest.fixture(params=["delta", "iceberg"])
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    return delta(tmp_path) if request.param == "delta" else iceberg(tmp_path, monkeypatch)


def table_of(lake: Lake, version: int | None = None, columns: tuple[str, ...] = ()) -> LakeTable:
    return LakeTable(lake.entry["table"], lake.entry["format"], version, lake.entry.get("catalog"), columns)


def write(table: LakeTable, path: Path, most: int = 10_000_000, seconds: float = 60) -> int:
    return snapshot(table, path, max_bytes=most, seconds=seconds)


def ids(path: Path) -> list[int]:
    return sorted(pq.read_table(path)["id"].to_pylist())


@pytest.mark.slow
def test_each_version_has_its_own_rows_and_the_same_bytes_each_time(lake: Lake, tmp_path: Path) -> None:
    versions = [lake.write(rows(0, 40)), lake.write(rows(40, 60)), lake.replace(rows(5, 10))]
    assert look_at(table_of(lake), 60).version == versions[-1]
    for version, expected in zip(versions, (range(40), range(60), range(5, 10)), strict=True):
        table = table_of(lake, version)
        assert write(table, tmp_path / "a.parquet") == len(expected)
        assert ids(tmp_path / "a.parquet") == list(expected)
    write(table, tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert pq.read_table(tmp_path / "a.parquet").sort_by("id").to_pylist() == rows(5, 10).to_pylist()


@pytest.mark.slow
def test_only_the_columns_that_are_named_are_read(lake: Lake, tmp_path: Path) -> None:
    version = lake.write(rows(0, 4))
    table = table_of(lake, version, ("label", "text"))
    assert set(look_at(table, 60).columns) == {"label", "text"}
    write(table, tmp_path / "a.parquet")
    assert sorted(pq.read_table(tmp_path / "a.parquet").column_names) == ["label", "text"]
    with pytest.raises(InputError, match=r"table .+reviews has no column `stars` at \w+ \d+; it has id, text, label: correct `columns`"):
        write(table_of(lake, version, ("stars",)), tmp_path / "a.parquet")


@pytest.mark.slow
def test_what_is_not_there_is_named(lake: Lake, tmp_path: Path) -> None:
    newest = lake.write(rows(0, 4))
    with pytest.raises(InputError, match=rf"reviews has no (version|snapshot) 77.*; its newest is {newest}"):
        write(table_of(lake, 77), tmp_path / "a.parquet")
    other = LakeTable(lake.entry["table"] + "x", lake.entry["format"], None, lake.entry.get("catalog"))
    with pytest.raises(InputError, match=r"reviewsx does not exist.*; correct its (path|name)"):
        look_at(other, 60)


def test_more_or_longer_than_allowed_is_refused(lake: Lake, tmp_path: Path) -> None:
    version = lake.write(rows(0, 400))
    with pytest.raises(InputError, match=r"reviews returns more than 0\.0 MB.*`fetch\.max_megabytes`"):
        write(table_of(lake, version), tmp_path / "a.parquet", most=100)
    started = time.monotonic()
    with pytest.raises(InputError, match=r"it took longer than .* seconds, which `fetch\.max_seconds` allows"):
        write(table_of(lake, version), tmp_path / "a.parquet", seconds=-2.99)
    assert time.monotonic() - started < 20


def test_another_table_at_the_same_place_has_another_mark(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    first, second = delta(tmp_path), delta(tmp_path / "other")
    assert first.write(rows(0, 4)) == second.write(rows(0, 4)) == 0
    assert look_at(table_of(first), 60).mark != look_at(table_of(second), 60).mark


@pytest.mark.slow
def test_rows_that_were_deleted_without_their_files_being_written_again_are_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyiceberg.catalog import load_catalog

    lake = iceberg(tmp_path, monkeypatch)
    before = lake.write(rows(0, 40))
    table = load_catalog("default", uri=f"sqlite:///{tmp_path}/catalog.db").load_table("shop.reviews")
    table.delete("id < 10")
    write(table_of(lake, table.refresh().current_snapshot().snapshot_id), tmp_path / "a.parquet")
    assert ids(tmp_path / "a.parquet") == list(range(10, 40))
    write(table_of(lake, before), tmp_path / "a.parquet")
    assert ids(tmp_path / "a.parquet") == list(range(40))


@pytest.mark.slow
def test_a_catalogue_is_only_read_and_its_secrets_are_in_no_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = LakeTable("shop.reviews", "iceberg", None, f"env:{VARIABLE}")
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(InputError, match=f"the environment variable {VARIABLE} is not set; set it to the catalogue's address"):
        look_at(table, 60)
    addresses = (
        f"sqlite:///{tmp_path}/pl4nted.db",
        "https://ann:pl4nted@127.0.0.1:1/api",
        '{"uri": "pl4nted"',
        '{"type": "sql", "uri": "postgresql://ann:pl4nted@127.0.0.1:1/x"}',
    )
    for address in addresses:
        monkeypatch.setenv(VARIABLE, address)
        with pytest.raises(InputError, match=r"the Iceberg table shop\.reviews") as error:
            look_at(table, 60)
        assert "pl4nted" not in str(error.value)
    (tmp_path / "empty.db").touch()
    monkeypatch.setenv(VARIABLE, f"sqlite:///{tmp_path}/empty.db")
    with pytest.raises(InputError, match=r"cannot be read: .*no such table"):
        look_at(table, 60)
    assert (tmp_path / "empty.db").stat().st_size == 0


def test_a_catalogue_may_stand_in_pyiceberg_s_own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = iceberg(tmp_path, monkeypatch).write(rows(0, 4))
    for key, value in json.loads(_content(monkeypatch)).items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__DEFAULT__{key.upper()}", value)
    assert look_at(LakeTable("shop.reviews", "iceberg", None, "default"), 60).version == version


def _content(monkeypatch: pytest.MonkeyPatch) -> str:
    import os

    content = os.environ[VARIABLE]
    monkeypatch.delenv(VARIABLE)
    return content


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (LakeTable("s3://ann:s3cret@bucket/reviews", "delta"), "is given with a user or password, and params.yaml is no place"),
        (LakeTable("s3://bucket/reviews?sig=s3cret", "delta"), "is given with `sig`, and params.yaml is no place"),
        (LakeTable("shop.reviews", "iceberg", None, "sqlite:///s3cret.db"), "the `catalog` of an Iceberg table is written env:NAME"),
    ],
)
def test_a_secret_is_refused_without_repeating_it(table: LakeTable, said: str) -> None:
    with pytest.raises(InputError) as error:
        check_table(table)
    assert said in str(error.value)
    assert "s3cret" not in str(error.value)
    check_table(LakeTable("abfss://container@account.dfs.core.windows.net/reviews", "delta"))


def test_the_folder_of_a_delta_table_is_not_taken_for_files(tmp_path: Path) -> None:
    lake = delta(tmp_path)
    lake.write(rows(0, 4))
    with pytest.raises(InputError, match=r"is a Delta table, whose folder also holds rows .* --table PATH"):
        read(Source(lake.entry["table"], "reviews"))

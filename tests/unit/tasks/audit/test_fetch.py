"""Files at URLs: what is fetched and when, what is refused, and that no secret gets anywhere."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cartograph.config import Settings
from cartograph.errors import InputError
from cartograph.read import remote
from cartograph.read.remote import file_name, look
from tasks.audit import fetch as step
from tasks.audit import ingest
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.sources import fetched_name
from tasks.commands.dvc_yaml import _stage
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tests import lakes
from tests.lakes import Lake
from tests.web_server import ROWS, Server, running_server
from tests.workspaces import make_workspace, open_new


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(remote.time, "sleep", lambda seconds: None)
    with running_server() as server:
        yield server


def digest(content: bytes | str) -> str:
    return hashlib.sha256(content if isinstance(content, bytes) else content.encode()).hexdigest()


def audit(path: Path, *train: Any, **params: Any) -> Workspace:
    return make_workspace(path, ingest={"source": "files", "train": list(train), "text": "text"}, fetch=params)


def test_what_a_server_has_is_fetched_once_until_it_changes(server: Server, tmp_path: Path) -> None:
    space = audit(tmp_path, server.url)
    outcome = run_step(step.STEP, space)
    file = space.resolve(fetched_name(server.url))
    assert (outcome.receipt.summary, file.read_text(), file.name) == ("1 files, 0.0 MB, 1 fetched", ROWS, "rows.csv")
    assert not run_step(step.STEP, space).executed
    asked = len(server.asked)
    assert run_step(step.STEP, space, force=True).receipt.summary == "1 files, 0.0 MB, 0 fetched"
    assert (server.sent, server.asked[asked:]) == (1, ["HEAD"])
    server.content = (ROWS + "one more,yes\n").encode()
    assert run_step(step.STEP, space, force=True).receipt.summary == "1 files, 0.0 MB, 1 fetched"
    assert file.read_text().endswith("one more,yes\n")


def test_a_file_that_was_damaged_here_is_fetched_again(server: Server, tmp_path: Path) -> None:
    space = audit(tmp_path, server.url)
    run_step(step.STEP, space)
    space.resolve(fetched_name(server.url)).write_text("damaged")
    assert run_step(step.STEP, space).executed
    assert space.resolve(fetched_name(server.url)).read_text() == ROWS


def test_with_a_checksum_what_is_here_needs_no_server(server: Server, tmp_path: Path) -> None:
    space = audit(tmp_path, {"path": server.url, "sha256": digest(ROWS)})
    run_step(step.STEP, space)
    asked = len(server.asked)
    run_step(step.STEP, space, force=True)
    assert len(server.asked) == asked


def test_another_file_than_the_checksum_s_is_refused_and_nothing_is_kept(server: Server, tmp_path: Path) -> None:
    space = audit(tmp_path, {"path": server.url, "sha256": "0" * 64})
    with pytest.raises(
        InputError, match=rf"rows\.csv is not the file that params\.yaml names: its SHA-256 is {digest(ROWS)}, `sha256` says 0"
    ):
        run_step(step.STEP, space)
    assert not (tmp_path / "data" / "fetch").exists()


@pytest.mark.parametrize("says_size", [True, False])
def test_a_file_beyond_the_limit_is_refused_whether_the_server_says_its_size_or_not(
    server: Server, tmp_path: Path, says_size: bool
) -> None:
    server.content, server.says_size = b"x" * 3_000_000, says_size
    said = r"has 3\.0 MB" if says_size else "goes on"
    with pytest.raises(InputError, match=said + r", beyond the 1\.5 MB that `fetch\.max_megabytes` allows; raise that"):
        run_step(step.STEP, audit(tmp_path, server.url, max_megabytes=1.5))
    assert not says_size or server.sent == 0


def test_a_server_that_says_nothing_of_its_files_is_asked_for_them_each_time(server: Server, tmp_path: Path) -> None:
    server.says_mark = False
    space = audit(tmp_path, server.url)
    run_step(step.STEP, space)
    run_step(step.STEP, space, force=True)
    assert server.sent == 2


def test_credentials_come_from_netrc_and_appear_nowhere(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.user = "annette:planted-secret"
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    (tmp_path / "netrc").write_text("machine elsewhere.example login a password b\n")
    with pytest.raises(InputError, match=r"rows\.csv may not be read .* a \.netrc file \(NETRC\) for https") as refused:
        look(server.url)
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login annette password planted-secret\n")
    space = audit(tmp_path / "space", server.url)
    run_step(step.STEP, space)
    left = "".join(path.read_text(errors="replace") for path in (tmp_path / "space").rglob("*") if path.is_file())
    assert "planted-secret" not in left + str(refused.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://host/rows.csv", "`ftp` is not read; files are read from file, s3, http, https"),
        ("https://annette:s3cret@host/rows.csv", "is given with a user or password, and params.yaml is no place for credentials"),
        ("https://host/rows.csv?X-Amz-Signature=s3cret", "is given with `X-Amz-Signature`, and params.yaml is no place"),
        ("s3://bucket/rows.csv?sig=s3cret", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE for s3"),
    ],
)
def test_urls_with_secrets_or_of_other_kinds_are_refused_without_repeating_them(url: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        run_step(step.STEP, audit(tmp_path, url))
    assert said in str(error.value)
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize("url", ["https://host/a/../../etc/passwd", "https://host/..%2F..%2Fx", "s3://bucket/a/.hidden", "https://host/"])
def test_a_file_s_name_cannot_lead_elsewhere(url: str) -> None:
    assert "/" not in file_name(url)
    assert not file_name(url).startswith(".")
    name = Path(fetched_name(url))
    assert name.parts[:2] == ("data", "fetch")
    assert len(name.parts) == 4


def test_what_is_no_url_at_all_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a URL that begins with https:// cannot be understood \(.*IPv6.*\); correct it"):
        run_step(step.STEP, audit(tmp_path, "https://[host/rows.csv"))


def test_dvc_leaves_what_was_fetched_in_place_and_follows_where_asked(project: Path) -> None:
    space = audit(project / "workspaces" / "none at all", "https://host/rows.csv", follow=True)
    space.path.mkdir(parents=True)
    (space.path / "params.yaml").write_text("fetch: {follow: true}\n")
    stage = _stage(step.STEP, space)
    assert stage["outs"][0] == {"workspaces/none at all/data/fetch": {"persist": True}}
    assert shlex.split(stage["cmd"])[-2:] == ["--workspace", "workspaces/none at all"], "the shell that DVC uses takes it for one word"
    assert stage["always_changed"] is True
    assert step.is_wanted(space.settings)
    assert not step.is_wanted(Settings({"ingest": Ingest()}))


def test_the_record_says_where_each_file_came_from(server: Server, tmp_path: Path) -> None:
    run_step(step.STEP, audit(tmp_path, server.url))
    record = json.loads((tmp_path / "data" / "fetch" / "files.json").read_text())
    assert record[server.url]["sha256"] == digest(ROWS)
    assert record[server.url]["bytes"] == len(ROWS)


def test_s3_is_read_with_the_usual_variables_and_their_secrets_stay_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import boto3
    from moto.server import ThreadedMotoServer

    secrets = {"AWS_ACCESS_KEY_ID": "AKIAPLANTED", "AWS_SECRET_ACCESS_KEY": "planted-secret", "AWS_SESSION_TOKEN": "planted-session"}
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    variables = {**secrets, "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    try:
        client = boto3.client("s3")
        client.create_bucket(Bucket="audits")
        client.put_object(Bucket="audits", Key="in/rows.csv", Body=ROWS.encode())
        url = "s3://audits/in/rows.csv"
        space = audit(tmp_path, url)
        run_step(step.STEP, space)
        assert space.resolve(fetched_name(url)).read_text() == ROWS
        assert run_step(step.STEP, space, force=True).receipt.summary == "1 files, 0.0 MB, 0 fetched"
        with pytest.raises(InputError, match=r"s3://audits/none\.csv does not exist; correct the URL"):
            look("s3://audits/none.csv")
        with pytest.raises(InputError, match=r"s3://audits/in is a folder|s3://audits/in does not exist"):
            look("s3://audits/in")
    finally:
        moto.stop()
    left = "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file())
    assert not [secret for secret in secrets.values() if secret in left]


def sqlite_database(path: Path, *rows: tuple[str, str, int]) -> str:
    connection = sqlite3.connect(path)
    connection.execute("create table if not exists reviews (text text, label text, changed integer)")
    connection.executemany("insert into reviews values (?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return f"sqlite:///{path}"


QUERY = {"query": "select text, label from reviews", "database": "env:REVIEWS_DB", "watermark": "select max(changed) from reviews"}


@pytest.mark.slow
def test_a_query_is_asked_again_where_its_watermark_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWS_DB", sqlite_database(tmp_path / "reviews.db", ("one", "x", 1)))
    space = audit(tmp_path, QUERY)
    assert run_step(step.STEP, space).receipt.summary == "1 files, 0.0 MB, 1 fetched"
    [file] = (tmp_path / "data" / "fetch").glob("*/REVIEWS_DB.parquet")
    before = file.read_bytes()
    sqlite_database(tmp_path / "reviews.db", ("two", "y", 1))
    assert run_step(step.STEP, space, force=True).receipt.summary == "1 files, 0.0 MB, 0 fetched"
    assert file.read_bytes() == before
    sqlite_database(tmp_path / "reviews.db", ("three", "y", 2))
    assert run_step(step.STEP, space, force=True).receipt.summary == "1 files, 0.0 MB, 1 fetched"
    assert pq.read_table(file)["text"].to_pylist() == ["one", "two", "three"]
    record = json.loads((tmp_path / "data" / "fetch" / "files.json").read_text())
    assert [one["sha256"] for one in record.values()] == [digest(file.read_bytes())]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"query": "select 1", "database": "postgresql://ann:s3cret@host/db"}, r"`ingest\.train\.0`: a database is written env:NAME"),
        ({"query": "select 1"}, r"a query is written `\{query: SELECT …, database: 'env:NAME'\}`"),
        ({**QUERY, "path": "rows.csv"}, "name a `path`, or a `query` and its `database`, not both"),
    ],
)
def test_a_query_written_wrong_is_refused_without_its_secret(entry: dict[str, Any], message: str, project: Path) -> None:
    with pytest.raises(InputError, match=message) as error:
        open_new(project / "workspaces" / "asked", ingest={"source": "files", "train": [entry], "text": "text"})
    assert "s3cret" not in str(error.value)


@pytest.fixture(params=["delta", "iceberg"])
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    return lakes.delta(tmp_path) if request.param == "delta" else lakes.iceberg(tmp_path, monkeypatch)


def ids_in(space: Workspace) -> list[int]:
    [file] = (space.path / "data" / "fetch").glob("*/*.parquet")
    return sorted(pq.read_table(file)["id"].to_pylist())


def test_a_table_that_is_pinned_stays_as_it_was(lake: Lake, tmp_path: Path) -> None:
    first = lake.write(lakes.rows(0, 40))
    lake.replace(lakes.rows(40, 60))
    space = audit(tmp_path / "space", {**lake.entry, lake.version: first}, follow=True)
    summary = run_step(step.STEP, space).receipt.summary
    assert summary == f"1 files, 0.0 MB, 1 fetched; {lake.entry['table']} at {lake.version} {first}"
    assert ids_in(space) == list(range(40))
    assert run_step(step.STEP, space, force=True).receipt.summary.startswith("1 files, 0.0 MB, 0 fetched")
    [record] = json.loads((space.path / "data" / "fetch" / "files.json").read_text()).values()
    assert (record["table"], record["version"]) == (lake.entry["table"], first)


@pytest.mark.slow
def test_a_table_without_a_version_stays_at_the_one_first_read_unless_it_is_followed(lake: Lake, tmp_path: Path) -> None:
    first = lake.write(lakes.rows(0, 40))
    space = audit(tmp_path / "space", lake.entry)
    run_step(step.STEP, space)
    [file] = (space.path / "data" / "fetch").glob("*/*.parquet")
    before = file.read_bytes()
    second = lake.replace(lakes.rows(40, 60))
    assert run_step(step.STEP, space, force=True).receipt.summary.endswith(f"0 fetched; {lake.entry['table']} at {lake.version} {first}")
    file.unlink()
    assert run_step(step.STEP, space).receipt.summary.endswith(f"1 fetched; {lake.entry['table']} at {lake.version} {first}")
    assert file.read_bytes() == before
    space = audit(tmp_path / "space", lake.entry, follow=True)
    assert run_step(step.STEP, space).receipt.summary.endswith(f"1 fetched; {lake.entry['table']} at {lake.version} {second}")
    assert ids_in(space) == list(range(40, 60))
    assert run_step(step.STEP, space, force=True).receipt.summary.startswith("1 files, 0.0 MB, 0 fetched")


@pytest.mark.slow
def test_ingest_has_the_same_rows_again_and_two_versions_side_by_side(tmp_path: Path) -> None:
    lake = lakes.delta(tmp_path)
    first, second = lake.write(lakes.rows(0, 40)), lake.write(lakes.rows(40, 60))
    files = [{**lake.entry, lake.version: second}]
    section = {"source": "files", "text": "text", "uid": "id", "format": "csv", "train": [{**lake.entry, lake.version: first}]}
    space = make_workspace(tmp_path / "space", ingest={**section, "evaluation": {"later": {"files": files}}}, fetch={})
    for one in (step.STEP, ingest.STEP):
        run_step(one, space)
    read = {path.name: path.read_bytes() for path in (space.path / "data" / "ingest").glob("*.parquet")}
    assert len(pq.read_table(space.path / "data/ingest/train.parquet")) == 40
    assert len(pq.read_table(space.path / "data/ingest/later.parquet")) == 60
    lake.replace(lakes.rows(0, 1))
    for folder in ("data", "reports"):
        shutil.rmtree(space.path / folder)
    for one in (step.STEP, ingest.STEP):
        run_step(one, space)
    assert {path.name: path.read_bytes() for path in (space.path / "data" / "ingest").glob("*.parquet")} == read


def test_a_path_of_a_table_starts_at_the_project(project: Path) -> None:
    lakes.delta(project).write(lakes.rows(0, 40))
    space = audit(project / "workspaces" / "asked", {"table": "reviews", "format": "delta"})
    run_step(step.STEP, space)
    assert ids_in(space) == list(range(40))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"table": "reviews", "format": "csv"}, r"a lake table is written `\{table: PATH, format: delta\}` or"),
        ({"version": 3}, r"a lake table is written `\{table: PATH, format: delta\}` or"),
        ({"table": "reviews", "query": "select 1", "database": "env:DB"}, "a lake table is written"),
        ({"table": "reviews", "snapshot": 3}, "a Delta table has a `version`, an Iceberg table a `snapshot`"),
        ({"table": "shop.reviews", "catalog": "env:X", "version": 3}, "a Delta table has a `version`, an Iceberg table a `snapshot`"),
        ({"table": "shop.reviews", "format": "iceberg"}, "the `catalog` of an Iceberg table is written env:NAME"),
        ({"table": "shop.reviews", "catalog": "sqlite:///s3cret.db"}, "the `catalog` of an Iceberg table is written env:NAME"),
        ({"table": "s3://ann:s3cret@bucket/reviews"}, "params.yaml is no place for credentials"),
        ({"table": "reviews", "path": "rows.csv"}, "name a `path`, or a `table`, not both"),
    ],
)
def test_a_table_written_wrong_is_refused_without_its_secret(entry: dict[str, Any], message: str, project: Path) -> None:
    with pytest.raises(InputError, match=message) as error:
        open_new(project / "workspaces" / "asked", ingest={"source": "files", "train": [entry], "text": "text"})
    assert "s3cret" not in str(error.value)

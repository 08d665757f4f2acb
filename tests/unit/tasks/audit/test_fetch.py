"""Files at URLs: what is fetched and when, what is refused, and that no secret gets anywhere."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from cartograph.config import Settings
from cartograph.errors import InputError
from cartograph.read import remote
from cartograph.read.remote import check_url, fetch, file_name, look, shown
from tasks.audit import fetch as step
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.sources import fetched_name
from tasks.commands.dvc_yaml import _stage
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tests.workspaces import make_workspace

ROWS = "text,label\n" + "".join(f"row {number},{'yes' if number % 2 else 'no'}\n" for number in range(40))


class Server(ThreadingHTTPServer):
    """A web server that notes what it is asked, and sends ``content`` under a mark that goes with it."""

    content = ROWS.encode()
    says_size = True
    says_mark = True
    user = ""
    broken = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/a/rows.csv"

    @property
    def sent(self) -> int:
        return self.asked.count("GET")


class Answer(BaseHTTPRequestHandler):
    server: Server

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        if self.answer():
            self.wfile.write(self.server.content)

    def answer(self) -> bool:
        server = self.server
        server.asked.append(self.command)
        known = base64.b64encode(server.user.encode()).decode()
        status = 200
        if self.path == "/signed":
            self.send_response(302)
            self.send_header("Location", f"{server.url}.gone?X-Amz-Signature=s3cret")
            self.end_headers()
            return False
        if self.path == "/a/rows.csv.gone?X-Amz-Signature=s3cret":
            self.send_response(403)
            self.end_headers()
            return False
        if self.path != "/a/rows.csv":
            status = 404
        elif server.user and self.headers.get("Authorization") != f"Basic {known}":
            status = 401
        elif server.broken:
            server.broken -= 1
            status = 503
        self.send_response(status)
        if status == 200 and server.says_size:
            self.send_header("Content-Length", str(len(server.content)))
        if status == 200 and server.says_mark:
            self.send_header("ETag", hashlib.md5(server.content).hexdigest())
        self.end_headers()
        return status == 200

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(remote.time, "sleep", lambda seconds: None)
    with Server() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


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
    told = r"has 3\.0 MB" if says_size else "goes on"
    with pytest.raises(InputError, match=told + r", beyond the 1\.5 MB that `fetch\.max_megabytes` allows; raise that"):
        run_step(step.STEP, audit(tmp_path, server.url, max_megabytes=1.5))
    assert not says_size or server.sent == 0


def test_a_server_that_says_nothing_of_its_files_is_asked_for_them_each_time(server: Server, tmp_path: Path) -> None:
    server.says_mark = False
    space = audit(tmp_path, server.url)
    run_step(step.STEP, space)
    run_step(step.STEP, space, force=True)
    assert server.sent == 2


def test_a_server_that_fails_is_asked_again_and_one_that_keeps_failing_is_named(server: Server, tmp_path: Path) -> None:
    server.broken = 2
    fetch(server.url, tmp_path / "rows.csv", max_bytes=10_000)
    server.broken = 100
    with pytest.raises(InputError, match=r"rows\.csv cannot be fetched \(503.*\); check the address and the network, and try again"):
        look(server.url)


def test_what_is_not_there_is_said_at_once(server: Server) -> None:
    with pytest.raises(InputError, match=r"none\.csv does not exist; correct the URL"):
        look(server.url.replace("rows", "none"))
    assert len(server.asked) <= 2


def test_credentials_come_from_netrc_and_are_told_to_nobody(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    ("url", "told"),
    [
        ("ftp://host/rows.csv", "`ftp` is not read; files are read from file, s3, http, https"),
        ("https://annette:s3cret@host/rows.csv", "is given with a user or password, and params.yaml is no place for credentials"),
        ("https://host/rows.csv?X-Amz-Signature=s3cret", "is given with `X-Amz-Signature`, and params.yaml is no place"),
        ("s3://bucket/rows.csv?sig=s3cret", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE for s3"),
    ],
)
def test_urls_with_secrets_or_of_other_kinds_are_refused_without_repeating_them(url: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        run_step(step.STEP, audit(tmp_path, url))
    assert told in str(error.value)
    assert "s3cret" not in str(error.value)


def test_a_query_without_a_secret_is_taken() -> None:
    check_url("https://host/rows.csv?version=3")
    assert shown("https://host/rows.csv?version=3") == "https://host/rows.csv"


@pytest.mark.parametrize("url", ["https://host/a/../../etc/passwd", "https://host/..%2F..%2Fx", "s3://bucket/a/.hidden", "https://host/"])
def test_a_file_s_name_cannot_lead_elsewhere(url: str) -> None:
    assert "/" not in file_name(url)
    assert not file_name(url).startswith(".")
    name = Path(fetched_name(url))
    assert name.parts[:2] == ("data", "fetch")
    assert len(name.parts) == 4


def test_files_and_their_checksums_are_read_by_url_too(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    url = (tmp_path / "rows.csv").as_uri()
    fetch(url, tmp_path / "copy.csv", max_bytes=10_000)
    assert (tmp_path / "copy.csv").read_text() == ROWS
    with pytest.raises(InputError, match="is a folder; name a file"):
        look(tmp_path.as_uri())


def test_a_file_s_url_may_have_spaces_and_letters_as_they_are_or_escaped(tmp_path: Path) -> None:
    rows = tmp_path / "rows é of 100%25.csv"
    rows.write_text(ROWS)
    for url in (rows.as_uri(), f"file://{rows}", f"FILE://{rows}"):
        fetch(url, tmp_path / "copy.csv", max_bytes=10_000)
        assert (tmp_path / "copy.csv").read_text() == ROWS


def test_where_one_is_sent_on_to_is_told_without_its_signature(server: Server) -> None:
    with pytest.raises(InputError, match=r"/signed may not be read \(403") as error:
        look(server.url.replace("/a/rows.csv", "/signed"))
    assert "s3cret" not in str(error.value)


def test_what_is_no_url_at_all_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a URL that begins with https:// cannot be understood \(.*IPv6.*\); correct it"):
        run_step(step.STEP, audit(tmp_path, "https://[host/rows.csv"))


def test_an_address_where_nobody_listens_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote.time, "sleep", lambda seconds: None)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(InputError, match=rf"http://127\.0\.0\.1:{port}/rows\.csv cannot be fetched"):
        look(f"http://127.0.0.1:{port}/rows.csv")


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

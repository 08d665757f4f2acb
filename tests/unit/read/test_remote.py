"""Files at URLs: what is asked for, how often, and what is said of it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from cartograph.errors import InputError
from cartograph.read import remote
from cartograph.read.remote import check_url, fetch, look, shown
from tests.web_server import ROWS, Server, running_server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(remote.time, "sleep", lambda seconds: None)
    with running_server() as server:
        yield server


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


def test_a_query_without_a_secret_is_taken() -> None:
    check_url("https://host/rows.csv?version=3")
    assert shown("https://host/rows.csv?version=3") == "https://host/rows.csv"


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


def test_the_address_of_a_redirect_is_shown_without_its_signature(server: Server) -> None:
    with pytest.raises(InputError, match=r"/signed may not be read \(403") as error:
        look(server.url.replace("/a/rows.csv", "/signed"))
    assert "s3cret" not in str(error.value)


def test_an_address_where_nobody_listens_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote.time, "sleep", lambda seconds: None)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(InputError, match=rf"http://127\.0\.0\.1:{port}/rows\.csv cannot be fetched"):
        look(f"http://127.0.0.1:{port}/rows.csv")


def test_a_download_that_ends_before_what_was_announced_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not short.exists() or short.stat().st_size <= len(short.read_bytes()):
        pytest.skip("no file here is shorter than it says")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(InputError, match=r"cannot be fetched \(the connection ended after 0\.0 MB of 0\.0 MB\)"):
        fetch(short.as_uri(), tmp_path / "copy", max_bytes=1_000_000)

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from tasks.publishing.logged_models import has_logged_models


@pytest.fixture
def answering(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that answers everything with one status and a page, as Flask does."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(request.param)
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Not as expected</title>")

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_store_of_today_keeps_logged_models(tmp_path: Path) -> None:
    client = MlflowClient(tracking_uri=f"sqlite:///{tmp_path / 'mlflow.db'}")
    assert has_logged_models(client, client.create_experiment("one"))


@pytest.mark.parametrize("answering", [404], indirect=True)
def test_a_server_that_has_no_such_address_keeps_none(answering: str) -> None:
    assert not has_logged_models(MlflowClient(tracking_uri=answering), "0")


@pytest.mark.parametrize("answering", [403], indirect=True)
def test_a_server_that_refuses_is_no_answer(answering: str) -> None:
    with pytest.raises(MlflowException):
        has_logged_models(MlflowClient(tracking_uri=answering), "0")

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cartograph.errors import GateError, WaitingError
from flows import announce
from tasks.summary import plain

FINDING = {"gate": "suspects", "outcome": "warned", "value": 0.3, "sentence": "3 of 10 labels look wrong."}


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, object]]]:
    heard: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(500 if self.path.endswith("broken") else 204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv(announce.WEBHOOK, f"http://127.0.0.1:{server.server_port}/secret")
    yield heard
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announce, "emit_event", lambda *_, **__: None)


def test_an_alert_says_what_went_off(listener: list[dict[str, object]]) -> None:
    announce._alert("trec", [FINDING], None)
    assert listener == [
        {"text": "Audit of trec: 3 of 10 labels look wrong.", "workspace": "trec", "outcome": "warned", "gates": [FINDING]},
    ]
    announce._alert("trec", [FINDING], GateError("3 of 10 labels look wrong. See report.html."))
    assert listener[1]["text"] == "Audit of trec: 3 of 10 labels look wrong. See report.html.", "the same sentence is not said twice"
    assert listener[1]["outcome"] == "failed"


def test_an_audit_that_waits_for_people_has_not_failed(listener: list[dict[str, object]]) -> None:
    announce._alert("pairs", [], WaitingError("40 pairs wait for answers."))
    assert (listener[0]["outcome"], listener[0]["text"]) == ("waiting", "Audit of pairs: 40 pairs wait for answers.")


def test_nothing_is_sent_where_nothing_is_configured_or_wrong(listener: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch) -> None:
    announce._alert("trec", [], None)
    monkeypatch.delenv(announce.WEBHOOK)
    announce._alert("trec", [FINDING], None)
    assert listener == []


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/secret-token", "file:///etc/secret-token", "nonsense secret-token"])
def test_an_alert_that_cannot_be_sent_changes_nothing_and_shows_no_secret(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(announce.WEBHOOK, address)
    announce.announce("trec", None, GateError("3 of 10 labels look wrong."))
    said = capsys.readouterr().err
    assert "the alert could not be left" in " ".join(said.split())
    assert "secret-token" not in said


def test_a_value_cannot_become_markup() -> None:
    assert plain("a|b [x](http://evil) <b>\n![p](u)\x1b") == ("a\\|b \\[x\\]\\(http:\u200b//evil\\) &lt;b&gt; \\!\\[p\\]\\(u\\)\ufffd")

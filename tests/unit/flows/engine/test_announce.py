from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cartograph.errors import GateError, InputError, WaitingError
from cartograph.wording import plain_markdown
from flows.engine import announce
from tasks.audit.summary import audit_summary
from tests.workspaces import make_workspace

FINDING = {"gate": "suspects", "outcome": "warned", "value": 0.3, "sentence": "3 of 10 labels look wrong."}


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, object]]]:
    heard: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response({"/broken": 500, "/moved": 301}.get(self.path, 204))
            self.send_header("Location", "/secret-token")
            self.end_headers()

        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
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


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:9/secret-token",
        "file:///etc/secret-token",
        "nonsense secret-token",
        "http://127.0.0.1:9/hook/secret-token of mine",
        "https://someone:secret-token@127.0.0.1/hook",
        "http://[secret-token/hook",
    ],
)
def test_an_alert_that_cannot_be_sent_changes_nothing_and_shows_no_secret(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(announce.WEBHOOK, address)
    announce.announce("trec", None, GateError("3 of 10 labels look wrong."))
    said = capsys.readouterr().err
    assert "the alert could not be left" in " ".join(said.split())
    assert "secret-token" not in said


@pytest.mark.parametrize(("path", "code"), [("/broken", 500), ("/moved", 301)])
def test_a_server_that_does_not_take_an_alert_is_named_on_the_console(
    path: str, code: int, listener: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(announce.WEBHOOK, announce.os.environ[announce.WEBHOOK].replace("/secret", path))
    announce.announce("trec", None, GateError("3 of 10 labels look wrong."))
    said = " ".join(capsys.readouterr().err.split())
    assert f"the alert could not be left: the server of CARTOGRAPH_WEBHOOK answered with {code}" in said
    assert "127.0.0.1" not in said and "secret-token" not in said


def test_findings_of_an_earlier_audit_are_not_announced_as_those_of_this_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = {"gate": "class_shift", "outcome": "failed", "value": 0.3, "sentence": "The classes' shares shifted."}
    for name, content in (("gates/gates.json", {"gates": [FINDING, failed]}), ("compare/record.json", {"numbers": {"rows": 240}})):
        path = project / "workspaces" / "reviews" / "data" / name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content))
    space = make_workspace(project / "workspaces" / "reviews")
    events: list[str] = []
    monkeypatch.setattr(announce, "_artifact", lambda *_: None)
    monkeypatch.setattr(announce, "emit_event", lambda name, *_, **__: events.append(name))
    for error in (InputError("reviews.csv does not exist."), GateError("train: 9 of 10 rows cannot be used.")):
        early = audit_summary(space, error)
        assert FINDING["sentence"] not in early and "this audit" not in early
        assert "as the last audit left it that came that far" in early and "| Rows | 240 |" in early
        announce.announce("reviews", space, error)
    assert events == ["cartograph.audit.failed"] * 2
    for whole in (audit_summary(space, None), audit_summary(space, GateError("The classes' shares shifted. See report.html."))):
        assert FINDING["sentence"] in whole and "| this audit |" in whole and "came that far" not in whole


@pytest.mark.parametrize("server", ["sqlite:////home/me/cartograph/mlflow.db", "https://mlflow.example/"])
def test_the_verdict_comes_first_and_every_link_is_an_address(server: str, project: Path) -> None:
    space = make_workspace(project)
    content = {"verdict": {"sentence": "120 labels look wrong.", "lines": ["See *them* first."]}}
    page, run = space.path / "reports/report.html", space.path / ".cartograph/mlflow-run.json"
    for path in (page, run):
        path.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f'<script type="application/json" id="data-content">{json.dumps(content)}</script>')
    run.write_text(json.dumps({"server": server, "experiment": "7", "run": "ab12"}))
    head, verdict, *rest = audit_summary(space, None).split("\n\n")
    assert head.startswith("# Audit of ")
    assert verdict == "**120 labels look wrong.**  \nSee \\*them\\* first."
    links = re.findall(r"\]\(([^)]*)\)", "".join(rest))
    place = "https://mlflow.example" if server.startswith("https") else "http://127.0.0.1:5000"
    assert links == [f"{place}/#/experiments/7/runs/ab12/artifacts/report.html", f"{place}/#/experiments/7/runs/ab12"]
    assert ("mlflow ui --backend-store-uri" in rest[-1]) == server.startswith("sqlite")
    assert "file:" not in "".join(rest)


def test_a_value_cannot_become_markup() -> None:
    assert plain_markdown("a|b [x](http://evil) <b>\n![p](u)\x1b") == (
        "a\\|b \\[x\\]\\(http:\u200b//evil\\) &lt;b&gt; \\!\\[p\\]\\(u\\)\ufffd"
    )

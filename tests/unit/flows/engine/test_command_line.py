"""What a command line prints when its flow has ended."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import typer
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed, Crashed, Failed

from cartograph.errors import CartographError, GateError, InputError
from flows.audit import audit
from flows.engine import command_line
from flows.engine.states import flow_state
from tests.workspaces import make_workspace

FINDING = {"gate": "suspects", "outcome": "warned", "value": 0.3, "sentence": "3 of 10 labels look wrong."}


def test_an_audit_ends_with_its_warnings_and_one_that_ended_early_shows_no_earlier_page(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("data/gates/gates.json", json.dumps({"gates": [FINDING]})), ("reports/report.html", "an earlier page")):
        path = project / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    ends: list[CartographError | None] = [GateError("train: 9 of 10 rows cannot be used."), None]
    monkeypatch.setattr(command_line, "run_flow", lambda *_, **__: (None, ends.pop()))

    def conduct() -> None:
        command_line.conduct(audit, lambda _: make_workspace(project), ".", None, verbose=False, debug=False)

    conduct()
    assert capsys.readouterr().out.split("\n")[1:3] == [f"Warning    {FINDING['sentence']}", "Report     reports/report.html"]
    with pytest.raises(typer.Exit) as ended:
        conduct()
    assert ended.value.exit_code == GateError.exit_code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error train: 9 of 10 rows cannot be used.")


@pytest.mark.parametrize(
    ("level", "settings", "expected"),
    [
        (
            None,
            {},
            ["python -m tasks review --workspace . --open", "python -m flows.audit --data reviews.csv --text review --label sentiment"],
        ),
        ("1", {}, ["-m tasks review --workspace . --open", "make audit DATA=reviews.csv TEXT=review LABEL=sentiment"]),
        (None, {"source": "files", "train": "a.csv", "text": "text"}, ["python -m tasks review --workspace . --open"]),
    ],
)
def test_an_audit_ends_with_what_to_do_next(
    level: str | None,
    settings: dict[str, str],
    expected: list[str],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("MAKELEVEL", raising=False)
    if level is not None:
        monkeypatch.setenv("MAKELEVEL", level)
    (project / "reports").mkdir()
    (project / "reports" / "report.html").write_text("the page")
    monkeypatch.setattr(command_line, "run_flow", lambda *_, **__: (None, None))
    command_line.conduct(audit, lambda _: make_workspace(project, ingest=settings), ".", verbose=False, debug=False)
    said = capsys.readouterr().out.splitlines()
    start = said.index("Next       open reports/report.html in a browser")
    assert len(said) == start + 1 + len(expected)
    assert all(line.endswith(words) for line, words in zip(said[start + 1 :], expected, strict=True))


class Flow(SimpleNamespace):
    """A flow that ends in a state."""

    def __call__(self, *_: object, return_state: bool) -> State[Any]:
        assert return_state
        return self.state


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (Completed(data=3), (3, None)),
        (Cancelled(message="by hand"), "the audit ended as Cancelled: by hand"),
        (Crashed(message="killed"), "the audit ended as Crashed: killed"),
        (flow_state(InputError("a.csv is empty.")), "a.csv is empty."),
        (flow_state(GateError("9 of 10 labels look wrong.")), "9 of 10 labels look wrong."),
    ],
)
def test_a_flow_gives_what_it_returned_or_the_error_it_ended_with(
    state: State[Any], expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "setup_logging", lambda **_: None)
    monkeypatch.setenv("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    returned, error = command_line.run_flow(Flow(name="audit", state=state))  # type: ignore[arg-type]
    if error is None:
        assert (returned, error) == expected
    else:
        assert (returned, str(error)) == (None, expected)


def test_when_debugging_what_was_not_meant_for_the_user_is_raised_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "setup_logging", lambda **_: None)
    monkeypatch.setenv("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    defect = Flow(name="audit", state=Failed(message="a defect", data=ZeroDivisionError("of ours")))
    with pytest.raises(ZeroDivisionError, match="of ours"):
        command_line.run_flow(defect, debug=True)  # type: ignore[arg-type]
    _, error = command_line.run_flow(defect)  # type: ignore[arg-type]
    assert str(error) == "the audit ended as Failed: a defect"


@pytest.mark.parametrize(
    ("api", "where"),
    [
        ("http://someone:secret@127.0.0.1:9/api", "at 127.0.0.1:9/api (OSError)"),
        ("http://127.0.0.1:9/api", "at 127.0.0.1:9/api (OSError)"),
        ("", "at (PREFECT_API_URL is not set) (OSError)"),
    ],
)
def test_a_server_that_is_not_there_is_named_without_its_password(api: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", api)
    assert command_line.no_server(OSError("refused")).startswith(f"there is no Prefect server {where}; start one")


def test_how_much_of_prefects_own_log_is_shown_goes_by_what_was_asked_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up: list[object] = []
    monkeypatch.setattr(command_line, "setup_logging", lambda **options: set_up.append((os.environ[LEVEL], options)))
    monkeypatch.setattr(command_line, "print_places", lambda *_: None)
    flow = Flow(name="audit", state=Completed(data=3))
    for verbose, debug in ((False, False), (False, True), (True, False), (True, True)):
        with monkeypatch.context() as alone:
            alone.setenv(LEVEL, "")
            alone.delenv(LEVEL)
            command_line.conduct(flow, lambda _: make_workspace(project), ".", verbose=verbose, debug=debug)  # type: ignore[arg-type]
    assert set_up == [(level, {"incremental": False}) for level in ("CRITICAL", "ERROR", "INFO", "INFO")]
    monkeypatch.setenv(LEVEL, "WARNING")
    command_line.run_flow(flow)  # type: ignore[arg-type]
    assert set_up[-1] == ("WARNING", {"incremental": False}), "what the user has set stays"


LEVEL = "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"


@pytest.mark.parametrize(
    ("api", "sentence"),
    [
        ("http://127.0.0.1:9/api", "there is no Prefect server at 127.0.0.1:9/api (RuntimeError); start one"),
        ("", "the Prefect server that a flow starts for itself does not answer (no answer; its own messages: "),
    ],
)
def test_a_run_that_could_not_be_made_is_a_sentence_and_when_debugging_the_error_itself(
    api: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flow(*_: object, return_state: bool) -> None:
        raise RuntimeError("no answer") from ConnectionRefusedError()

    monkeypatch.setattr(command_line, "setup_logging", lambda **_: None)
    monkeypatch.setenv(LEVEL, "CRITICAL")
    monkeypatch.setenv("PREFECT_API_URL", api)
    returned, error = command_line.run_flow(flow)  # type: ignore[arg-type]
    assert returned is None and isinstance(error, InputError) and str(error).startswith(sentence)
    with pytest.raises(RuntimeError, match="no answer"):
        command_line.run_flow(flow, debug=True)  # type: ignore[arg-type]


def test_who_interrupts_a_flow_ends_the_program_as_a_shell_expects(monkeypatch: pytest.MonkeyPatch) -> None:
    def flow(*_: object, return_state: bool) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "setup_logging", lambda **_: None)
    monkeypatch.setenv(LEVEL, "CRITICAL")
    with pytest.raises(SystemExit) as ended:
        command_line.run_flow(flow)  # type: ignore[arg-type]
    assert ended.value.code == 130


def test_what_is_no_matter_of_the_connection_is_said_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def flow(*_: object, return_state: bool) -> None:
        raise ValueError("422 of http://someone:secret@127.0.0.1:9/api:\nunknown field")

    monkeypatch.setattr(command_line, "setup_logging", lambda **_: None)
    monkeypatch.setenv(LEVEL, "CRITICAL")
    monkeypatch.setenv("PREFECT_API_URL", "http://someone:secret@127.0.0.1:9/api")
    _, error = command_line.run_flow(flow)  # type: ignore[arg-type]
    said = "Prefect could not begin a run (ValueError: 422 of http://127.0.0.1:9/api: unknown field); `--debug` shows where that was."
    assert str(error) == said


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (httpx.ConnectError("refused"), True),
        (httpx.ReadTimeout("slow"), True),
        (socket.gaierror("no such name"), True),
        (RuntimeError("Timed out while attempting to connect to ephemeral Prefect API server. Exited with 1."), True),
        (RuntimeError("no"), False),
        (PermissionError("of a file"), False),
    ],
)
def test_only_errors_of_the_connection_say_that_no_server_answers(error: Exception, expected: bool) -> None:
    assert command_line.unanswered(error) is expected

"""What a command line prints when its flow has ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from cartograph.errors import CartographError, GateError
from flows.audit import audit
from flows.engine import command_line
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

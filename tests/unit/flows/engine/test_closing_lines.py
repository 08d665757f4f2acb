"""What is said at the end: where the runs are looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cartograph.data.json_files import write_json
from flows.engine import closing_lines
from tasks.audit.publish import RUN, Publish
from tasks.engine.workspace import project_root
from tests.workspaces import make_workspace

RUNS = "/#/experiments/7/runs?workflowType=machine_learning"


@pytest.mark.parametrize(
    ("uri", "server", "said"),
    [
        (None, "own", ["Compare    mlflow ui --backend-store-uri sqlite:///mlflow.db", f"           http://127.0.0.1:5000{RUNS}"]),
        ("https://ann:secret@mlflow.example", "https://mlflow.example", [f"Compare    https://mlflow.example{RUNS}"]),
        ("https://mlflow.example", "https://elsewhere.example", ["Compare    https://mlflow.example"]),
        (None, None, ["Compare    mlflow ui --backend-store-uri sqlite:///mlflow.db"]),
    ],
)
def test_the_address_of_the_runs_follows_the_command_that_serves_them(
    uri: str | None, server: str | None, said: list[str], project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(closing_lines, "came_to_gates", lambda space, error: True)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    if uri is not None:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    space = make_workspace(project, publish=Publish())
    if server is not None:
        own = f"sqlite:///{project_root() / 'mlflow.db'}"
        space.state.mkdir()
        write_json(space.state / RUN, {"server": own if server == "own" else server, "experiment": "7"})
    page = space.path / "reports/report.html"
    page.parent.mkdir(exist_ok=True)
    head = json.dumps({"verdict": {"sentence": "About 5 of 90 labels are wrong.", "lines": ["Start with the suspects."]}})
    page.write_text(f'<script type="application/json" id="data-content">{head}</script>')
    said = ["Found      About 5 of 90 labels are wrong.", f"Report     {page.relative_to(project_root())}", *said]
    closing_lines.print_places(space, None)
    assert capsys.readouterr().out.splitlines()[1:] == said


def test_a_warning_does_not_say_again_what_was_found_and_lines_that_change_all_else_are_repeated(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(closing_lines, "came_to_gates", lambda space, error: True)
    gates = ["1 problem with the map, and `a` is 1: It has not learnt. Raise x.", "3 of 9 labels look wrong: all of them."]
    gates.append("5 rows could not be used, and `q` is 5 %: 5 no label (all: data/ingest/quarantine.parquet).")
    monkeypatch.setattr(closing_lines, "findings", lambda space: [{"outcome": "warned", "sentence": sentence} for sentence in gates])
    space = make_workspace(project / "workspaces/own")
    page = space.path / "reports/report.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        "9 of the 90 rows have the text of another row under another label: look.",
        "`code` tells it: wrong labels cannot be found.",
        "If each row was judged for its label, name its column otherwise than `outcome`, such as `label`.",
        "c",
    ]
    head = json.dumps({"verdict": {"sentence": "3 of 9 labels are worth a second look. It has not learnt. Raise x.", "lines": lines}})
    page.write_text(f'<script type="application/json" id="data-content">{head}</script>')
    closing_lines.print_places(space, None)
    shown = capsys.readouterr().out.splitlines()
    assert [line.strip() for line in shown[2:5]] == lines[:3] and not any(line.endswith(" c") for line in shown)
    assert [line for line in shown if line.startswith("Warning")] == [
        "Warning    1 problem with the map, and `a` is 1.",
        "Warning    3 of 9 labels look wrong: all of them.",
        f"Warning    {gates[2].replace('data/', 'workspaces/own/data/')}",
    ]


@pytest.mark.parametrize(
    ("suspects", "asked"),
    [(3, "decide about the suspects:  "), (0, "read the rows doubted most: "), (None, "decide about the suspects:  ")],
)
def test_what_people_are_asked_next_follows_what_was_found(
    suspects: int | None, asked: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(closing_lines, "came_to_gates", lambda space, error: True)
    space = make_workspace(project, ingest={"source": "files", "train": "rows.csv", "text": "text"}, noise={})
    page = space.path / "reports/report.html"
    page.parent.mkdir(exist_ok=True)
    head = json.dumps(
        {
            "verdict": {
                "sentence": "About 5 of 90 labels are wrong.",
                "lines": ["Not in that number are errors that a; it is b.", "c"],
            }
        }
    )
    page.write_text(f'<script type="application/json" id="data-content">{head}</script>')
    if suspects is not None:
        (space.path / "data/noise").mkdir(parents=True)
        write_json(space.path / "data/noise/noise.json", {"suspects": suspects})
    if suspects == 0:  # As it is where people have decided about all.
        write_json(space.path / "data/noise/noise.json", {"suspects": 7})
        write_json(space.path / "reports/clean.metrics.json", {"suspects.open": 0})
    closing_lines.print_places(space, None)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "           Not in that number are errors that a; it is b."
    assert "           c" not in lines
    line = next(line for line in lines if asked in line)
    assert line.endswith(" --open" + " --further 50" * (suspects == 0))
    assert any("rows drawn at random: " in line and line.endswith(" --open --blind") for line in lines) == (suspects == 0)

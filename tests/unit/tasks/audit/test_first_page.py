from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cartograph.page.read_verdict import verdict_of
from tasks.audit import first_page, noise, report
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.parameters.measure import Measure
from tasks.audit.parameters.retrain import Retrain
from tasks.commands.profiles import PROFILES
from tasks.engine.dag import upstream
from tasks.engine.step import Out
from tasks.engine.workspace import CODE, Workspace
from tasks.pipelines import STEPS, open_workspace, steps_of
from tests.report_audit import write_audit
from tests.workspaces import make_workspace, open_new, use_project

SECTIONS = {"ingest": Ingest(), "measure": Measure(), "noise": noise.Noise(), "report": report.Report(), "retrain": Retrain()}


def first_look(folder: Path) -> tuple[Workspace, str, str]:
    inputs = write_audit(folder)
    space = make_workspace(CODE / "workspaces/small", **SECTIONS)
    mapped = {name: inputs[name] for name in report.map_inputs(space.settings)}
    out = Out(space, {first_page.PAGE: folder / "first-look.html"}, folder / "checkpoints", folder, folder / "failed")
    summary = first_page.run(first_page.FirstPage(), mapped, out)  # type: ignore[arg-type]
    return space, summary, (folder / "first-look.html").read_text(encoding="utf-8")


def content_of(document: str) -> dict[str, Any]:
    return json.loads(re.search(r'id="data-content">(.*?)</script>', document, re.DOTALL)[1])


def test_it_shows_the_map_and_the_suspects_and_says_where_the_whole_page_will_be(tmp_path: Path) -> None:
    _, summary, document = first_look(tmp_path)
    assert summary == "open workspaces/small/reports/first-look.html for the map and the suspects; the full page comes at the end"
    sentence, first, *_ = verdict_of(document) or ()
    assert re.match(r"\d+ of 300 labels look wrong", sentence)
    assert first.startswith("This is a first look, ") and first.endswith(" the full page is report.html in the same folder.")
    content = content_of(document)
    assert content["kind"] == "Data audit, first look"
    assert [section["short"] for section in content["sections"]] == [
        "Map",
        "Suspects",
        "Rows to read",
        "Regions",
        "Validation",
        "Training",
        "How made",
    ]


@pytest.mark.slow
def test_what_it_says_of_how_it_was_made_is_what_it_depends_on(tmp_path: Path) -> None:
    space, _, document = first_look(tmp_path / "one")
    assert "Parameters of noise" in document and "Parameters of retrain" not in document and "retrain" in space.settings
    assert document == first_look(tmp_path / "two")[2], "the same bytes"


@pytest.mark.parametrize("profile", PROFILES)
def test_an_audit_has_it_where_long_steps_follow(profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = open_new(use_project(tmp_path, monkeypatch), ingest={"source": "planted-nli"}, **PROFILES[profile])
    assert (first_page.STEP in steps_of(space.settings)) == (profile != "quick")


def test_nothing_waits_for_it_and_it_waits_for_the_suspects_alone() -> None:
    settings = open_workspace(CODE).settings
    assert upstream(first_page.STEP, STEPS, settings) == {"ingest", "train", "measure", "noise"}
    assert not [step.name for step in STEPS if first_page.STEP.name in upstream(step, STEPS, settings)]

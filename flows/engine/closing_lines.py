"""What a command line says at its end: what was found, the gates that warned, where the report is, and what to do next."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cartograph.data.json_files import read_json
from cartograph.errors import CartographError, WaitingError
from cartograph.page.read_verdict import BEYOND, GATHER, JUDGED, MADE_FROM, OF_SET, SAME, verdict_of
from tasks.audit.clean import FOUND, METRICS
from tasks.audit.gates import came_to_gates, findings
from tasks.audit.ingested_sets import is_built_in
from tasks.audit.parameters.ingest import Sources
from tasks.audit.publish import RUN
from tasks.audit.report import PAGE as REPORT
from tasks.collection.report import WAITING as WAITING_PAGE
from tasks.engine.workspace import Workspace, project_root
from tasks.pipelines import has_several_labels
from tasks.presentation import console
from tasks.publishing.tracking_uri import runs_page, shown, tracking_uri, viewer

INTERRUPTED, TERMINATED = 130, 143
"""The exit codes after Ctrl-C and SIGTERM, as shells have them."""


def print_places(space: Workspace, error: CartographError | None) -> None:
    """Print what was found, the gates that warned, the report and MLflow's address, where the flow came that far."""
    waiting = isinstance(error, WaitingError)
    if not waiting and not came_to_gates(space, error):
        return
    report = space.resolve(WAITING_PAGE if waiting else REPORT)
    console.say("")
    said = None if waiting or not report.exists() else verdict_of(report.read_text(encoding="utf-8"))
    if said is not None:
        console.say(f"Found      {said[0]}")
        for line in said[1:]:
            # The other lines are on the page.
            if line.startswith((GATHER, BEYOND, JUDGED)) or any(part in line for part in (OF_SET, SAME, MADE_FROM)):
                console.say(f"           {line}")
    for finding in () if waiting else findings(space):
        if finding["outcome"] == "warned":
            console.say(f"Warning    {_from_here(_unsaid(finding['sentence'], said), space)}")
    if report.exists():
        console.say(f"Report     {report.relative_to(project_root())}")
    if not waiting and getattr(space.settings.get("publish"), "enabled", False):
        _print_runs(space)
    if not waiting and report.exists() and space.settings.find(Sources) is not None:
        _print_next(space)


def _unsaid(sentence: str, said: tuple[str, ...] | None) -> str:
    """Return a gate's sentence without the detail that the sentence of the audit has already."""
    gate, _, detail = sentence.partition(": ")
    return f"{gate}." if said is not None and detail and detail.rstrip(".") in said[0] else sentence


def _from_here(sentence: str, space: Workspace) -> str:
    """Return a gate's sentence with its file from where the command runs, and not from the workspace, as pages have it."""
    folder = "" if space.path == project_root() else f"{space.path.relative_to(project_root()).as_posix()}/"
    return sentence.replace("(all: data/", f"(all: {folder}data/")


def _print_runs(space: Workspace) -> None:
    """Print how the runs are looked at in MLflow: the command that serves them, and their address."""
    uri = tracking_uri()
    try:
        published = read_json(space.state / RUN)
        address = runs_page(published["server"], published["experiment"]) if published["server"] == shown(uri) else None
    except (OSError, ValueError, KeyError, TypeError):
        address = None
    lines = [viewer(uri)] if address is None else [address] if address.startswith(shown(uri)) else [viewer(uri), address]
    for place, line in enumerate(lines):
        console.say(f"{'' if place else 'Compare':<10} {line}")


def _no_suspects(space: Workspace) -> bool:
    """Return whether an audit of rows with one label each found none, or people decided about all of them."""
    counts = ((FOUND, "suspects"), (METRICS, "suspects.open"))
    found = [read_json(path).get(name) for path, name in ((space.resolve(file), name) for file, name in counts) if path.is_file()]
    return not has_several_labels(space.settings) and 0 in found


def _print_next(space: Workspace) -> None:
    """Print what a person can do with an audit: read it, decide about the suspects, audit a file of their own."""
    # `make` has an environment that the person's shell has not.
    made = "MAKELEVEL" in os.environ
    python = ".venv/bin/python" if made and Path(sys.prefix) == project_root() / ".venv" else "python"
    own = "make audit DATA=reviews.csv TEXT=review LABEL=sentiment"
    if not made:
        own = "python -m flows.audit --data reviews.csv --text review --label sentiment"
    console.say("")
    console.say(f"Next       open {space.resolve(REPORT).relative_to(project_root())} in a browser")
    review = f"{python} -m tasks review --workspace {space.typed} --open"
    if _no_suspects(space):
        console.say(f"           read the rows doubted most: {review} --further 50")
        console.say(f"           read rows drawn at random:  {review} --blind")
    else:
        console.say(f"           decide about the suspects:  {review}")
    if is_built_in(space.settings):
        console.say(f"           audit a file of your own:   {own}")

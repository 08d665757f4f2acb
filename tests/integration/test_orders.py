"""Two drivers, one DAG: whatever one has done, the other finds; executions are counted in every order."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from cartograph.config import Settings
from tasks.engine.dag import upstream
from tasks.engine.workspace import CODE
from tasks.pipelines import STEPS, steps_of
from tests.integration.project import SMALL, MakeProject, Project

SETTINGS = Settings({step.name: step.params.model_validate(yaml.safe_load(SMALL).get(step.name, {})) for step in STEPS})
CELLS = steps_of(SETTINGS)
NAMES = {step.name for step in CELLS}
UP_TO_DATE = "Data and pipelines are up to date."

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def audited(make_project: MakeProject) -> Project:
    """A project whose audit has run once under Prefect."""
    project = make_project(database=False)
    assert project.executed_by(lambda: project.run("flows.audit")) == NAMES
    assert set(project.executions().values()) == {1}
    return project


def downstream(name: str) -> set[str]:
    """The step of that name and all that depend on it."""
    found = {name}
    for step in CELLS:
        if upstream(step, CELLS, SETTINGS) & found:
            found.add(step.name)
    return found


def flow(project: Project) -> Callable[[], object]:
    return lambda: project.run("flows.audit")


def repro(project: Project) -> Callable[[], object]:
    return lambda: project.run("dvc", "repro")


def contents(project: Project) -> dict[str, bytes]:
    """Every output of the audit by name."""
    files = [
        *project.path.glob("data/**/*"),
        *project.path.glob("reports/*.json"),
        *project.path.glob("reports/*.html"),
        *project.path.glob("reports/figures/*"),
    ]
    return {file.relative_to(project.path).as_posix(): file.read_bytes() for file in files if file.is_file() and file.name != ".gitignore"}


def test_after_a_flow_dvc_has_nothing_to_do(audited: Project) -> None:
    assert UP_TO_DATE in audited.run("dvc", "status").stdout
    assert audited.executed_by(repro(audited)) == set()
    done = audited.run("dvc", "repro")
    assert UP_TO_DATE in done.stdout
    assert audited.executed_by(flow(audited)) == set()


def test_where_nothing_is_stale_prefect_is_not_asked(audited: Project) -> None:
    nowhere = Project(audited.path, audited.environment | {"PREFECT_API_URL": "http://127.0.0.1:9/api"})
    audited.run("flows.audit")
    for options in ([], ["--workspace", "."]):
        done = nowhere.run("flows.audit", *options)
        assert [line.split()[0] for line in done.stdout.splitlines() if line.endswith("cached")] == [step.name for step in CELLS]
        assert "Report     reports/report.html" in done.stdout
    assert "there is no Prefect server at 127.0.0.1:9" in nowhere.run("flows.audit", "--force", "gates", code=2).stderr
    webhook = Project(nowhere.path, nowhere.environment | {"CARTOGRAPH_WEBHOOK": "http://127.0.0.1:9/"})
    assert "there is no Prefect server" in webhook.run("flows.audit", code=2).stderr, "a gate warns, so that an alert is due"
    assert (audited.path / "reports" / "card.md").read_text().startswith("---\npretty_name: ")
    page = audited.path / "reports" / "report.html"
    page.write_text(page.read_text() + " ")
    assert "there is no Prefect server" in nowhere.run("flows.audit", code=2).stderr
    assert audited.executed_by(flow(audited)) == {"report"}


def test_the_graph_of_a_flow_run_is_the_dag(audited: Project) -> None:
    audited.run("flows.audit", "--force", "gates")
    # Those that are scheduled have a start too, in the future.
    ended = {"flows": {"name": {"any_": ["audit"]}}, "flow_runs": {"state": {"type": {"any_": ["COMPLETED"]}}}}
    [run] = ask(audited, "/flow_runs/filter", ended | {"sort": "START_TIME_DESC", "limit": 1})
    for _ in range(60):
        # The server reads how tasks ended from events, which may come after the flow's own end.
        nodes = {node["id"]: node for _, node in ask(audited, f"/flow_runs/{run['id']}/graph-v2")["nodes"]}
        if len(nodes) >= len(CELLS) and all(node["end_time"] for node in nodes.values()):
            break
        time.sleep(1)
    assert sorted(node["label"] for node in nodes.values()) == sorted(NAMES), "every step is one task"
    assert {node["state_type"] for node in nodes.values()} == {"COMPLETED"}
    edges = {(nodes[parent["id"]]["label"], node["label"]) for node in nodes.values() for parent in node["parents"]}
    assert edges == {(source, step.name) for step in CELLS for source in upstream(step, CELLS, SETTINGS)}


def ask(project: Project, path: str, body: object = None) -> Any:
    """Ask the Prefect server: a GET, or a POST where there is a body."""
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(project.environment["PREFECT_API_URL"] + path, content, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def test_after_dvc_a_flow_runs_nothing_and_the_bytes_are_the_same(audited: Project, make_project: Callable[[], Project]) -> None:
    project = make_project()
    assert project.executed_by(repro(project)) == NAMES
    assert contents(project) == contents(audited)
    assert project.executed_by(flow(project)) == set()
    assert UP_TO_DATE in project.run("dvc", "status").stdout


def test_one_parameter_changed_runs_what_hangs_on_it(audited: Project) -> None:
    audited.params(SMALL.replace("burn_in: 0", "burn_in: 1"))
    executed = audited.executed_by(flow(audited))
    assert {"measure", "noise", "score", "report", "publish"} <= executed <= downstream("measure")
    assert not executed & {"ingest", "train"}
    assert UP_TO_DATE in audited.run("dvc", "status").stdout
    audited.params(SMALL)
    assert audited.executed_by(repro(audited)) <= downstream("measure")
    assert audited.executed_by(flow(audited)) == set()


def test_a_key_written_out_at_its_default_runs_nothing_but_what_shows_it(audited: Project) -> None:
    audited.params(SMALL.replace("burn_in: 0", "burn_in: 0, epochs: all"))
    assert audited.executed_by(flow(audited)) <= {"report", "publish"}
    assert UP_TO_DATE in audited.run("dvc", "status").stdout
    audited.params(SMALL)
    audited.run("flows.audit")


def test_one_more_seed_trains_one_more_model_per_version_under_either_driver(audited: Project) -> None:
    rest = {"evaluate", "report", "publish"}
    audited.params(SMALL.replace("seeds: [1]", "seeds: [1, 2]"))
    audited.run("tasks", "dvc-yaml")
    assert audited.executed_by(repro(audited)) == {"retrain@original-2", "retrain@cleaned-2"} | rest
    audited.params(SMALL.replace("seeds: [1]", "seeds: [1, 2, 3]"))
    assert audited.executed_by(flow(audited)) == {"retrain@original-3", "retrain@cleaned-3"} | rest
    assert UP_TO_DATE in audited.run("dvc", "status").stdout
    audited.params(SMALL)
    audited.run("flows.audit")


def test_a_corrupted_output_runs_only_its_step(audited: Project) -> None:
    target = audited.path / "data" / "measure" / "measures.parquet"
    whole = target.read_bytes()
    target.unlink()
    target.write_bytes(whole[:-1])
    assert audited.executed_by(flow(audited)) == {"measure"}
    assert target.read_bytes() == whole
    assert audited.executed_by(repro(audited)) == set()


def test_a_deleted_output_comes_back_with_at_most_its_step(audited: Project) -> None:
    page = audited.path / "reports" / "report.html"
    whole = page.read_bytes()
    page.unlink()
    assert audited.executed_by(repro(audited)) <= {"report"}
    assert page.read_bytes() == whole
    page.unlink()
    assert audited.executed_by(flow(audited)) == {"report"}
    assert page.read_bytes() == whole
    assert audited.executed_by(repro(audited)) == set()


def test_an_edited_module_runs_the_steps_that_depend_on_its_package_and_one_of_presentation_runs_none(audited: Project) -> None:
    name = "src/cartograph/maps/measures.py"
    users = {step.name for step in CELLS if any((CODE / name).is_relative_to(path) for path in step.code)}
    assert "measure" in users
    assert not users & {"ingest", "train"}
    text = (audited.path / name).read_text()
    (audited.path / name).write_text(text + "\n# A remark.\n")
    assert audited.executed_by(flow(audited)) == users
    assert UP_TO_DATE in audited.run("dvc", "status").stdout
    (audited.path / name).write_text(text)
    audited.run("flows.audit")
    console = audited.path / "tasks/presentation/console.py"
    console.write_text(console.read_text() + "\n# A remark.\n")
    assert audited.executed_by(flow(audited)) == set()
    assert audited.executed_by(repro(audited)) == set()


def test_force_runs_a_fresh_step_and_its_equal_outputs_stop_there(audited: Project) -> None:
    assert audited.executed_by(lambda: audited.run("flows.audit", "--force", "measure")) == {"measure"}
    done = audited.run("flows.audit", "--force", "nothing", code=2)
    assert "--force nothing: no such step; this audit's steps: ingest, train" in " ".join(done.stderr.split())


def test_a_fresh_clone_with_dvc_pull_runs_nothing(audited: Project, tmp_path: Path) -> None:
    audited.run("dvc", "remote", "add", "--force", "-d", "store", str(tmp_path / "store"))
    audited.run("dvc", "push")
    audited.git("add", "-A")
    audited.git("commit", "-q", "-m", "An audit")
    audited.git("clone", "-q", str(audited.path), str(tmp_path / "clone"))
    clone = Project(tmp_path / "clone", audited.environment | {"PYTHONPATH": str(tmp_path / "clone" / "src")})
    clone.run("dvc", "pull")
    assert clone.executed_by(repro(clone)) == set()
    assert clone.executed_by(flow(clone)) == set()


def test_audits_are_compared_also_of_a_commit(audited: Project) -> None:
    audited.git("add", "-A")
    audited.git("commit", "-q", "--allow-empty", "-m", "As it is")
    shown = audited.run("flows.compare", ".@HEAD", ".").stdout
    assert "Suspects: 0 new (0 on added rows)" in shown
    assert "| rows | 240 | 240 |" in shown
    done = audited.run("flows.compare", ".@nowhere", ".", code=2)
    shown = " ".join(done.stderr.split())
    assert "there is no audit of . at revision nowhere (" in shown and "unknown Git revision 'nowhere'); name a commit" in shown
    done = audited.run("flows.compare", "workspaces/none", ".", code=2)
    assert "workspaces/none" in done.stderr


@pytest.mark.parametrize("command", ["flows.audit --force report", "flows.compare . .", "flows.ablate synthetic"])
def test_a_server_that_is_not_there_is_told_in_a_sentence(audited: Project, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(audited.environment, "PREFECT_API_URL", "http://someone:secret@127.0.0.1:9/api")
    done = audited.run(*command.split(), code=2)
    assert "there is no Prefect server at 127.0.0.1:9/api" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr and "secret" not in done.stderr


def test_a_busy_workspace_says_who_holds_it(audited: Project) -> None:
    audited.params(SMALL.replace("rows: 240", "rows: 600"))
    first = audited.start("flows.audit")
    lock = audited.path / ".cartograph" / "lock"
    while not lock.read_text():
        assert first.poll() is None, first.stdout.read() if first.stdout else ""
    second = audited.run("tasks", "run", "ingest", code=2)
    said = " ".join(second.stderr.split())
    assert f"is busy: `python -m flows.audit --workspace .` (process {first.pid} on " in said
    assert "wait for it to end, or stop it." in said
    ingested = sorted((audited.path / "data" / "ingest").iterdir())
    assert "is busy" in " ".join(audited.run("dvc", "repro", code=255).stderr.split())
    assert ingested and {*ingested} <= {*(audited.path / "data" / "ingest").iterdir()}, "DVC removed what the audit reads"
    shown = first.communicate(timeout=600)[0]
    assert first.returncode == 0, shown
    audited.params(SMALL)


def test_a_stale_pipeline_file_is_refused(audited: Project) -> None:
    path = audited.path / "dvc.yaml"
    text = path.read_text()
    path.write_text(text.replace("data/train", "data/trained"))
    done = audited.run("tasks", "dvc-yaml", "--check", code=2)
    assert "is out of date; write it with `python -m tasks dvc-yaml --workspace" in " ".join(done.stderr.split())
    done = audited.run("tasks", "run", "measure", code=2)
    assert "is out of date" in " ".join(done.stderr.split())
    path.write_text(text)

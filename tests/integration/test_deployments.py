"""From a bare clone to a scheduled audit of a user's file with its alert: a real Prefect server, a worker, and somebody who listens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import yaml

from tests.integration.project import Project
from tests.integration.test_readme import write_reviews

SPACE = "workspaces/nightly"
FINAL = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}
PATIENCE_SECONDS = 400


@dataclass
class Platform:
    """A clone of the project, a server, a worker and a listener."""

    project: Project
    heard: list[dict[str, Any]]
    seen: set[str] = field(default_factory=set)

    def ask(self, path: str, body: Any) -> Any:
        request = urllib.request.Request(
            f"{self.project.environment['PREFECT_API_URL']}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        for _ in range(20):
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                # The server's database is busy; its own client asks again too.
                if error.code != 503:
                    raise
                time.sleep(1)
        raise AssertionError(f"{path}: the server was busy for 20 s")

    @property
    def deployment(self) -> dict[str, Any]:
        [found] = self.ask("/deployments/filter", {"deployments": {"name": {"any_": ["nightly"]}}})
        return found

    def next_run(self) -> dict[str, Any]:
        """Wait for the end of a run that was not yet returned."""
        which = {"deployments": {"id": {"any_": [self.deployment["id"]]}}}
        for _ in range(PATIENCE_SECONDS):
            ended = [run for run in self.ask("/flow_runs/filter", which) if run["state_type"] in FINAL and run["id"] not in self.seen]
            if ended:
                self.seen.add(ended[0]["id"])
                return ended[0]
            time.sleep(1)
        pytest.fail("no run of the deployment ended")

    def request_run(self) -> dict[str, Any]:
        self.ask(f"/deployments/{self.deployment['id']}/create_flow_run", {})
        return self.next_run()

    def steps(self, run: dict[str, Any]) -> dict[str, str]:
        found = self.ask("/task_runs/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}})
        return {task["name"]: task["state_name"] for task in found}

    def artifact(self, run: dict[str, Any]) -> str:
        [found] = self.ask("/artifacts/filter", {"artifacts": {"flow_run_id": {"any_": [run["id"]]}, "type": {"any_": ["markdown"]}}})
        assert found["key"] == "audit-nightly"
        return found["data"]

    def events(self, name: str) -> list[dict[str, Any]]:
        resource = {"id": ["cartograph.workspace.nightly"]}
        for _ in range(60):
            found = self.ask("/events/filter", {"filter": {"event": {"name": [name]}, "resource": resource}})["events"]
            if found:
                return found
            time.sleep(1)
        return []

    def accelerators_taken(self) -> int:
        """How many times a step took one of the accelerators that `flows.deploy --gpus` counts."""
        wanted = {"filter": {"event": {"name": ["prefect.concurrency-limit.acquired"]}}}
        return len(self.ask("/events/filter", wanted)["events"])

    def gates(self, text: str) -> None:
        path = self.project.path / SPACE / "params.yaml"
        content = yaml.safe_load(path.read_text())
        content["gates"] = yaml.safe_load(text)
        path.write_text(yaml.safe_dump(content))


@pytest.fixture(scope="module")
def listener() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    heard: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook/secret-path", heard
    server.shutdown()


@pytest.fixture(scope="module")
def platform(
    make_project: Callable[[], Project], listener: tuple[str, list[dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    origin = make_project()
    bare, path = tmp_path_factory.mktemp("bare"), tmp_path_factory.mktemp("clone")
    for command in (["git", "clone", "-q", "--bare", str(origin.path), str(bare)], ["git", "clone", "-q", str(bare), str(path)]):
        subprocess.run(command, check=True, capture_output=True)
    environment = origin.environment | {"PYTHONPATH": str(path / "src"), "CARTOGRAPH_WEBHOOK": listener[0]}
    project = Project(path, environment)
    write_reviews(path / "reviews.csv", 200)
    project.run("tasks", "init", SPACE, "--train", "reviews.csv", "--text", "review", "--label", "sentiment")
    log = (path / "worker.log").open("w")
    project.run("flows.deploy", "--workspace", SPACE, "--cron", "* * * * *", "--at-once", "2")
    worker = subprocess.Popen(
        [sys.executable, "-m", "prefect", "worker", "start", "--pool", "cartograph", "--type", "process"],
        cwd=path, env=environment, stdout=log, stderr=log, start_new_session=True,
    )  # fmt: skip
    yield Platform(project, listener[1])
    os.killpg(worker.pid, signal.SIGTERM)
    try:
        worker.wait(30)
    except subprocess.TimeoutExpired:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    log.close()


@pytest.mark.slow
def test_a_scheduled_audit_from_a_clone_to_its_alert(platform: Platform) -> None:
    first = platform.next_run()
    log = (platform.project.path / "worker.log").read_text()[-3000:]
    assert first["state_type"] == "COMPLETED", f"{first['state']}\n{log}"
    assert first["auto_scheduled"], "nobody asked for it: the schedule did"
    assert "workspace:nightly" in first["tags"]
    assert set(platform.steps(first).values()) == {"Completed"}
    assert platform.events("cartograph.audit.completed")
    summary = platform.artifact(first)
    assert "# Audit of nightly" in summary
    assert "![The data map](data:image/png;base64," in summary
    assert summary.split("\n\n")[1].startswith("**"), "the verdict"
    assert "/artifacts/report.html)" in summary and "file://" not in summary

    platform.project.run("flows.deploy", "--workspace", SPACE, "--gpus", "1")
    assert platform.deployment["schedules"] == [], "without --cron it runs on request"
    alerts = len(platform.heard)
    accelerator = {"names": ["tag:resource:gpu"], "slots": 1}
    assert platform.ask("/v2/concurrency_limits/increment", accelerator | {"mode": "concurrency"})
    again = platform.request_run()
    assert again["state_type"] == "COMPLETED", "what is fresh waits for no accelerator"
    assert set(platform.steps(again).values()) == {"Cached"}
    assert platform.ask("/v2/concurrency_limits/decrement", accelerator | {"occupancy_seconds": 1})
    assert platform.accelerators_taken() == 0

    platform.gates("{class_shift: {fail: 0.02}}")
    write_reviews(platform.project.path / "reviews.csv", 200)
    reviews = (platform.project.path / "reviews.csv").read_text().splitlines()
    wrong = [line.replace("positive", "negative") if number % 9 == 2 else line for number, line in enumerate(reviews)]
    (platform.project.path / "reviews.csv").write_text("\n".join(wrong) + "\n")
    worse = platform.request_run()
    states = Counter(platform.steps(worse).values())
    assert worse["state_type"] == "FAILED"
    assert set(states) <= {"Completed", "Cached"}, "every step ran: the report is there to read"
    assert platform.accelerators_taken() > 0, "what trains counts among the steps on an accelerator of all audits"
    assert "and `gates.class_shift.fail` is " in worse["state"]["message"]
    [event] = platform.events("cartograph.gate.failed")
    assert event["payload"]["gate"] == "class_shift" and event["payload"]["sentence"] in platform.heard[alerts]["text"]
    assert platform.heard[alerts]["outcome"] == "failed"
    assert platform.heard[alerts]["workspace"] == "nightly"
    assert "| the one before |" in platform.artifact(worse)

    (platform.project.path / "reviews.csv").unlink()
    broken = platform.request_run()
    assert broken["state_type"] == "FAILED"
    assert "reviews.csv, which does not exist; correct the path in params.yaml" in broken["state"]["message"]
    assert platform.heard[-1]["gates"] == [] and "does not exist" in platform.heard[-1]["text"]
    assert platform.project.run("flows.deploy", "--workspace", SPACE, "--cron", "at noon", code=2).stderr.count("is not a schedule") == 1

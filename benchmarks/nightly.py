"""A night on one worker: ten workspaces on one schedule, two of them broken, one killed in the middle.

`python benchmarks/nightly.py [--rows 300] [--at-once 2]` makes a project with ten workspaces in a temporary folder, each with a file
of its own whose rows carry a mark of their own; the file of one is gone, most labels of another are missing. All are scheduled for the
same minute at a Prefect server on loopback and audited by one worker. One audit's process is killed with SIGKILL while it trains, and
asked for again afterwards. It prints how each ended, whether anything of one is found in another, what MLflow has, the wall time, and
the peak memory of the worker and everything beneath it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import yaml
from project_copy import copy_project

SPACES = [f"set{number}" for number in range(10)]
MISSING, EMPTIED, KILLED = "set3", "set6", "set4"
FINAL = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}
SMALLER = {
    "retrain": {"subsets": ["original", "cleaned"], "seeds": [1]},
    "aflite": {"enabled": False},
}


@dataclass
class Night:
    """A project, the server's address, and the worker; ``peaks`` are megabytes."""

    project: Path
    environment: dict[str, str]
    api: str
    worker: psutil.Process | None = None
    peaks: dict[str, float] = field(default_factory=lambda: {"all": 0.0, "one": 0.0})

    def run(self, *command: str) -> None:
        """Run a module of the project."""
        subprocess.run([sys.executable, "-m", *command], cwd=self.project, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def ask(self, path: str, body: Any) -> Any:
        """Ask the server."""
        request = urllib.request.Request(f"{self.api}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def deployments(self) -> dict[str, str]:
        """Return id -> workspace."""
        return {found["id"]: found["name"] for found in self.ask("/deployments/filter", {})}

    def runs(self) -> list[dict[str, Any]]:
        """Return the runs of this night: those that are due."""
        now = datetime.now(UTC).isoformat()
        found = self.ask("/flow_runs/filter", {})
        return [run for run in found if run["expected_start_time"] <= now]

    def processes(self) -> list[psutil.Process]:
        """Return everything beneath the worker."""
        return [] if self.worker is None else self.worker.children(recursive=True)

    def measure(self) -> None:
        """Note the memory in use: private and a fair part of what is shared."""
        used = [_megabytes(process) for process in self.processes()]
        self.peaks["all"] = max(self.peaks["all"], sum(used))
        self.peaks["one"] = max(self.peaks["one"], *used, 0.0)


def _megabytes(process: psutil.Process) -> float:
    try:
        return float(process.memory_full_info().pss) / 1e6
    except psutil.Error:
        return 0.0


def make_spaces(night: Night, rows: int) -> None:
    """Write each workspace's file and parameters; break two of them."""
    from cartograph.planted.nli import generate

    for number, name in enumerate(SPACES):
        sets = generate(rows, number).sets
        path = night.project / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "premise", "hypothesis", "label"])
            for place, row in enumerate(sets["train"].to_pylist()):
                label = "" if name == EMPTIED and place % 3 else row["label"]
                writer.writerow([f"{name}-{place}", f"{row['premise']} ({name})", row["hypothesis"], label])
        columns = ["--text", "premise", "--text-pair", "hypothesis", "--label", "label", "--uid", "id"]
        night.run("tasks", "init", f"workspaces/{name}", "--train", path.name, *columns)
        params = night.project / f"workspaces/{name}/params.yaml"
        content = yaml.safe_load(params.read_text())
        for section, values in SMALLER.items():
            content[section] |= values
        params.write_text(yaml.safe_dump(content, sort_keys=False))
        if name == MISSING:
            path.unlink()


def start(stack: ExitStack, night: Night, *command: str) -> subprocess.Popen[bytes]:
    """Start a process in the project; it is stopped when the stack closes."""
    log = stack.enter_context((night.project / f"{command[1]}.log").open("w"))
    process = subprocess.Popen(
        [sys.executable, "-m", *command], cwd=night.project, env=night.environment, stdout=log, stderr=log, start_new_session=True
    )

    def stop() -> None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    stack.callback(stop)
    return process


def wait_for_server(night: Night) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{night.api}/health", timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    raise SystemExit("the Prefect server did not start")


def kill_while_training(night: Night, run: dict[str, Any]) -> bool:
    """Kill the process of a run with SIGKILL once its ingest is done; return whether it was."""
    steps = {task["name"]: task["state_type"] for task in night.ask("/task_runs/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}})}
    if steps.get("ingest") != "COMPLETED" or "RUNNING" not in steps.values():
        return False
    for process in night.processes():
        try:
            if process.environ().get("PREFECT__FLOW_RUN_ID") == run["id"]:
                process.kill()
                return True
        except psutil.Error:
            continue
    return False


def watch(night: Night, due: int, *, kill: bool) -> float:
    """Wait until so many runs have ended, killing one of them on the way; return the seconds from the first start to the last end."""
    started, killed = time.perf_counter(), not kill
    begun: float | None = None
    while True:
        runs = night.runs()
        if begun is None and any(run["state_type"] not in ("SCHEDULED", "PENDING") for run in runs):
            begun = time.perf_counter()
        names = night.deployments()
        for run in runs:
            if not killed and names[run["deployment_id"]] == KILLED and run["state_type"] == "RUNNING":
                killed = kill_while_training(night, run)
        if sum(run["state_type"] in FINAL for run in runs) >= due:
            return time.perf_counter() - (begun or started)
        if time.perf_counter() - started > 1500:
            raise SystemExit(f"the night did not end: {Counter(run['state_name'] for run in runs)}")
        night.measure()
        time.sleep(0.5)


def executed(night: Night, name: str) -> Counter[str]:
    """Return how often each step of a workspace was executed to its end."""
    journal = night.project / f"workspaces/{name}/.cartograph/journal.jsonl"
    return Counter(json.loads(line)["step"] for line in journal.read_text().splitlines()) if journal.exists() else Counter()


def tell(night: Night) -> list[str]:
    """Print how each run ended; return the workspaces whose last run is done."""
    names = night.deployments()
    done = []
    for run in sorted(night.runs(), key=lambda run: (names[run["deployment_id"]], run["start_time"] or "")):
        name = names[run["deployment_id"]]
        message = "" if run["state_type"] == "COMPLETED" else f"  {(run['state']['message'] or '').replace(str(night.project), '…')[:150]}"
        print(f"  {name:<6} {run['state_name']:<10} {run['total_run_time']:6.1f} s{message}")
        if run["state_type"] == "COMPLETED":
            done.append(name)
    return done


def mixed_up(night: Night, done: list[str]) -> int:
    """Return in how many workspaces something of another one is found, or something of its own is missing."""
    wrong = 0
    for name in done:
        rows = pq.read_table(night.project / f"workspaces/{name}/data/ingest/train.parquet", columns=["uid", "premise"]).to_pylist()
        own = all(row["uid"].startswith(f"{name}-") and row["premise"].endswith(f"({name})") for row in rows)
        uids = {row["uid"] for row in rows}
        for table in ("measure/measures", "noise/noise", "compare/record"):
            own &= set(pq.read_table(night.project / f"workspaces/{name}/data/{table}.parquet", columns=["uid"])["uid"].to_pylist()) == uids
        wrong += not own
    return wrong


def experiments(night: Night) -> list[tuple[str, int, str]]:
    """Return each experiment of MLflow's database, its runs at the top, and the workspaces that their datasets name."""
    query = """
        select e.name, count(distinct r.run_uuid), group_concat(distinct d.name) from experiments e
        join runs r on r.experiment_id = e.experiment_id and r.status = 'FINISHED'
        join inputs i on i.destination_id = r.run_uuid join datasets d on d.dataset_uuid = i.source_id
        where r.run_uuid not in (select run_uuid from tags where key = 'mlflow.parentRunId') group by e.name order by e.name"""
    with sqlite3.connect(night.project / "mlflow.db") as database:
        return list(database.execute(query))


def main() -> None:
    """Make the project, wait for the night, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        project, api = Path(name), f"http://127.0.0.1:{port}/api"
        environment = copy_project(project, "ingest: {rows: 240}\n")
        environment |= {
            "DO_NOT_TRACK": "1",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_HOME": str(project / ".prefect"),
            "PREFECT_API_URL": api,
        }
        night = Night(project, environment, api)
        start(stack, night, "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui")
        make_spaces(night, arguments.rows)
        wait_for_server(night)
        at = datetime.now(UTC) + timedelta(minutes=2)
        named = [part for space in SPACES for part in ("--workspace", f"workspaces/{space}")]
        night.run("flows.deploy", *named, "--cron", f"{at.minute} {at.hour} * * *", "--at-once", str(arguments.at_once))
        night.worker = psutil.Process(start(stack, night, "prefect", "worker", "start", "--pool", "cartograph", "--type", "process").pid)
        seconds = watch(night, len(SPACES), kill=True)
        print(f"{len(SPACES)} workspaces of {arguments.rows} rows, {arguments.at_once} audits at once on {os.cpu_count()} cores:")
        tell(night)
        before = executed(night, KILLED)
        again = next(id for id, space in night.deployments().items() if space == KILLED)
        night.ask(f"/deployments/{again}/create_flow_run", {})
        watch(night, len(SPACES) + 1, kill=False)
        print("after the killed one was asked for again:")
        done = tell(night)
        twice = [step for step, number in executed(night, KILLED).items() if number > 1]
        print(f"steps of the killed audit that were done and not run again: {sum(before.values())}; run twice: {len(twice)}")
        print(f"workspaces done: {len(done)}; with anything of another one in their tables: {mixed_up(night, done)}")
        for experiment, runs, datasets in experiments(night):
            print(f"  MLflow experiment {experiment}: {runs} audit, datasets of {datasets}")
        print(f"from the first start to the last end: {seconds:.0f} s")
        print(f"peak memory: {night.peaks['all']:.0f} MB in all, {night.peaks['one']:.0f} MB in the largest process")


if __name__ == "__main__":
    main()

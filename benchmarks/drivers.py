"""What the drivers cost when nothing is to do: `dvc repro`, and a flow beside an empty Prefect flow.

`python benchmarks/drivers.py [runs]` audits a small copy of the project in a temporary folder, then prints the median seconds
of a no-change `dvc repro` (goal: at most 4), of an empty Prefect flow, and of a no-change audit flow (goal: at most 5 more).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kill_and_rerun import audit
from project_copy import copy_project

PARAMS = """\
ingest: {source: planted-nli, rows: 600, seed: 13}
train: {model: bow, epochs: 4}
"""
"""A small corpus; all the steps and cells of the default audit."""

EMPTY = """\
import flows
from prefect import flow
@flow
def empty():
    pass
empty()
"""


def timed(command: list[str], project: Path, environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        environment = copy_project(project, PARAMS)
        audit(project, environment)
        commands = {
            "no-change dvc repro": [sys.executable, "-m", "dvc", "repro"],
            "empty Prefect flow": [sys.executable, "-c", EMPTY],
            "no-change audit flow": [sys.executable, "-m", "flows.audit"],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(runs):
            for name, command in commands.items():
                seconds[name].append(timed(command, project, environment))
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, value in medians.items():
        print(f"{name:<22} {value:6.2f} s  (median of {runs}; {min(seconds[name]):.2f} to {max(seconds[name]):.2f})")
    print(f"dvc repro goal: at most 4 s: {'met' if medians['no-change dvc repro'] <= 4 else 'NOT met'}")
    more = medians["no-change audit flow"] - medians["empty Prefect flow"]
    print(f"flow over an empty flow: {more:+.2f} s; goal at most 5 s: {'met' if more <= 5 else 'NOT met'}")


if __name__ == "__main__":
    main()

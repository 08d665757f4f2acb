"""The grid of retrained models over 1 and 2 workers: what a second worker saves.

`python benchmarks/grid.py [--rows 3000] [--runner local|dask]` makes a project, audits it once, and then retrains the grid (three
strategies at two fractions, two seeds: 14 trainings with the whole train set's) with one worker and with two, on the same data.
Seconds are of the whole flow, Prefect's server and its workers' start included; as many cores as workers should be idle.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from project_copy import copy_project

PARAMS = """\
ingest: {{source: planted-nli, rows: {rows}, seed: 13}}
train: {{model: bow}}
select: {{strategies: [random, ambiguous, hard-to-learn], fractions: [0.25, 0.5]}}
retrain: {{subsets: [original], seeds: [1, 2], selections: true, epochs: 24}}
publish: {{enabled: false}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--runner", default="local")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        environment = copy_project(project, PARAMS.format(rows=arguments.rows)) | {"PREFECT_HOME": str(project / "home")}

        def audit(*more: str) -> float:
            started = time.perf_counter()
            command = [sys.executable, "-m", "flows.audit", *more]
            subprocess.run(command, cwd=project, env=environment, check=True, stdout=subprocess.DEVNULL)
            return time.perf_counter() - started

        audit()
        unchanged = audit()
        print(f"14 trainings on up to {arguments.rows:,} rows, {len(os.sched_getaffinity(0))} cores; nothing to do: {unchanged:.1f} s")
        for workers in (1, 2):
            more = ["--runner", "dask"] if arguments.runner == "dask" else []
            seconds = audit("--force", "retrain", "--workers", str(workers), *more)
            print(f"{arguments.runner}, {workers} worker{'s' * (workers > 1)}: {seconds:6.1f} s")


if __name__ == "__main__":
    main()

"""Kill an audit with SIGKILL at a random moment, run it again, and compare the bytes it ends with; many times.

`python benchmarks/kill_and_rerun.py [times] [seed]` works on a copy of the project in a temporary folder. Each round starts
from an empty audit, kills the whole process group at a moment drawn uniformly from an unbroken run's duration, reruns it to
the end, and compares every output with the unbroken run's.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from project_copy import copy_project

PARAMS = """\
ingest: {source: planted-nli, rows: 600, seed: 13}
train: {model: bow, epochs: 4}
retrain: {seeds: [1]}
"""


def run(
    command: list[str], project: Path, environment: dict[str, str], kill_after: float | None = None, codes: tuple[int, ...] = (0,)
) -> int | None:
    """Run a module's command in a project; return its exit code, or None where it was killed before it ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=kill_after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    if process.returncode not in codes:
        raise SystemExit(f"{' '.join(command)} failed:\n{output}")
    return process.returncode


def audit(project: Path, environment: dict[str, str], kill_after: float | None = None) -> bool:
    """Run the audit; return whether it was killed before it ended."""
    return run(["flows.audit"], project, environment, kill_after) is None


def outputs(project: Path) -> dict[str, str]:
    """Return the digest of every output by name; not those that carry times: Data Docs, the journal, the database."""
    files = [
        *project.glob("data/**/*"),
        *project.glob("reports/*.json"),
        *project.glob("reports/*.html"),
        *project.glob("reports/figures/*"),
        project / "dvc.lock",
    ]
    return {
        file.relative_to(project).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(files)
        if file.is_file() and file.name != ".gitignore"
    }


def reset(project: Path) -> None:
    for name in ("data", "reports", ".cartograph", "mlartifacts", ".dvc/cache"):
        shutil.rmtree(project / name, ignore_errors=True)
    for name in ("dvc.lock", "mlflow.db"):
        (project / name).unlink(missing_ok=True)


def stage(project: Path) -> str:
    done = sorted(path.name.removesuffix(".receipt.json") for path in project.glob("data/*.receipt.json"))
    return ", ".join(done) or "nothing"


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 13)
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        environment = copy_project(project, PARAMS)
        audit(project, environment)
        reset(project)
        started = time.perf_counter()
        audit(project, environment)
        whole = time.perf_counter() - started
        expected = outputs(project)
        print(f"unbroken run: {whole:.1f} s, {len(expected)} outputs")
        same = 0
        for number in range(1, times + 1):
            reset(project)
            after = rng.uniform(0, whole)
            killed = audit(project, environment, kill_after=after)
            had = stage(project)
            audit(project, environment)
            found = outputs(project)
            differing = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
            same += not differing
            verdict = "DIFFERS: " + ", ".join(differing) if differing else "same bytes"
            what = f"killed after {after:5.1f} s" if killed else f"ended before {after:5.1f} s"
            print(
                f"{number:3d}  {what}  finished by then: {had:<45}  {verdict}",
                flush=True,
            )
        print(f"{same} of {times} ended in the same bytes")
        if same != times:
            raise SystemExit(1)


if __name__ == "__main__":
    main()

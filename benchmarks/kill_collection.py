"""Kill a collection of pairs with SIGKILL at random moments, run it again, and compare what it ends with; many times.

`python benchmarks/kill_collection.py [collections] [kills] [seed]` works on a copy of the project in a temporary folder, once with
stated labels as the oracle and once with a simulated person who fills in the sheets, half a sheet at a time. Each collection starts from
nothing and is killed, whole process group, `kills` times, each time at a moment drawn uniformly from what an unbroken one takes; then it
runs to its end.
Every output must have the bytes of the unbroken one's, every label must be there, and no pair may be asked about twice.
"""

from __future__ import annotations

import csv
import hashlib
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from kill_and_rerun import PARAMS as AUDIT
from kill_and_rerun import outputs, run
from project_copy import copy_project

from cartograph.pairs.tables import keys_of, load_task

PARAMS = """\
pairs: {rows: 600}
encode: {neighbours: 20, near: 20, random_negatives: 2000}
collect: {methods: [%s], oracle: %s, first_round: 40, rounds: 3, epochs: 3, resamples: 40}
"""
ORACLES = {"imputed": "uncertainty, adaptive-retrieval, random", "people": "uncertainty"}
BUDGET = (40, 60, 90)
_WAITS = 3


@dataclass
class Person:
    """Somebody who knows the truth, fills in half of what is open on a sheet at a time, and remembers every pair."""

    space: Path
    answered: Counter[int] = field(default_factory=Counter)

    def answer(self) -> None:
        """Fill in the newest sheet; leave the other ones as they are."""
        task, sheet = load_task(self.space / "data/pairs"), max((self.space / "review").glob("round-*.csv"))
        rows = [*csv.reader(sheet.read_text(encoding="utf-8-sig").splitlines())]
        waiting = [row for row in rows[1:] if not row[4]]
        for row in waiting[: max(len(waiting) // 2, 20)]:
            key = int(row[0].removeprefix("p"))
            self.answered[key] += 1
            row[4] = "yes" if task.labels(np.array([key]))[0] else "no"
        with sheet.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)


def collect(project: Path, environment: dict[str, str], person: Person, kill_after: float | None = None) -> bool:
    """Run a collection and answer what it asks, to its end or to a moment; return whether it was killed before its end."""
    while True:
        started = time.perf_counter()
        code = run(["flows.collect"], project, environment, kill_after, codes=(0, _WAITS))
        if code in (None, 0):
            return code is None
        person.answer()
        if kill_after is not None:
            kill_after = max(kill_after - (time.perf_counter() - started), 0.01)


def lost_or_twice(space: Path, person: Person, methods: list[str], oracle: str) -> str:
    """Return what is wrong with the labels of a finished collection, or nothing."""
    task = load_task(space / "data/pairs")
    for method in methods:
        table = pq.read_table(space / f"data/round-3/{method}-1/collected.parquet")
        keys = keys_of(table, len(task.right)).tolist()
        if len(set(keys)) < len(keys) or len(keys) != sum(BUDGET) or table["label"].to_pylist() != task.labels(np.array(keys)).tolist():
            return f"{method} has {len(keys)} labels of {len(set(keys))} pairs, or a wrong one"
        if oracle == "people" and person.answered != Counter(keys):
            return f"the person answered {person.answered.total()} times about {len(person.answered)} pairs"
    return ""


def ended(space: Path) -> dict[str, str]:
    """Return the digest of every output and of every sheet by name."""
    sheets = {f"review/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in (space / "review").glob("*")}
    return outputs(space) | sheets


def reset(project: Path, space: Path) -> None:
    for name in ("data", "reports", "review", ".cartograph"):
        shutil.rmtree(space / name, ignore_errors=True)
    for name in ("mlartifacts", ".dvc/cache", "prefect"):
        shutil.rmtree(project / name, ignore_errors=True)
    for path in (space / "dvc.lock", project / "mlflow.db"):
        path.unlink(missing_ok=True)


def trial(oracle: str, collections: int, kills: int, rng: random.Random) -> bool:
    """Kill and rerun collections with one oracle; return whether all ended as the unbroken one."""
    methods = ORACLES[oracle].split(", ")
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        space = project / "workspaces/paraphrases"
        environment = copy_project(project, AUDIT) | {"PREFECT_HOME": str(project / "prefect")}
        space.mkdir(parents=True)
        (space / "params.yaml").write_text(PARAMS % (ORACLES[oracle], oracle), encoding="utf-8")
        started = time.perf_counter()
        collect(project, environment, Person(space))
        whole, expected = time.perf_counter() - started, ended(space)
        print(
            f"{oracle}: unbroken collection {whole:.1f} s, {len(expected)} outputs, {sum(BUDGET)} labels of each of {len(methods)} methods"
        )
        same = killed = 0
        for number in range(1, collections + 1):
            reset(project, space)
            person, moments = Person(space), []
            for _ in range(kills):
                after = rng.uniform(0, whole)
                if not collect(project, environment, person, after):
                    break
                moments.append(f"{after:.1f} s")
                killed += 1
            had = sum(1 for _ in space.glob("data/**/*.receipt.json"))
            collect(project, environment, person)
            found = ended(space)
            differing = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
            wrong = lost_or_twice(space, person, methods, oracle)
            verdict = f"DIFFERS: {', '.join(differing)}" if differing else "same bytes"
            same += not differing and not wrong
            what = f"killed after {', '.join(moments) or 'its end'}, {had} steps whole by then"
            print(f"{number:3d}  {what}: {verdict}; {wrong or 'labels whole'}", flush=True)
        print(f"{same} of {collections} ended in the same bytes with every label asked for once, {killed} kills\n", flush=True)
        return same == collections


def main() -> None:
    collections, kills, seed = (int(given) for given in (*sys.argv[1:4], *("6", "2", "7")[len(sys.argv) - 1 :]))
    os.environ.pop("PREFECT_API_URL", None)
    rng = random.Random(seed)
    done = [trial(oracle, collections, kills, rng) for oracle in ORACLES]
    if not all(done):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

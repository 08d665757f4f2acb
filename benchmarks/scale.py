"""What each step of an audit costs as the data grow: pairs like SNLI's, of 6,000 rows and of many more.

`python benchmarks/scale.py [--rows 6000 50000] [--steps ingest train ...] [--classes 3] [--setting train.batch_size=256 ...]` writes sets
of made-up pairs, audits them step by step with one thread, and prints of each step its seconds, CPU seconds and peak memory,
and from the second size on the exponent with which CPU seconds grew: 1 is in proportion to the rows. Each step starts a process of its own;
what an empty one costs is the line `start`, and is subtracted before exponents are taken. Of the trainings of `retrain` two are run.
`--keep FOLDER` copies the pages there. `--whole 1 auto` measures no steps but whole audits with their defaults by `python -m flows.audit`,
with one worker and with as many as pay: all trainings of `retrain`, with the threads that an audit takes; Prefect and DVC are included.

The pairs are of three labels: a hypothesis takes words of its premise (entailment), adds others (neutral), or has a word's opposite
(contradiction); words are as frequent as Zipf says, lengths are SNLI's, three labels of a hundred are wrong. With `--classes` they are
single texts of so many labels, each of which has words of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from project_copy import copy_project

RETRAIN = {"subsets": ["original", "cleaned"], "seeds": [1]}
LABELS = ("entailment", "neutral", "contradiction")
WORDS, WRONG, EVALUATION = 12_000, 0.03, 2_000
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Cost(NamedTuple):
    """Of a process: seconds, CPU seconds, peak memory in bytes."""

    seconds: float
    cpu: float
    memory: float


def vocabulary(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return distinct made-up words."""
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    found: dict[str, None] = {}
    while len(found) < size:
        found["".join(rng.choice(syllables, rng.integers(2, 5)))] = None
    return np.array(list(found))


def frequent(rng: np.random.Generator, size: int, most: int) -> np.ndarray:
    """Return words by their rank, as frequent as Zipf says."""
    return np.minimum((np.exp(rng.random(size) * np.log(most)) - 1).astype(int), most - 1)


def pairs(rows: int, seed: int, words: np.ndarray) -> list[dict[str, str]]:
    """Return pairs of sentences with their label."""
    rng = np.random.default_rng([seed, rows])
    half = len(words) // 2
    found = []
    for label in rng.integers(0, 3, rows).tolist():
        premise = frequent(rng, int(np.clip(rng.normal(14, 6), 4, 60)), half)
        hypothesis = rng.permutation(premise)[: int(np.clip(rng.normal(7, 3), 2, len(premise)))]
        if label == 1:
            hypothesis = np.concatenate([hypothesis[:-1], frequent(rng, 2, half)])
        if label == 2:
            # The opposite of a word is the one half a vocabulary away.
            hypothesis[0] = hypothesis[0] + half
        given = int((label + rng.integers(1, 3)) % 3) if rng.random() < WRONG else label
        found.append({"premise": " ".join(words[premise]), "hypothesis": " ".join(words[hypothesis]), "label": LABELS[given]})
    return found


def texts(rows: int, seed: int, words: np.ndarray, classes: int) -> list[dict[str, str]]:
    """Return single sentences of many labels, each of which has four words that come with it more often."""
    rng = np.random.default_rng([seed, rows, classes])
    own = np.random.default_rng([13, classes]).integers(0, len(words), (classes, 4))
    found = []
    for label in rng.integers(0, classes, rows).tolist():
        text = np.concatenate([frequent(rng, int(rng.integers(5, 15)), len(words)), rng.choice(own[label], 3)])
        given = int(rng.integers(0, classes)) if rng.random() < WRONG else label
        found.append({"text": " ".join(words[rng.permutation(text)]), "label": f"class {given}"})
    return found


def write_sets(folder: Path, rows: int, classes: int) -> None:
    """Write train and validation set."""
    words = vocabulary(np.random.default_rng(7), WORDS)
    for name, number, seed in (("train", rows, 1), ("validation", EVALUATION, 2)):
        made = pairs(number, seed, words) if classes == len(LABELS) else texts(number, seed, words, classes)
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in made)


def parameters(classes: int, settings: list[str], retrain: dict[str, object]) -> str:
    """Return params.yaml for the sets, with these settings of ``retrain`` and others such as ``train.batch_size=256``."""
    files = {"train": "train.jsonl", "evaluation": {"validation": {"files": "validation.jsonl", "domain": "id"}}}
    columns = {"text": ["premise", "hypothesis"] if classes == len(LABELS) else ["text"], "label": "label"}
    content: dict[str, dict[str, object]] = {
        "ingest": {"source": "files", **files, **columns},
        "retrain": dict(retrain),
        "publish": {"enabled": False},
    }
    for setting in settings:
        name, _, value = setting.partition("=")
        section, _, key = name.partition(".")
        content.setdefault(section, {})[key] = yaml.safe_load(value)
    return yaml.safe_dump(content)


def cost_of(command: list[str], project: Path, environment: dict[str, str]) -> Cost:
    """Run a command; return what it and its own processes cost."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    said = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed:\n{said}")
    return Cost(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def costs(rows: int, arguments: argparse.Namespace) -> dict[str, Cost]:
    """Return what each step costs at a number of rows, and print it; steps before the last that was asked for are run too."""
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        environment = copy_project(project, "ingest: {rows: 240}\n") | dict.fromkeys(THREADS, "1")
        write_sets(project, rows, arguments.classes)
        (project / "params.yaml").write_text(parameters(arguments.classes, arguments.setting, RETRAIN))
        tasks = [sys.executable, "-m", "tasks"]
        subprocess.run([*tasks, "dvc-yaml"], cwd=project, env=environment, check=True, capture_output=True)
        listed = subprocess.run([*tasks, "list"], cwd=project, env=environment, check=True, capture_output=True, text=True)
        steps = [line.split()[0] for line in listed.stdout.splitlines()]
        asked = set(arguments.steps or steps)
        found = {"start": cost_of([*tasks, "list"], project, environment)}
        tell("start", rows, found["start"])
        while asked - set(found):
            step = steps.pop(0)
            if step in arguments.without:
                continue
            cost = cost_of([*tasks, "run", step], project, environment)
            if step in asked:
                found[step] = cost
                tell(step, rows, cost)
        if arguments.keep is not None:
            shutil.copytree(project / "reports", arguments.keep / f"{rows}")
    return found


def audits(rows: int, arguments: argparse.Namespace) -> None:
    """Print what whole audits cost, with each number of workers that was asked for."""
    for workers in arguments.whole:
        with tempfile.TemporaryDirectory() as name:
            project = Path(name)
            environment = copy_project(project, "ingest: {rows: 240}\n") | {"PREFECT_HOME": str(project / "home")}
            write_sets(project, rows, arguments.classes)
            (project / "params.yaml").write_text(parameters(arguments.classes, arguments.setting, {}))
            command = [sys.executable, "-m", "flows.audit", "--workers", workers]
            tell(f"audit, {workers}", rows, cost_of(command, project, environment))
            if arguments.keep is not None:
                shutil.copytree(project / "reports", arguments.keep / f"{rows}-{workers}")


def tell(step: str, rows: int, cost: Cost) -> None:
    """Print a line of the table."""
    per_row = f"{cost.cpu / rows * 1e6:>10,.0f}{cost.memory / 1e6:>9,.0f}{cost.memory / rows / 1e3:>8.1f}"
    print(f"{step:<20}{rows:>9,}{cost.seconds:>9.1f}{cost.cpu:>9.1f}{per_row}", flush=True)


def tell_growth(before: dict[str, Cost], now: dict[str, Cost], factor: float) -> None:
    """Print with which power of the rows each step's CPU seconds grew."""
    for step in now:
        work = [max(costs[step].cpu - costs["start"].cpu, 0.01) for costs in (before, now)]
        if step != "start":
            print(f"{step:<20} rows x {factor:.1f}, CPU s x {work[1] / work[0]:.1f}: exponent {log(work[1] / work[0]) / log(factor):.2f}")


def main() -> None:
    """Measure the steps at each size, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[6_000, 50_000])
    parser.add_argument("--steps", nargs="+", default=[], help="all where left out; those before the last of them are run too")
    parser.add_argument("--without", nargs="+", default=[], help="steps not run, since those asked for do not read them")
    parser.add_argument("--classes", type=int, default=len(LABELS))
    parser.add_argument("--setting", nargs="+", default=[])
    parser.add_argument("--keep", type=Path, help="a new folder")
    parser.add_argument("--whole", nargs="+", default=[], help="numbers of workers, or auto")
    arguments = parser.parse_args()
    threads = f"{len(os.sched_getaffinity(0))} cores" if arguments.whole else "one thread"
    print(f"{platform.machine()}, Python {platform.python_version()}, torch {version('torch')}, numpy {version('numpy')}, {threads}")
    print(f"{'step':<20}{'rows':>9}{'s':>9}{'CPU s':>9}{'µs/row':>10}{'MB':>9}{'KB/row':>8}")
    sizes = sorted(arguments.rows)
    if arguments.whole:
        for rows in sizes:
            audits(rows, arguments)
        return
    found = [costs(rows, arguments) for rows in sizes]
    for place in range(1, len(sizes)):
        tell_growth(found[place - 1], found[place], sizes[place] / sizes[place - 1])


if __name__ == "__main__":
    main()

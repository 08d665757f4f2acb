"""What an audit keeps on disk: 500 sentences of Subj by default, in a project of its own, audited twice.

`python benchmarks/disk.py [--files 12] [--output FILE]`, on data from CARTOGRAPH_DATA or ../shared/data, runs `python -m flows.audit` on a
sample drawn with a seed, then again with another seed of the training, so that few files are the same. It prints by how much DVC's cache,
MLflow's artifacts and its database grew each time, in bytes of files, and the largest files of the second audit. The database of the first
also has MLflow's tables and indices, which are there before any run.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from project_copy import ROOT, copy_project
from real_data import DATA

ROWS, SEED = 500, 1
WORKSPACE = "workspaces/subj"
PLACES = {"DVC's cache": ".dvc/cache/files", "MLflow's artifacts": "mlartifacts", "MLflow's database": "mlflow.db"}


def write_rows(file: Path) -> None:
    """Write a sample of Subj's sentences with their labels."""
    lines = [line for line in (DATA / "subj" / "subj.all").read_text(encoding="latin-1").split("\n") if line]
    with file.open("w", encoding="utf-8", newline="") as stream:
        rows = [line.split(" ", 1)[::-1] for line in random.Random(SEED).sample(lines, ROWS)]
        csv.writer(stream).writerows([("text", "label"), *rows])


def files_of(project: Path) -> dict[str, dict[str, int]]:
    """Return the bytes of each file by its path, by place."""
    found = {}
    for place, name in PLACES.items():
        path = project / name
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        found[place] = {file.relative_to(project).as_posix(): file.stat().st_size for file in files}
    return found


def names_in_cache(project: Path) -> dict[str, str]:
    """Return what each file of DVC's cache is in the workspace."""
    lock = yaml.safe_load((project / WORKSPACE / "dvc.lock").read_text(encoding="utf-8"))
    names: dict[str, str] = {}

    def note(md5: str, name: str) -> None:
        names.setdefault(f".dvc/cache/files/md5/{md5[:2]}/{md5[2:]}", name.removeprefix(f"{WORKSPACE}/"))

    for out in (out for stage in lock["stages"].values() for out in stage.get("outs", [])):
        note(out["md5"], out["path"])
        if out["md5"].endswith(".dir"):
            folder: list[dict[str, Any]] = json.loads((project / f".dvc/cache/files/md5/{out['md5'][:2]}/{out['md5'][2:]}").read_text())
            for entry in folder:
                note(entry["md5"], f"{out['path']}/{entry['relpath']}")
    return names


def grown(before: dict[str, dict[str, int]], after: dict[str, dict[str, int]]) -> dict[str, int]:
    """Return by how many bytes each place grew."""
    return {place: sum(files.values()) - sum(before[place].values()) for place, files in after.items()}


def line(name: str, numbers: dict[str, int]) -> str:
    """Return a line of the table: each place's MB, and their sum."""
    return f"{name:<18}" + "".join(f"{bytes_ / 1e6:>20.2f}" for bytes_ in (*numbers.values(), sum(numbers.values())))


def main() -> None:
    """Audit twice, and print what was kept."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--files", type=int, default=12)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        project = Path(temporary) / "project"
        project.mkdir()
        environment = copy_project(project, (ROOT / "params.yaml").read_text(encoding="utf-8"))
        write_rows(project / "subj.csv")
        states = [files_of(project)]
        for options in (["--data", "subj.csv"], ["--workspace", WORKSPACE]):
            subprocess.run([sys.executable, "-m", "flows.audit", *options], cwd=project, env=environment, check=True, capture_output=True)
            states.append(files_of(project))
            params = project / WORKSPACE / "params.yaml"
            content = yaml.safe_load(params.read_text(encoding="utf-8"))
            content["train"]["seed"] += 1
            params.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        lines = [f"{'MB kept':<18}" + "".join(f"{place:>20}" for place in (*PLACES, "together"))]
        lines += [line(name, grown(*pair)) for name, pair in (("the first audit", states[:2]), ("the second", states[1:]))]
        names = names_in_cache(project)
        for place in list(PLACES)[:2]:
            new = {name: size for name, size in states[2][place].items() if name not in states[1][place]}
            lines += ["", f"{place}, second audit: {len(new)} files, of which the largest, in bytes"]
            largest = sorted(new.items(), key=lambda entry: (-entry[1], entry[0]))[: given.files]
            lines += [f"{size:>10,}  {names.get(name, name.partition('/artifacts/')[2] or name)}" for name, size in largest]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if given.output:
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

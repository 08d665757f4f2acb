"""A dataset that grows and gets worse: TREC audited, then audited again with 200 more rows and 40 corrupted labels.

`python benchmarks/grown.py [--data shared/data] [--seeds 3]` audits the first 5,252 rows of TREC's train set in a project of its own, then
twice what came of it: with the other 200 rows as they are (the control), and with those rows and 40 labels replaced by another class,
drawn from all rows. It prints which gates went off, how many suspects are new, and how many of the corrupted rows are among them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from project_copy import copy_project
from real_data import DATA

ADDED, CORRUPTED = 200, 40


def rows_of(path: Path) -> list[tuple[str, str]]:
    """Return (coarse class, question) of each line, each question once."""
    lines = [line.split(" ", 1) for line in path.read_text(encoding="latin-1").splitlines()]
    return list({text: (label.split(":")[0], text) for label, text in lines}.values())


def write(path: Path, rows: list[tuple[str, str]]) -> None:
    """Write rows as JSONL."""
    path.write_text("".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in rows), encoding="utf-8")


def corrupt(rows: list[tuple[str, str]], rng: np.random.Generator) -> tuple[list[tuple[str, str]], set[str]]:
    """Return the rows with some labels replaced, and the questions that have them."""
    classes = sorted({label for label, _ in rows})
    changed, wrong = list(rows), set()
    for index in rng.choice(len(rows), CORRUPTED, replace=False):
        label, text = rows[index]
        changed[index] = (str(rng.choice([name for name in classes if name != label])), text)
        wrong.add(text)
    return changed, wrong


def audit(project: Path, environment: dict[str, str], workspace: str) -> int:
    """Audit a workspace; return the exit code."""
    command = [sys.executable, "-m", "flows.audit", "--workspace", workspace]
    return subprocess.run(command, cwd=project, env=environment, stdout=subprocess.DEVNULL, check=False).returncode


def finding(project: Path, workspace: str, wrong: set[str]) -> None:
    """Print what the second audit of a workspace found."""
    folder = project / workspace / "data"
    numbers = json.loads((folder / "compare/comparison.json").read_text())["numbers"]
    names = ("rows.added", "rows.removed", "rows.relabelled", "suspects.new", "suspects.gone", "suspects.still", "map.distance", "map.p")
    print("  " + "  ".join(f"{name} {numbers[name]:.4g}" for name in names))
    texts = {row["uid"]: row["text"] for row in pq.read_table(folder / "ingest/train.parquet", columns=["uid", "text"]).to_pylist()}
    new = {row["uid"] for row in pq.read_table(folder / "compare/rows.parquet").to_pylist() if row["what"] == "new suspect"}
    found = sum(texts[uid] in wrong for uid in new)
    if wrong:
        print(f"  corrupted rows among the new suspects: {found} of {len(wrong)}")
    for gate in json.loads((folder / "gates/gates.json").read_text())["gates"]:
        if gate["outcome"] in ("warned", "failed"):
            print(f"  {gate['outcome']}: {gate['sentence'][:240]}")


def main() -> None:
    """Run the audits of each seed and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    rows = rows_of(arguments.data / "trec" / "TREC.train")
    test = rows_of(arguments.data / "trec" / "TREC.test")
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        environment = copy_project(project, "ingest: {rows: 240}\n") | {"PREFECT_HOME": str(project / ".prefect")}
        write(project / "test.jsonl", test)
        for seed in range(arguments.seeds):
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(rows))
            first = [rows[index] for index in order[:-ADDED]]
            whole = [rows[index] for index in order]
            print(f"seed {seed}: {len(first):,} rows, then {len(whole):,}")
            start(project, environment, seed, first)
            for kind in ("control", "corrupted"):
                workspace = f"workspaces/{kind}{seed}"
                if kind == "corrupted":
                    relocate(project, f"workspaces/control{seed}-first", workspace)
                changed, wrong = corrupt(whole, rng) if kind == "corrupted" else (whole, set())
                write(project / f"{kind}{seed}.jsonl", changed)
                code = audit(project, environment, workspace)
                print(f" {kind}: the audit ended with {code}")
                finding(project, workspace, wrong)


def start(project: Path, environment: dict[str, str], seed: int, rows: list[tuple[str, str]]) -> None:
    """Make and audit the first version, and keep a copy of it for the second branch."""
    workspace = f"workspaces/control{seed}"
    write(project / f"control{seed}.jsonl", rows)
    files = ["--train", f"control{seed}.jsonl", "--eval", "test=test.jsonl"]
    command = [sys.executable, "-m", "tasks", "init", workspace, *files, "--text", "text", "--label", "label"]
    subprocess.run(command, cwd=project, env=environment, check=True, stdout=subprocess.DEVNULL)
    params = project / workspace / "params.yaml"
    text = params.read_text().replace("subsets: [original, cleaned, random]", "subsets: []")
    params.write_text(text)
    print(f" first audit ended with {audit(project, environment, workspace)}")
    shutil.copytree(project / workspace, project / f"{workspace}-first")


def relocate(project: Path, source: str, target: str) -> None:
    """Make a workspace from a copy of another, which reads a file of its own."""
    shutil.copytree(project / source, project / target)
    params = project / target / "params.yaml"
    params.write_text(params.read_text().replace("control", "corrupted"))
    for name in ("dvc.yaml", "dvc.lock"):
        (project / target / name).unlink(missing_ok=True)


if __name__ == "__main__":
    main()

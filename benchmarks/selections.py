"""What which rows are worth: the selection tables of the paper's Table 2 and 3 on real data, and where planted errors end up.

`python benchmarks/selections.py snli [--model bow|probe --encoder FOLDER]` makes a workspace of SNLI (dev and the original rows of the
counterfactual revisions as train set, test in distribution, NLI diagnostics with their four categories out of distribution), and trains on
every selection at 33 %, five seeds each as in the paper (`--seeds`); AFLite sees a bag of words, or the encoder's vectors where there is
one. `… trec` does so with TREC, 10 % of whose train labels are flipped at random first, and prints how many of the flips each selection
holds. Data is read from CARTOGRAPH_DATA or ../shared/data; `--output FILE` writes what is printed there too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import yaml
from project_copy import copy_project
from real_data import DATA

STRATEGIES = [
    "random",
    "high-correctness",
    "high-confidence",
    "low-variability",
    "forgetting",
    "AL-uncertainty",
    "AL-greedyK",
    "aflite",
    "low-correctness",
    "hard-to-learn",
    "ambiguous",
    "mix-0.1",
    "compose",
]
_RUN = """\
import sys
from tasks.pipelines import steps_of
from tasks.engine.running import run_step
from tasks.pipelines import open_workspace
space = open_workspace("workspaces/this")
with space.lock("benchmark"):
    for step in steps_of(space.settings):
        done = run_step(step, space)
        print(f"{step.name:<30} {done.receipt.summary}  {done.seconds:.1f} s", file=sys.stderr, flush=True)
"""


def snli(folder: Path) -> list[str]:
    """Return the command line that makes the SNLI workspace."""

    def lines(part: str) -> str:
        fields = {"label": "labels", "premise": "s1", "hypothesis": "s2"}
        return ",".join(f"{name}={DATA / 'snli' / f'{file}.{part}'}" for name, file in fields.items())

    train = ["--train", lines("dev"), "--train", str(DATA / "snli/counterfactual/original/train.tsv")]
    evaluation = ["--eval", f"test={lines('test')}", "--eval", f"diagnostics={DATA / 'nli_diagnostics/diagnostic-full.tsv'}:ood"]
    return ["--preset", "snli", *train, *evaluation]


def trec(folder: Path) -> list[str]:
    """Write TREC with 10 % of the train labels flipped; return the command line that makes its workspace."""
    rng = np.random.default_rng(13)
    for part in ("train", "test"):
        rows = [line.split(" ", 1) for line in (DATA / f"trec/TREC.{part}").read_text(encoding="latin-1").split("\n") if line.strip()]
        labels = [row[0].split(":")[0] for row in rows]
        classes = sorted(set(labels))
        flipped = set(rng.choice(len(rows), round(0.1 * len(rows)), replace=False).tolist()) if part == "train" else set()
        with (folder / f"{part}.jsonl").open("w", encoding="utf-8") as file:
            for place, (label, (_, text)) in enumerate(zip(labels, rows, strict=True)):
                others = [name for name in classes if name != label]
                given = others[rng.integers(len(others))] if place in flipped else label
                row = {"uid": f"{part}-{place}{'-flipped' * (place in flipped)}", "text": text, "label": given}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return ["--train", str(folder / "train.jsonl"), "--eval", f"test={folder / 'test.jsonl'}", "--uid", "uid"]


def flips(space: Path) -> list[str]:
    """Return, per selection, how many of the flipped rows it holds."""
    import pyarrow.parquet as pq

    total = sum(uid.endswith("-flipped") for uid in pq.read_table(space / "data/ingest/train.parquet")["uid"].to_pylist())
    said = [f"Of the {total} flipped rows a selection holds:"]
    for name in STRATEGIES:
        uids = pq.read_table(space / f"data/select/{name}-0.33.parquet")["uid"].to_pylist()
        found = sum(uid.endswith("-flipped") for uid in uids)
        said.append(f"  {name:<18} {found:>4} of {total} ({found / total:6.1%}); {found / len(uids):6.1%} of its {len(uids):,} rows")
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=("snli", "trec"))
    parser.add_argument("--model", default="bow")
    parser.add_argument("--encoder", default="")
    parser.add_argument("--seeds", default="1,2,3,4,5")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        project, files = Path(name) / "project", Path(name) / "files"
        project.mkdir()
        files.mkdir()
        environment = copy_project(project, "ingest: {source: planted-nli}\n")
        made = {"snli": snli, "trec": trec}[arguments.data](files)
        model = ["--model", arguments.model, *(["--pretrained", str(Path(arguments.encoder).resolve())] if arguments.encoder else [])]
        command = [sys.executable, "-m", "tasks", "init", "workspaces/this", *made, *model]
        subprocess.run(command, cwd=project, env=environment, check=True, stdout=sys.stderr)
        space = project / "workspaces/this"
        params = yaml.safe_load((space / "params.yaml").read_text(encoding="utf-8"))
        params["measure"]["burn_in"] = 1
        params["select"]["strategies"] = STRATEGIES
        params["retrain"] |= {"subsets": ["original"], "selections": True, "seeds": [int(seed) for seed in arguments.seeds.split(",")]}
        params["aflite"]["enabled"] = True
        params["features"]["source"] = "frozen" if arguments.encoder else "bow"
        params["publish"]["enabled"] = False
        (space / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "tasks", "dvc-yaml"], cwd=project, env=environment, check=True, stdout=sys.stderr)
        subprocess.run([sys.executable, "-c", _RUN], cwd=project, env=environment, check=True)
        said = [f"{arguments.data}, model {arguments.model}, {', '.join(map(str, params['retrain']['seeds']))} as seeds", ""]
        said += [*flips(space), ""] if arguments.data == "trec" else []
        said.append((space / "data/evaluate/selections.md").read_text(encoding="utf-8"))
        text = "\n".join(said)
    print(text)
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""What a data map rests on, on real data: every experiment of `python -m flows.ablate`.

`python benchmarks/experiments.py trec|snli [--model bow|probe --encoder FOLDER] [--seeds 5] [--output FILE]` makes a workspace of TREC, or
of SNLI as benchmarks/selections.py does, with the five annotators' labels where a row has them; it trains the map's model and runs the
experiments as steps. The second model of `models` is the encoder's probe beside a bag of words, and an LSTM beside a probe. What is found
is printed, tables of more than forty rows cut; with `--output` it is written there too, and each figure beside it as a PNG.
Data is read from CARTOGRAPH_DATA or ../shared/data.
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

import yaml
from agreement import DATA, key, people, rows
from project_copy import copy_project
from selections import snli

BESIDE = ["burn-out", "seeds", "steps", "dropout", "models", "order", "fractions"]
_RUN = """\
import sys
from tasks.pipelines import steps_of
from tasks.engine.running import run_step
from tasks.pipelines import open_workspace
space = open_workspace("workspaces/this")
with space.lock("benchmark"):
    for step in steps_of(space.settings):
        if step.section in ("ingest", "embed", "train", "measure", "ablate"):
            done = run_step(step, space)
            print(f"{step.name:<20} {done.receipt.summary}  {done.seconds:.1f} s", file=sys.stderr, flush=True)
"""


def command(data: str, folder: Path) -> list[str]:
    """Return the command line that makes the workspace."""
    if data == "trec":
        files = ["--train", str(DATA / "trec/TREC.train"), "--eval", f"test={DATA / 'trec/TREC.test'}"]
        return [*files, "--format", "label-first", "--encoding", "latin-1", "--label-separator", ":"]
    given = people("annotators")
    file = folder / "train.jsonl"
    lines = [row | {"annotators": given.get(key(str(row["premise"]), str(row["hypothesis"])))} for row in rows()]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    evaluation = snli(folder)
    return ["--preset", "snli", "--train", str(file), *evaluation[evaluation.index("--eval") :], "--annotators", "annotators"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=("snli", "trec"))
    parser.add_argument("--model", default="bow")
    parser.add_argument("--encoder", default="")
    parser.add_argument("--only", action="append", default=[], help="an experiment; may be repeated; all where left out")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    encoder = str(Path(arguments.encoder).resolve()) if arguments.encoder else ""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        project, files = Path(name) / "project", Path(name) / "files"
        project.mkdir()
        files.mkdir()
        environment = copy_project(project, "ingest: {source: planted-nli}\n")
        model = ["--model", arguments.model, *(["--pretrained", encoder] if arguments.model == "probe" else [])]
        made = [sys.executable, "-m", "tasks", "init", "workspaces/this", *command(arguments.data, files), *model]
        subprocess.run(made, cwd=project, env=environment, check=True, stdout=sys.stderr)
        space = project / "workspaces/this"
        params = yaml.safe_load((space / "params.yaml").read_text(encoding="utf-8"))
        params["measure"]["burn_in"] = 1
        known = [*BESIDE, *(["agreement"] if arguments.data == "snli" else [])]
        params["ablate"] |= {"experiments": arguments.only or known, "seeds": arguments.seeds, "map_seeds": arguments.seeds}
        beside = ("probe", encoder) if encoder and arguments.model != "probe" else ("lstm", None)
        params["ablate"] |= dict(zip(("other_model", "other_pretrained"), beside, strict=True))
        (space / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
        subprocess.run([sys.executable, "-c", _RUN], cwd=project, env=environment, check=True)
        pages = [f"{arguments.data}, model {arguments.model}\n"]
        for experiment in params["ablate"]["experiments"]:
            folder = space / "data/ablate" / experiment
            pages.append((folder / "finding.md").read_text(encoding="utf-8"))
            if arguments.output:
                figure = arguments.output.with_name(f"{arguments.output.stem}-{experiment}.png")
                figure.write_bytes((folder / f"{experiment}.png").read_bytes())
        text = "\n".join(pages)
    print(text)
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

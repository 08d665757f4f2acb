"""Do people agree where a model is confident? The correlation of human agreement with the coordinates of a data map.

`python benchmarks/agreement.py [--model bow|probe --encoder FOLDER] [--output FILE]` makes a map of SNLI's development set (9,842 rows) and
the 1,666 original rows of the counterfactual set, and runs the experiment `agreement` on the rows that carry several people's
labels: the 1,514 of ChaosNLI with a hundred each, and those of SNLI's own five annotators. Data is read from CARTOGRAPH_DATA or
../shared/data. Rows are matched by their letters and digits, since SNLI's copy is tokenised.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import yaml
from project_copy import copy_project
from real_data import DATA

CLASSES = ("entailment", "neutral", "contradiction")
_RUN = """\
import sys
from tasks.pipelines import steps_of
from tasks.engine.running import run_step
from tasks.pipelines import open_workspace
space = open_workspace(sys.argv[1])
with space.lock("benchmark"):
    for step in steps_of(space.settings):
        if step.section in ("ingest", "embed", "train", "measure", "ablate"):
            done = run_step(step, space)
            print(f"{step.name:<20} {done.receipt.summary}  {done.seconds:.1f} s", file=sys.stderr, flush=True)
"""


def key(premise: str, hypothesis: str) -> tuple[str, str]:
    """Return a pair as its letters and digits."""
    return re.sub(r"\W", "", premise).lower(), re.sub(r"\W", "", hypothesis).lower()


def rows() -> list[dict[str, object]]:
    """Return the train set."""
    columns = [(DATA / f"snli/{name}.dev").read_text(encoding="utf-8").splitlines() for name in ("s1", "s2", "labels")]
    found = [dict(zip(("premise", "hypothesis", "label"), row, strict=True)) for row in zip(*columns, strict=True)]
    with (DATA / "snli/counterfactual/original/train.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found.append({"premise": row["sentence1"], "hypothesis": row["sentence2"], "label": row["gold_label"]})
    return found


def people(source: str) -> dict[tuple[str, str], list[str]]:
    """Return the labels that people gave, by pair."""
    given = {}
    if source == "chaosnli":
        for line in (DATA / "chaosnli/chaosNLI_snli.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            labels = [label for label, count in zip(CLASSES, row["label_count"], strict=True) for _ in range(count)]
            given[key(row["example"]["premise"], row["example"]["hypothesis"])] = labels
    else:
        for line in (DATA / "snli/annotators/snli_dev_annotators.derived.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            given[key(row["sentence1"], row["sentence2"])] = row["annotator_labels"]
    return given


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="bow")
    parser.add_argument("--encoder", default="")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    pages = []
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        environment = copy_project(project, "ingest: {source: planted-nli}\n")
        for source in ("chaosnli", "annotators"):
            given = people(source)
            file = project / f"{source}.jsonl"
            lines = [row | {"annotators": given.get(key(str(row["premise"]), str(row["hypothesis"])))} for row in rows()]
            file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            made = ["--train", str(file), "--text", "premise", "--text-pair", "hypothesis", "--annotators", "annotators"]
            model = ["--model", arguments.model, *(["--pretrained", str(Path(arguments.encoder).resolve())] if arguments.encoder else [])]
            space = f"workspaces/{source}"
            subprocess.run(
                [sys.executable, "-m", "tasks", "init", space, *made, *model], cwd=project, env=environment, check=True, stdout=sys.stderr
            )
            path = project / space / "params.yaml"
            params = yaml.safe_load(path.read_text(encoding="utf-8"))
            params["measure"]["burn_in"] = 1
            params["ablate"]["experiments"] = ["agreement"]
            path.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
            subprocess.run([sys.executable, "-c", _RUN, space], cwd=project, env=environment, check=True)
            page = (project / space / "data/ablate/agreement/finding.md").read_text(encoding="utf-8")
            pages.append(f"{source}, model {arguments.model}\n\n{page}")
            if arguments.output:
                figure = (project / space / "data/ablate/agreement/agreement.png").read_bytes()
                arguments.output.with_name(f"{arguments.output.stem}-{source}.png").write_bytes(figure)
    text = "\n".join(pages)
    print(text)
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

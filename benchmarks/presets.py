"""Whole audits of the presets on real data, from the files to the report: what `init` understood, what steps found, what cleaning is worth.

`python benchmarks/presets.py winogrande|winogrande-map|qnli|multinli [--model bow|probe --encoder FOLDER] [--output FILE]`, on data from
CARTOGRAPH_DATA or ../shared/data:

- winogrande: the XL train set; its development set in distribution, SuperGLUE's Winograd schemas as cloze rows out of distribution;
- winogrande-map: the same with the published map of RoBERTa-large in place of a training, and every selection at 33 % that coordinates
  are enough for;
- qnli: 4,463 rows of QNLI's development set as train set, the other 1,000 in distribution, Adversarial SQuAD as pairs out of distribution;
- multinli: 1,199 of ChaosNLI's rows from MultiNLI, written in MultiNLI's own format, as train set, the other 400 in distribution, the NLI
  diagnostics out of distribution. It shows that the format is read; so few rows teach a model next to nothing, which the audit says, and it
  changes none.

The train sets of QNLI and MultiNLI themselves are not in that folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import yaml
from project_copy import copy_project
from real_data import DATA

CLASSES = {"e": "entailment", "n": "neutral", "c": "contradiction"}


COORDINATES = [
    "random",
    "high-confidence",
    "hard-to-learn",
    "ambiguous",
    "low-variability",
    "high-correctness",
    "low-correctness",
    "mix-0.1",
]
PUBLISHED = {
    "train": {"dynamics": str(DATA / "winogrande/roberta_large_coordinates.jsonl"), "dynamics_epochs": 6},
    "select": {"strategies": COORDINATES},
    "retrain": {"subsets": []},
    "aflite": {"enabled": False},
}


def winogrande(folder: Path) -> list[str]:
    """Return the files of the workspace."""
    schemas = [part for name in ("train", "val") for part in ("--eval", f"wsc={DATA / f'wsc/{name}.jsonl'}:ood")]
    return ["--train", str(DATA / "winogrande/train_xl.jsonl"), "--eval", f"dev={DATA / 'winogrande/dev.jsonl'}", *schemas]


def qnli(folder: Path) -> list[str]:
    """Cut QNLI's development set in two; return the files of the workspace."""
    head, *rows = (DATA / "qnli/dev.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    for name, part in (("train", rows[:-1000]), ("held", rows[-1000:])):
        (folder / f"{name}.tsv").write_text("".join([head, *part]), encoding="utf-8")
    adversarial = DATA / "adversarial_squad/adversarial_dataset.json"
    return ["--train", str(folder / "train.tsv"), "--eval", f"held={folder / 'held.tsv'}", "--eval", f"adversarial={adversarial}:ood"]


def multinli(folder: Path) -> list[str]:
    """Write ChaosNLI's rows as MultiNLI has them; return the files of the workspace."""
    rows = []
    for line in (DATA / "chaosnli/chaosNLI_mnli_m.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        pair = {"sentence1": row["example"]["premise"], "sentence2": row["example"]["hypothesis"]}
        rows.append({"pairID": row["uid"], **pair, "gold_label": CLASSES[row["old_label"]], "annotator_labels": row["old_labels"]})
    for name, part in (("train", rows[:-400]), ("matched", rows[-400:])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
    diagnostics = DATA / "nli_diagnostics/diagnostic-full.tsv"
    return [
        "--train",
        str(folder / "train.jsonl"),
        "--eval",
        f"matched={folder / 'matched.jsonl'}",
        "--eval",
        f"diagnostics={diagnostics}:ood",
    ]


PRESETS = {"winogrande": winogrande, "winogrande-map": winogrande, "qnli": qnli, "multinli": multinli}


def _set(path: Path, sections: Mapping[str, Mapping[str, Any]]) -> None:
    params = yaml.safe_load(path.read_text(encoding="utf-8"))
    for name, values in sections.items():
        params[name] |= values
    path.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")


def _selections(space: Path) -> str:
    """Return rows and ties of every selection."""
    metrics = json.loads((space / "reports/select.metrics.json").read_text(encoding="utf-8"))
    said = ["Selections at 33 %:"]
    for name in COORDINATES:
        rows, tied = (int(metrics[f"{name}-0.33.{part}"]) for part in ("rows", "tied"))
        said.append(f"  {name:<18} {rows:,} rows, {tied:,} tie at the cut")
    return "\n".join([*said, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset", choices=tuple(PRESETS))
    parser.add_argument("--model", default="bow")
    parser.add_argument("--encoder", default="")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        project, files = Path(name) / "project", Path(name) / "files"
        project.mkdir()
        files.mkdir()
        environment = copy_project(project, "ingest: {source: planted-nli}\n") | {"PREFECT_HOME": str(Path(name) / "home")}
        model = ["--model", arguments.model, *(["--pretrained", str(Path(arguments.encoder).resolve())] if arguments.encoder else [])]
        made = [
            "tasks",
            "init",
            "workspaces/this",
            "--preset",
            arguments.preset.removesuffix("-map"),
            *PRESETS[arguments.preset](files),
            *model,
        ]

        def said(*command: str) -> str:
            done = subprocess.run(
                [sys.executable, "-m", *command], cwd=project, env=environment, check=False, stdout=subprocess.PIPE, text=True
            )
            if done.returncode:
                sys.exit(f"{done.stdout}\n{' '.join(command)} ended with {done.returncode}")
            return done.stdout.replace(str(files), "FILES").replace(str(DATA), "DATA")

        space = project / "workspaces/this"
        published = arguments.preset.endswith("-map")
        model_of = "published map" if published else f"model {arguments.model}"
        parts = [f"{arguments.preset}, {model_of}\n", said(*made)]
        if published:
            _set(space / "params.yaml", PUBLISHED)
        parts.append(said("flows.audit", "--workspace", "workspaces/this"))
        parts.append(_selections(space) if published else (space / "data/evaluate/evaluation.md").read_text(encoding="utf-8"))
        page = space / "reports/report.html"
        text = "\n".join(parts)
        print(text)
        if arguments.output:
            arguments.output.write_text(text, encoding="utf-8")
            arguments.output.with_suffix(".html").write_bytes(page.read_bytes())


if __name__ == "__main__":
    main()

"""WikiQA whole: average precision over all 17 million test pairs, by who chose the labels (Mussmann, Jia & Liang 2020, Tables 3 and 4).

`python benchmarks/wikiqa.py [--model cosine-frozen --pretrained FOLDER] [--first-round 2048] [--seeds 1,2,3] [--learning-rate R]`

Data: WikiQA-{train,dev,test}.tsv, read from CARTOGRAPH_DATA or ../shared/data; four rounds, each asking for half as many labels again as
the one before. Paper (BERT-base, fine-tuned, 16,640 labels): average precision random 1.3, stated 2.2, static retrieval 8.2, adaptive
retrieval 15.1, uncertainty 20.1. Every step is cached in workspaces/_wikiqa-MODEL-LABELS, so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tasks.engine.surroundings import prepare

prepare()

from real_data import DATA  # noqa: E402

from tasks.engine.running import run_step  # noqa: E402
from tasks.engine.workspace import CODE, Workspace  # noqa: E402
from tasks.pipelines import open_workspace, steps_of  # noqa: E402

WIKIQA = DATA / "wikiqa"
METHODS = ("random", "stated", "static-retrieval", "adaptive-retrieval", "uncertainty")
PAPER = {"random": 1.3, "stated": 2.2, "static-retrieval": 8.2, "adaptive-retrieval": 15.1, "uncertainty": 20.1}


def workspace(arguments: argparse.Namespace) -> Workspace:
    """Make the workspace of one comparison."""
    folder = CODE / "workspaces" / f"_wikiqa-{arguments.model}-{arguments.first_round}"
    folder.mkdir(parents=True, exist_ok=True)
    pairs = {split: [str(WIKIQA / f"WikiQA-{split}.tsv")] for split in ("train", "dev", "test")}
    pairs |= {"source": "files", "symmetric": False, "left": "Question", "right": "Sentence", "label": "Label", "prefix": "DocumentTitle"}
    collect = {"methods": list(METHODS), "seeds": arguments.seeds, "first_round": arguments.first_round, "rounds": 4, "epochs": 3}
    collect |= {"learning_rate": arguments.learning_rate, "head_factor": arguments.head_factor}
    content = {"pairs": pairs, "encode": {"model": arguments.model, "pretrained": arguments.pretrained, "neighbours": 100}}
    content |= {"collect": collect, "publish": {"enabled": False}}
    (folder / "params.yaml").write_text(json.dumps(content, indent=1), encoding="utf-8")
    return open_workspace(folder)


def table(space: Workspace) -> None:
    """Print one line per method."""
    task, metrics = (json.loads((space.path / f"reports/{name}.metrics.json").read_text()) for name in ("pairs", "compare"))
    for split in ("train", "test"):
        print(f"{split} {task[f'{split}.pairs']:,} pairs, {task[f'{split}.positives']:,} positive")
    print("method             | labels | positives | AP % (95 %)         | P@R20 %  | clean MAP | labels to static | AP of the paper")
    for method in METHODS:
        ap, low, high = (100 * metrics[f"{method}.average_precision{part}"] for part in ("", ".low", ".high"))
        needed = metrics.get(f"{method}.labels_to_static")
        print(
            f"{method:18} | {metrics[f'{method}.labels']:6,.0f} | {metrics[f'{method}.positive']:9.1f} | "
            f"{ap:5.2f} ({low:5.2f} to {high:5.2f}) | "
            f"{100 * metrics[f'{method}.precision_at_recall_20']:8.2f} | {100 * metrics[f'{method}.stated.clean_map']:9.1f} | "
            f"{needed or '-':>16} | {PAPER[method]:.1f}"
        )


def main() -> None:
    """Run every step, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="cosine-bow")
    parser.add_argument("--pretrained")
    parser.add_argument("--first-round", type=int, default=2048)
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[1, 2, 3])
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--head-factor", type=float)
    arguments = parser.parse_args()
    space = workspace(arguments)
    for step in steps_of(space.settings):
        outcome = run_step(step, space)
        print(f"# {step.name}: {outcome.receipt.summary}", flush=True)
    names = ", ".join(f"{name} {version(name)}" for name in ("faiss-cpu", "numpy", "torch"))
    print(f"\nPython {platform.python_version()}, {names}; {platform.machine()}, CPU")
    rate = arguments.learning_rate or "its own"
    print(f"WikiQA, {arguments.model}, seeds {arguments.seeds}, first round {arguments.first_round}, learning rate {rate}")
    table(space)


if __name__ == "__main__":
    main()

"""Every table and figure of Mussmann, Jia & Liang 2020 by its entry of `flows.ablate`: on generated questions, or on WikiQA.

`python benchmarks/pair_tables.py [--seeds 1,2,3] [--rows 12000]`: generated questions, cosine-bow; the classifier reads bags of n-grams.
`… --pretrained FOLDER [--first-round 100] [--rounds 2] [--near 3] [--random 1000]`: the same questions with a frozen encoder.
`python benchmarks/pair_tables.py --wikiqa --pretrained FOLDER [--seeds 1] [--first-round 246] [--near 5] [--random 8000]`: WikiQA with a
frozen encoder; the classifier is that encoder, fine-tuned on the pairs (ConcatBERT: two epochs, batch 16, rate 2e-5). It must read every
pair that it scores, so the sample of test pairs is small there.

Every step is cached in workspaces/_tables-…, so that a run that was stopped goes on. Data as benchmarks/wikiqa.py.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tasks.engine.surroundings import prepare

prepare()

from wikiqa import DATA  # noqa: E402

from tasks.commands.init_pairs import PRESETS  # noqa: E402
from tasks.engine.running import run_step  # noqa: E402
from tasks.engine.workspace import CODE, Workspace  # noqa: E402
from tasks.paper import pair_tables  # noqa: E402
from tasks.pipelines import open_workspace, steps_of  # noqa: E402

METHODS = [*pair_tables.WANTED["pairs-methods"], "stratified-match", "stratified-all-positives"]


def workspace(arguments: argparse.Namespace) -> Workspace:
    """Make the workspace of one collection."""
    content: dict[str, Any] = {"publish": {"enabled": False}, "collect": {"methods": METHODS, "seeds": arguments.seeds}}
    if arguments.wikiqa:
        files = {split: [str(DATA / f"WikiQA-{split}.tsv")] for split in ("train", "dev", "test")}
        content["pairs"] = {"source": "files", **files, **PRESETS["wikiqa"]}
        content["encode"] = {"model": "cosine-frozen", "pretrained": arguments.pretrained, "neighbours": 100}
        content["encode"] |= {"near": arguments.near, "random_negatives": arguments.random}
        content["collect"] |= {"first_round": arguments.first_round, "rounds": arguments.rounds, "epochs": 3}
    else:
        content["pairs"], content["encode"] = {"rows": arguments.rows}, {"model": "cosine-bow"}
        if arguments.pretrained:
            content["encode"] = {"model": "cosine-frozen", "pretrained": arguments.pretrained, "neighbours": 50}
            content["encode"] |= {"near": arguments.near, "random_negatives": arguments.random}
            content["collect"] |= {"first_round": arguments.first_round, "rounds": arguments.rounds}
    folder = CODE / "workspaces" / f"_tables-{'wikiqa' if arguments.wikiqa else 'questions'}{'-encoder' if arguments.pretrained else ''}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "params.yaml").write_text(json.dumps(content, indent=1), encoding="utf-8")
    return open_workspace(folder)


def main() -> None:
    """Collect, then print every table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wikiqa", action="store_true")
    parser.add_argument("--pretrained")
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[1, 2, 3])
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--first-round", type=int, default=246)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--near", type=int, default=5)
    parser.add_argument("--random", type=int, default=8_000)
    arguments = parser.parse_args()
    space = workspace(arguments)
    names = ", ".join(f"{name} {version(name)}" for name in ("faiss-cpu", "numpy", "torch", "transformers"))
    print(f"Python {platform.python_version()}, {names}; {platform.machine()}, CPU")
    for step in steps_of(space.settings):
        outcome = run_step(step, space)
        if step.name in ("pairs", "encode", "compare") or step.name.startswith("round-4"):
            print(f"# {step.name}: {outcome.receipt.summary}", flush=True)
    for name, (what, source) in pair_tables.TABLES.items():
        folder = space.path / "reports" / "ablate" / name
        folder.mkdir(parents=True, exist_ok=True)
        started = time.perf_counter()
        pair_tables.run(name, space, folder)
        print(f"\n{name}: {what} ({source}); {time.perf_counter() - started:.0f} s, on a machine that others used too")
        print((folder / "table.md").read_text(encoding="utf-8"), end="", flush=True)


if __name__ == "__main__":
    main()

"""Do the suspects agree with a hundred people? ChaosNLI's labels against the suspects of a model trained on SNLI's.

`python benchmarks/human_labels.py [--model bow|probe] [--encoder FOLDER] [--set embed.max_length=64 …]`

The train set is SNLI's development set (9,842 rows; read from CARTOGRAPH_DATA or ../shared/data) and the 1,666 original rows of
the counterfactual set. To 1,514 of its rows ChaosNLI has a hundred labels each. Where the majority of the hundred is another than
SNLI's label, that label is taken for wrong. The steps ingest, embed (probe), train, measure and noise run as in any audit, on
SNLI's labels alone; the
1,514 rows are then ranked by the suspects' probability and, for comparison, by low confidence and by chance. Average precision with
its 95 % interval over 1,000 resamples of the rows, beside the base rate, which is what chance reaches.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tasks.audit.parameters.ingest import Ingest
from tasks.audit.parameters.measure import Measure
from tasks.audit.parameters.train import Train
from tasks.engine.surroundings import prepare

prepare()

import numpy as np  # noqa: E402

from benchmarks.real_data import DATA  # noqa: E402

LABELS = {"e": "entailment", "n": "neutral", "c": "contradiction"}
RESAMPLES = 1000

Pair = tuple[str, str]


def key(premise: str, hypothesis: str) -> Pair:
    """Return a pair as its letters and digits: SNLI's rows are tokenised here, ChaosNLI's are not."""
    return re.sub(r"[^a-z0-9]", "", premise.lower()), re.sub(r"[^a-z0-9]", "", hypothesis.lower())


def train_rows() -> list[dict[str, str]]:
    """Return SNLI's development rows and the counterfactual set's original ones, with a uid each."""
    fields = [(DATA / "snli" / f"{name}.dev").read_text(encoding="utf-8").splitlines() for name in ("s1", "s2", "labels")]
    rows = [
        {"uid": f"dev-{number}", "premise": premise, "hypothesis": hypothesis, "label": label}
        for number, (premise, hypothesis, label) in enumerate(zip(*fields, strict=True))
    ]
    with (DATA / "snli" / "counterfactual" / "original" / "train.tsv").open(encoding="utf-8", newline="") as file:
        more = list(csv.DictReader(file, delimiter="\t"))
    rows += [
        {"uid": f"original-{number}", "premise": row["sentence1"], "hypothesis": row["sentence2"], "label": row["gold_label"]}
        for number, row in enumerate(more)
    ]
    return [row for row in rows if row["label"] in LABELS.values()]


def judged(rows: list[dict[str, str]]) -> dict[str, bool]:
    """Return for the uids that a hundred people judged whether most of them gave another label than SNLI's."""
    by_pair = {key(row["premise"], row["hypothesis"]): row for row in rows if row["uid"].startswith("dev-")}
    found = {}
    for line in (DATA / "chaosnli" / "chaosNLI_snli.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        row = by_pair.get(key(item["example"]["premise"], item["example"]["hypothesis"]))
        if row is None:
            continue
        if row["label"] != LABELS[item["old_label"]]:
            raise SystemExit(
                f"{item['uid']} is {item['old_label']} in ChaosNLI and {row['label']} in SNLI; are these the files of the README?"
            )
        found[row["uid"]] = item["majority_label"] != item["old_label"]
    return found


def audit(folder: Path, rows: list[dict[str, str]], options: argparse.Namespace) -> dict[str, tuple[float, float]]:
    """Run the steps up to the suspects; return uid -> (probability of a wrong label, confidence)."""
    import pyarrow.parquet as pq

    from tasks.audit import embed, ingest, measure, noise, train
    from tasks.engine.running import run_step
    from tasks.engine.workspace import Workspace

    source = folder / "train.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    own: dict[str, dict[str, object]] = {"embed": {}, "train": {}, "noise": {}, "measure": {}}
    for setting in options.set:
        name, value = setting.split("=", 1)
        section, option = name.split(".", 1)
        own[section][option] = json.loads(value)
    if options.model == "probe":
        own["embed"]["pretrained"] = str(options.encoder)
    settings = {
        "ingest": Ingest(source="files", train=str(source), evaluation={}, text=("premise", "hypothesis"), label="label", uid="uid"),
        "embed": embed.Embed(**own["embed"]),
        "train": Train(**{"model": options.model} | own["train"]),
        "measure": Measure(**own["measure"]),
        "noise": noise.Noise(**own["noise"]),
    }
    space = Workspace(folder, settings)
    steps = [ingest.STEP, *([embed.STEP] if options.model == "probe" else []), train.STEP, measure.STEP, noise.STEP]
    for step in steps:
        done = run_step(step, space)
        print(f"  {step.name:<10} {done.receipt.summary}  {done.seconds:.0f} s", flush=True)
    suspects = pq.read_table(folder / "data/noise/noise.parquet")
    places = pq.read_table(folder / "data/measure/measures.parquet")
    confidence = dict(zip(places["uid"].to_pylist(), places["confidence"].to_pylist(), strict=True))
    return {row["uid"]: (row["probability"], confidence[row["uid"]]) for row in suspects.to_pylist()}


def with_interval(wrong: np.ndarray, scores: np.ndarray) -> str:
    """Return average precision and its 95 % bootstrap interval."""
    from cartograph.statistics.metrics import average_precision

    rng = np.random.default_rng(13)
    drawn = [rng.integers(0, len(wrong), len(wrong)) for _ in range(RESAMPLES)]
    low, high = np.quantile([average_precision(wrong[rows], scores[rows]) for rows in drawn], [0.025, 0.975])
    return f"{average_precision(wrong, scores):.3f}  ({low:.3f} to {high:.3f})"


def main() -> None:
    """Audit, rank, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=("bow", "probe"), default="bow")
    parser.add_argument("--encoder", type=Path, help="probe: the encoder's folder")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=JSON", help="a parameter of a step")
    options = parser.parse_args()
    rows = train_rows()
    truth = judged(rows)
    print(
        f"{len(rows):,} SNLI rows; {len(truth):,} judged by a hundred people, {sum(truth.values())} of them against SNLI's label",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        found = audit(Path(folder), rows, options)
    uids = sorted(truth)
    wrong = np.array([truth[uid] for uid in uids])
    probability, confidence = np.array([found[uid] for uid in uids]).T
    print(f"Average precision over the {len(uids):,} judged rows, {options.model}")
    print(f"  base rate        {wrong.mean():.3f}")
    print(f"  low confidence   {with_interval(wrong, -confidence)}")
    print(f"  suspects         {with_interval(wrong, probability)}")


if __name__ == "__main__":
    main()

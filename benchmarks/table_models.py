"""Planted label errors in tables of features: what the maps of `mlp` and of `boosting` say of them, as average precision.

`python benchmarks/table_models.py [--seeds 1,2] [--sets breast-cancer,wine,digits] [--tables FILE.csv …] [--output FILE]`

Each map is trained as the step `train` does it, on the rows with their flipped labels (flips as in `benchmarks/features.py`; of a larger
table a random 2,000 rows), and its measures rank the rows: mean probability of the given label (confidence), mean logit above the next
(aum), share of epochs in which the label is the model's first (correctness; ties by confidence). Beside them the suspects that an audit
delivers: they are found by the committee, whatever the map's model. A file has a header and a column `label`. The settings of `boosting`
(leaves, rate, stages an epoch) were chosen on breast cancer and a made table; the other tables had no part in it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from features import KINDS, SHARES, flipped, load  # noqa: E402

MODELS, MEASURES = ("mlp", "boosting"), ("confidence", "aum", "correctness")
MOST = 2_000


def frame_of(name: str, seed: int) -> pd.DataFrame:
    """Return a table with its column `label`."""
    if not name.endswith(".csv"):
        values, labels = load(name)
        frame = pd.DataFrame(values, columns=[f"c{place}" for place in range(values.shape[1])]).assign(label=labels.astype(str))
    else:
        frame = pd.read_csv(name, dtype=str, keep_default_na=False)
    frame = frame[frame.label.map(frame.label.value_counts()) >= 4]
    return frame.sample(n=min(MOST, len(frame)), random_state=seed).reset_index(drop=True)


def ranked(rows: Any, model: str, wrong: np.ndarray) -> tuple[list[float], float]:
    """Return the average precision of a map's measures, and the seconds that it took."""
    import pyarrow.parquet as pq

    from cartograph.dynamics.epoch_files import read_dynamics
    from cartograph.maps.measures import compute_measures
    from cartograph.models.registry import batch_for, model_class
    from cartograph.statistics.metrics import average_precision
    from cartograph.train.enough import fit_until_learnt, simple_accuracy
    from cartograph.train.recipe import Recipe

    examples = rows.ingested.examples
    recipe = Recipe(model=model, learning_rate=model_class(model).learning_rate, batch_size=batch_for(model, len(examples)), device="cpu")
    simple, started = simple_accuracy(examples, recipe.seed), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        train = Path(folder) / "train.parquet"
        pq.write_table(examples, train)
        dynamics = read_dynamics(fit_until_learnt(recipe, simple, train, {}, Path(folder) / "training")[0].dynamics)
    seconds = time.perf_counter() - started
    order = np.argsort(examples["uid"].to_numpy(zero_copy_only=False).astype(object), kind="stable")
    found = compute_measures(dynamics.uids, dynamics.logits, dynamics.gold)
    own = {name: np.asarray(getattr(found, name), dtype=float) for name in MEASURES}
    own["correctness"] = own["correctness"] + 1e-6 * own["confidence"]
    return [average_precision(wrong[order], -own[name]) for name in MEASURES], seconds


def delivered(rows: Any, labels: np.ndarray, wrong: np.ndarray) -> float:
    """Return the average precision of the suspects' ranking."""
    from cartograph.data.folds import assign_folds
    from cartograph.schema import dataset_info
    from cartograph.statistics.metrics import average_precision
    from cartograph.suspects.committee import committee_scores, reading_of

    examples, rng = rows.ingested.examples, np.random.default_rng([13, 3])
    fold, reading = assign_folds(labels, 5, np.random.default_rng([13, 1])), reading_of(examples)
    names = list(dataset_info(examples.schema).labels)
    own = committee_scores(reading.data, labels, names, rng, folds=fold, vectors=reading.vectors, trees=reading.trees)
    return float(average_precision(wrong, own.doubt.score))


def cell(name: str, share: float, kind: str, seed: int) -> list[float]:
    """Return both maps' average precision by each measure, the suspects', and the seconds of both maps."""
    from cartograph.frames.rows import read_rows

    frame = frame_of(name, seed)
    names, labels = np.unique(frame.label.to_numpy(dtype=str), return_inverse=True)
    given = flipped(labels.astype(np.int64), share, kind, seed)
    rows = read_rows(frame.assign(label=names[given]), (), "label", True)
    wrong = (given != labels)[rows.places]
    maps = [ranked(rows, model, wrong) for model in MODELS]
    own = rows.ingested.examples["label"].to_numpy()
    return [*(value for found, _ in maps for value in found), delivered(rows, own, wrong), *(seconds for _, seconds in maps)]


def main() -> None:
    """Run the grid and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--sets", default="breast-cancer,wine,digits")
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    seeds, lines = [int(seed) for seed in given.seeds.split(",")], []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    shown = [*filter(None, given.sets.split(",")), *(Path(table).stem for table in given.tables)]
    say(f"# python benchmarks/table_models.py --seeds {given.seeds}: {', '.join(shown)}")
    say(f"Average precision of the planted errors: mean of seeds {given.seeds}, 5 and 20 %, uniform and one-way; seconds of one map")
    head = [f"{model} {measure}" for model in MODELS for measure in MEASURES]
    say(f"{'set':<15}" + "".join(f"{name:>22}" for name in [*head, "suspects"]) + "".join(f"{f'{name}, s':>12}" for name in MODELS))
    everything = []
    for name in [*filter(None, given.sets.split(",")), *given.tables]:
        found = np.array([cell(name, share, kind, seed) for share in SHARES for kind in KINDS for seed in seeds])
        everything.append(found.mean(axis=0))
        say(row(Path(name).stem, everything[-1]))
    say(row("mean", np.mean(everything, axis=0)))
    if given.output:
        given.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def row(name: str, values: np.ndarray) -> str:
    """Return a line of the table."""
    return f"{name:<15}" + "".join(f"{value:>22.3f}" for value in values[:-2]) + "".join(f"{value:>12.1f}" for value in values[-2:])


if __name__ == "__main__":
    main()

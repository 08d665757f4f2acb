"""What recording costs: the same Trainer on the same data, with the recorder and without it.

`python benchmarks/recorder.py [--rows 20000] [--runs 7] [--epochs 2]` trains on the built-in corpus with `bow` (a step takes a few
milliseconds, so nothing hides the recorder) and with `tiny` (on a tenth of the rows), the two kinds of run taking turns, and prints
the median seconds of each and their ratio. The goal is a ratio of at most 1.03.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import pyarrow as pa

from cartograph.dynamics.recorder import DynamicsRecorder
from cartograph.models.isolation import isolated, seed_everything
from cartograph.models.registry import model_class
from cartograph.planted.nli import generate
from cartograph.planted.nli_grammar import LABELS
from cartograph.schema import DatasetInfo
from cartograph.train.fit import cpu_threads
from cartograph.train.recipe import Recipe
from cartograph.train.trainer import DynamicsTrainer, Watch

GOAL = 1.03


def corpus(rows: int) -> tuple[DatasetInfo, pa.Table]:
    """Return the built-in train set with label ids."""
    table = generate(rows, 13).sets["train"]
    labels = pa.array([LABELS.index(label) for label in table.column("label").to_pylist()], pa.int32())
    info = DatasetInfo("train", "train", "pair", ("premise", "hypothesis"), (), tuple(LABELS))
    return info, table.set_column(table.schema.get_field_index("label"), "label", labels)


def seconds(recipe: Recipe, info: DatasetInfo, table: pa.Table, *, recorded: bool) -> float:
    """Train once; return how long the training itself took."""
    with tempfile.TemporaryDirectory() as name, isolated(recipe.seed, cpu_threads(recipe)):
        seed_everything(recipe.seed)
        model = model_class(recipe.model).create(info, table, max_length=recipe.max_length, pretrained=None)
        examples = model.encode(table, info)
        folder = Path(name)
        watch = Watch(recorder=(lambda: DynamicsRecorder(folder / "dynamics", uids=examples.uids)) if recorded else None)
        trainer = DynamicsTrainer(recipe, model, examples, {}, folder / "trainer", watch=watch)
        started = time.perf_counter()
        trainer.train()
        return time.perf_counter() - started


def compare(recipe: Recipe, rows: int, runs: int) -> float:
    """Print the median seconds of both kinds of run; return their ratio."""
    info, table = corpus(rows)
    seconds(recipe, info, table.slice(0, 500), recorded=True)
    times: dict[bool, list[float]] = {True: [], False: []}
    for run in range(runs):
        for recorded in (run % 2 == 0, run % 2 == 1):
            times[recorded].append(seconds(recipe, info, table, recorded=recorded))
    without, with_recorder = statistics.median(times[False]), statistics.median(times[True])
    ratio = with_recorder / without
    print(f"{recipe.model}: {rows:,} rows, {recipe.epochs} epochs, median of {runs} runs of each kind")
    for name, kind in (("without", times[False]), ("with the recorder", times[True])):
        print(f"  {name:<18} {statistics.median(kind):7.2f} s   ({min(kind):.2f} to {max(kind):.2f})")
    print(f"  {'ratio':<18} {ratio:7.3f}     (goal: {GOAL} or less)")
    return ratio


def main() -> None:
    """Compare both models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--epochs", type=int, default=2)
    arguments = parser.parse_args()
    compare(Recipe(epochs=arguments.epochs), arguments.rows, arguments.runs)
    compare(Recipe(model="tiny", epochs=arguments.epochs, learning_rate=0.001), max(arguments.rows // 10, 600), arguments.runs)


if __name__ == "__main__":
    main()

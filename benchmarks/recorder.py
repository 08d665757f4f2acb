"""What recording costs: the same Trainer on the same data, with the recorder and without it, and a plain loop beside them.

`python benchmarks/recorder.py [--rows 20000] [--runs 7] [--epochs 2]` trains on the built-in corpus with `bow` (a step takes a few
milliseconds, so nothing hides the recorder) and with `tiny` (on a tenth of the rows), the kinds of run taking turns, and prints
median CPU seconds of each and their ratios. Goals: at most 1.03 for the recorder; for the Trainer with it at most 1.10 times a plain
loop: the same model, batches, optimiser and rates in a dozen lines, as a researcher would write them (for `bow`, whose steps are short).
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import pyarrow as pa
import torch
from torch.nn import functional

from cartograph.dynamics.recorder import DynamicsRecorder
from cartograph.models.isolation import isolated, seed_everything
from cartograph.models.registry import model_class
from cartograph.models.row_table import RowTable
from cartograph.planted.nli import generate
from cartograph.planted.nli_grammar import LABELS
from cartograph.schema import DatasetInfo
from cartograph.train.batch_order import epoch_batches
from cartograph.train.fit import cpu_threads
from cartograph.train.recipe import Recipe
from cartograph.train.row_adam import RowAdamW
from cartograph.train.trainer import DynamicsTrainer, Watch

GOAL, PLAIN_GOAL = 1.03, 1.10


def corpus(rows: int) -> tuple[DatasetInfo, pa.Table]:
    """Return the built-in train set with label ids."""
    table = generate(rows, 13).sets["train"]
    labels = pa.array([LABELS.index(label) for label in table.column("label").to_pylist()], pa.int32())
    info = DatasetInfo("train", "train", "pair", ("premise", "hypothesis"), (), tuple(LABELS))
    return info, table.set_column(table.schema.get_field_index("label"), "label", labels)


def trained(recipe: Recipe, info: DatasetInfo, table: pa.Table, *, recorded: bool) -> float:
    """Train once; return the CPU seconds of the training itself."""
    with tempfile.TemporaryDirectory() as name, isolated(recipe.seed, cpu_threads(recipe)):
        seed_everything(recipe.seed)
        model = model_class(recipe.model).create(info, table, max_length=recipe.max_length, pretrained=None)
        examples = model.encode(table, info)
        folder = Path(name)
        gc.collect()
        watch = Watch(recorder=(lambda: DynamicsRecorder(folder / "dynamics", uids=examples.uids)) if recorded else None)
        trainer = DynamicsTrainer(recipe, model, examples, {}, folder / "trainer", watch=watch)
        started = time.process_time()
        trainer.train()
        return time.process_time() - started


def plain(recipe: Recipe, info: DatasetInfo, table: pa.Table) -> float:
    """Train once by a plain loop; return the CPU seconds of the training itself."""
    with isolated(recipe.seed, cpu_threads(recipe)):
        seed_everything(recipe.seed)
        model = model_class(recipe.model).create(info, table, max_length=recipe.max_length, pretrained=None)
        examples = model.encode(table, info)
        gc.collect()
        started = time.process_time()
        tables = [part for part in model.modules() if isinstance(part, RowTable)]
        rows = {id(table.weight) for table in tables}
        optimizer = RowAdamW([part for part in model.parameters() if id(part) not in rows], tables, lr=recipe.learning_rate, most=1.0)
        steps = recipe.epochs * -(-len(examples) // recipe.batch_size)
        rates = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
        model.train()
        for epoch in range(recipe.epochs):
            for taken in epoch_batches(len(examples), recipe.batch_size, recipe.seed, epoch, examples.lengths if model.pads else None):
                batch = model.batch(examples, taken)
                loss = functional.cross_entropy(
                    model(**{name: batch[name] for name in batch if name != "labels"})["logits"], batch["labels"]
                )
                loss.backward()
                optimizer.step()
                rates.step()
                optimizer.zero_grad()
            optimizer.settle()
        return time.process_time() - started


def compare(recipe: Recipe, rows: int, runs: int) -> None:
    """Print the median CPU seconds of each kind of run, and their ratios."""
    info, table = corpus(rows)
    trained(recipe, info, table.slice(0, 500), recorded=True)
    kinds = {
        "without": lambda: trained(recipe, info, table, recorded=False),
        "with the recorder": lambda: trained(recipe, info, table, recorded=True),
    }
    if recipe.model == "bow":
        kinds["plain loop"] = lambda: plain(recipe, info, table)
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for run in range(runs):
        for name in sorted(kinds, reverse=run % 2 == 0):
            times[name].append(kinds[name]())
    print(f"{recipe.model}: {rows:,} rows, {recipe.epochs} epochs, median CPU seconds of {runs} runs of each kind")
    for name, found in times.items():
        print(f"  {name:<24} {statistics.median(found):7.2f} s   ({min(found):.2f} to {max(found):.2f})")
    recording = statistics.median(times["with the recorder"])
    print(f"  {'recorder: ratio':<24} {recording / statistics.median(times['without']):7.3f}     (goal: {GOAL} or less)")
    if "plain loop" in times:
        print(
            f"  {'to the plain loop: ratio':<24} {recording / statistics.median(times['plain loop']):7.3f}     (goal: {PLAIN_GOAL} or less)"
        )


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

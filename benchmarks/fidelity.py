"""How much of a data map a cheaper training keeps, and for how much less: fewer epochs, and smaller models.

`python benchmarks/fidelity.py --encoder FOLDER [--sets trec snli ...] [--rows 6000] [--seeds 1 2] [--device cpu]`

The yardstick is the map of a pretrained encoder, fine-tuned for five epochs (batch 32, rate 5e-5), and the same with another seed says how
much of it is chance. Beside it, on the same rows, of which one label in twenty was flipped:

- that training broken off after 2, 3 and 4 epochs, its rate falling as it would over five;
- `probe`: a head on the same encoder, frozen, its vectors' making counted, for 8 epochs and broken off after 4;
- `bow`: 8 epochs, broken off after 2 to 6 of them, and ended where the map has settled, as `train.epochs: auto` does for many rows.

Of each: CPU seconds (with `--device cuda` seconds of the clock), their share of the yardstick's, Spearman's rank correlation of confidence
and variability with the yardstick's, how much of the third that is most ambiguous (hardest, easiest) is the same (by chance .33), and the
average precision of the flips by low confidence. The last columns compare with the same model's map of all its epochs: what stopping alone
costs. Means over the seeds.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
import torch  # noqa: E402
from label_sets import SETS, judged, plant, read  # noqa: E402
from scipy.stats import spearmanr  # noqa: E402
from sklearn.metrics import average_precision_score  # noqa: E402

from cartograph.dynamics.epoch_files import read_dynamics  # noqa: E402
from cartograph.maps.measures import gold_probabilities  # noqa: E402
from cartograph.models.frozen.embeddings import embed_sets  # noqa: E402
from cartograph.models.isolation import require_device  # noqa: E402
from cartograph.schema import DatasetInfo, examples_schema  # noqa: E402
from cartograph.train.enough import Attempt, simple_accuracy  # noqa: E402
from cartograph.train.fit import fit  # noqa: E402
from cartograph.train.recipe import Recipe  # noqa: E402
from cartograph.train.settling import Settling  # noqa: E402

TUNED = Recipe(model="transformer", epochs=5, batch_size=32, learning_rate=5e-5, threads=1)
HEAD = Recipe(model="probe", threads=1)
WORDS = Recipe(threads=1)
WRONG, THIRD = 0.05, 3


class Map(NamedTuple):
    """Of one training: the gold label's probability, ``(rows, epochs)``, and CPU seconds, those before the first epoch apart."""

    gold: np.ndarray
    seconds: float
    before: float = 0.0

    def first(self, epochs: int) -> Map:
        """Return the map of its first epochs."""
        return Map(self.gold[:, :epochs], self.seconds * epochs / self.gold.shape[1], self.before)

    @property
    def confidence(self) -> np.ndarray:
        """Mean over epochs."""
        return self.gold.mean(axis=1)

    @property
    def variability(self) -> np.ndarray:
        """Deviation over epochs."""
        return self.gold.std(axis=1)


def examples(texts: list[tuple[str, ...]], labels: np.ndarray, classes: list[str]) -> pa.Table:
    """Return a train set."""
    fields = ("text",) if len(texts[0]) == 1 else ("premise", "hypothesis")
    info = DatasetInfo("train", "train", "single" if len(fields) == 1 else "pair", fields, (), tuple(classes))
    uids = [f"{row:06}" for row in range(len(texts))]
    columns = [uids, *map(list, zip(*texts, strict=True)), labels.astype(np.int32), ["benchmark"] * len(texts)]
    return pa.table([*columns, np.arange(1, len(texts) + 1)], schema=examples_schema(info))


def seconds_of(device: str) -> float:
    """Return the seconds that are counted: of the CPU, or of the clock where a GPU does the work."""
    return time.process_time() if device == "cpu" else time.perf_counter()


def trained(recipe: Recipe, table: pa.Table, before: float = 0.0, settling: Settling | None = None) -> Map:
    """Return the map of a training."""
    with tempfile.TemporaryDirectory() as folder:
        started = seconds_of(recipe.device)
        result = fit(recipe, table, {}, folder, settling=settling)
        seconds = seconds_of(recipe.device) - started
        dynamics = read_dynamics(result.dynamics)
    assert dynamics.uids.tolist() == table.column("uid").to_pylist()
    return Map(gold_probabilities(dynamics.uids, dynamics.logits, dynamics.gold), seconds, before)


def embedded(encoder: str, table: pa.Table, folder: Path, device: str) -> float:
    """Embed the train set; return the seconds."""
    started = seconds_of(device)
    pq.write_table(table, folder / "rows.parquet")
    (folder / "vectors").mkdir()
    embed_sets(encoder, {"train": folder / "rows.parquet"}, folder / "vectors", device=device)
    return seconds_of(device) - started


def maps(encoder: str, table: pa.Table, seed: int, device: str) -> Iterator[tuple[str, Map, Map]]:
    """Yield every training's name, its map, and the map of all epochs of that training; the yardstick first."""
    tuned = replace(TUNED, pretrained=encoder, seed=seed, device=device)
    whole = trained(tuned, table)
    yield "fine-tuned, 5 epochs", whole, whole
    yield "  another seed", trained(replace(tuned, seed=seed + 1_000), table), whole
    for epochs in (4, 3, 2):
        yield f"  {epochs} of 5", whole.first(epochs), whole
    with tempfile.TemporaryDirectory() as name:
        before = embedded(encoder, table, Path(name), device)
        head = trained(replace(HEAD, pretrained=f"{name}/vectors", seed=seed, device=device), table, before)
    yield "probe, 8 epochs", head, head
    yield "  4 of 8", head.first(4), head
    plain = replace(WORDS, seed=seed, device=device)
    words = trained(plain, table)
    yield "bow, 8 epochs", words, words
    yield "  another seed", trained(replace(plain, seed=seed + 1_000), table), words
    simple = simple_accuracy(table, seed)
    settling = Settling(lambda right, surest: Attempt(0, right, surest, False, True).learnt(simple))
    yield "  settled", trained(plain, table, settling=settling), words
    for epochs in range(6, 1, -1):
        yield f"  {epochs} of 8", words.first(epochs), words


def lists(of: Map) -> list[set[int]]:
    """Return the third of the rows that is most ambiguous, hardest, easiest."""
    size = len(of.gold) // THIRD
    return [set(np.argsort(values, kind="stable")[:size].tolist()) for values in (-of.variability, of.confidence, -of.confidence)]


def agreement(one: Map, other: Map) -> list[float]:
    """Return the rank correlations of confidence and variability, and the shares of the three lists that are the same."""
    ranks = [float(spearmanr(getattr(one, name), getattr(other, name)).statistic) for name in ("confidence", "variability")]
    return ranks + [len(mine & yours) / len(mine) for mine, yours in zip(lists(one), lists(other), strict=True)]


def rows_of(name: str, arguments: argparse.Namespace, seed: int) -> dict[str, list[float]]:
    """Return the numbers of each training on one set."""
    texts, given = read(name, arguments.rows, seed)
    classes = sorted(set(given))
    labels = np.array([classes.index(label) for label in given])
    noised = plant(labels, judged(texts, labels), WRONG, "uniform", np.random.default_rng([seed, 5]))
    yardstick: Map | None = None
    found = {}
    model = ""
    for title, own, whole in maps(arguments.encoder, examples(texts, noised, classes), seed, arguments.device):
        yardstick = yardstick or own
        model = title.split(",")[0] if not title.startswith(" ") else model
        cost = own.before + own.seconds
        precision = float(average_precision_score(noised != labels, -own.confidence))
        same = agreement(own, whole)
        found[title if not title.startswith(" ") else f"  {model} {title.strip()}"] = [
            *(own.gold.shape[1], cost, cost / (yardstick.before + yardstick.seconds)),
            *agreement(own, yardstick),
            precision,
            *same[:3],
        ]
    return found


def main() -> None:
    """Train, and print a table for each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--sets", nargs="+", default=["trec", "snli"], choices=list(SETS))
    parser.add_argument("--rows", type=int, default=6_000)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    arguments = parser.parse_args()
    require_device(arguments.device, "`cpu`")
    where = "one thread" if arguments.device == "cpu" else torch.cuda.get_device_name()
    print(f"Python packages: torch {version('torch')}, transformers {version('transformers')}, {where}; seeds {arguments.seeds}")
    for name in arguments.sets:
        every = [rows_of(name, arguments, seed) for seed in arguments.seeds]
        print(f"\n## {name}, at most {arguments.rows:,} rows, 5 % flipped")
        unit = "CPU s" if arguments.device == "cpu" else "s"
        head = f"{'':28}{'epochs':>6}{unit:>7}{'cost':>6}{'conf.':>7}{'var.':>6}{'ambig.':>8}{'hard':>6}{'easy':>6}{'AP':>6}"
        print(head + "  own: conf.  var.  ambig.")
        for title in every[0]:
            epochs, cost, share, confidence, variability, *thirds, precision, own, varied, ambiguous = np.mean(
                [of[title] for of in every], axis=0
            )
            shown = "".join(f"{value:6.2f}" for value in thirds[1:])
            print(
                f"{title:<28}{epochs:6.1f}{cost:7.0f}{share:6.2f}{confidence:7.2f}{variability:6.2f}{thirds[0]:8.2f}{shown}{precision:6.2f}"
                f"{own:12.3f}{varied:6.3f}{ambiguous:8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

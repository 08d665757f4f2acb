"""AFLite over images, in the shape of the paper's Table 4: top-1 and top-5 before and after, for each kind of features.

`python benchmarks/images.py [--seeds 1,2,3] [--output FILE]`

Data: the digits of scikit-learn, 1,200 to learn from and 297 to test on, as `make audit DATASET=digits` has them but with the right labels
and with the planted 3 % of wrong ones. Features of the filter: plain pixels (SVD, 32 numbers), and the last layer of a small
convolutional network that learnt from a random tenth (Le Bras et al. take a fifth), which leaves the pool. Filter: m = 64, t = 10 %,
k = 2 %, threshold .75, down to a third; the test set is filtered alike. Learnt from: all rows of the pool, as many random ones as
the filter kept, those it kept; tested as in the paper: the first two on the whole test set, the last on what the filter left of it.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402

MODELS = ("linear", "cnn")
VERSIONS = (("full", "full"), ("random", "full"), ("filtered", "filtered"))


def digits(*, flipped: bool) -> dict[str, pa.Table]:
    """Return the train and the test set (``schema.examples_schema``), with the planted labels or the right ones."""
    from cartograph.planted.digits import generate
    from cartograph.schema import DatasetInfo, examples_schema

    whole = generate(rows=1200, seed=13)
    right = {row["uid"]: row["true_label"] for row in whole.truth.to_pylist()}
    labels = tuple(str(digit) for digit in range(10))
    found = {}
    for name in ("train", "validation"):
        info = DatasetInfo(name, "train" if name == "train" else "id", "image", (), (), labels, ("image",))
        table = whole.sets[name]
        given = [int(row["label"] if flipped else right[row["uid"]]) for row in table.select(["uid", "label"]).to_pylist()]
        rows = list(range(1, table.num_rows + 1))
        columns = {"uid": table["uid"], "image": table["image"], "label": given, "source": ["digits"] * len(rows), "row": rows}
        schema = examples_schema(info)
        found[name] = pa.table([columns[field.name] for field in schema], schema=schema)
    return found


def features(kind: str, sets: dict[str, pa.Table], seed: int) -> dict[str, tuple[pa.Table, np.ndarray[Any, Any]]]:
    """Return the rows of each set that stay in play, and their vectors."""
    from cartograph.features.pixels import svd_features
    from cartograph.models.last_layer import penultimate_features
    from cartograph.train.fit import fit

    if kind == "pixels":
        made = svd_features(sets, 32, seed)
        return {name: (sets[name], made[name]) for name in sets}
    rows = sets["train"]
    learnt = np.zeros(rows.num_rows, bool)
    learnt[np.random.default_rng([seed, 5]).choice(rows.num_rows, rows.num_rows // 10, replace=False)] = True
    pool = sets | {"train": rows.filter(pa.array(~learnt))}
    with tempfile.TemporaryDirectory() as folder:
        # A tenth of the rows makes a tenth of the steps: more passes over them.
        fitted = fit(recipe(seed, epochs=40, batch_size=16), rows.filter(pa.array(learnt)), {}, folder)
        made = penultimate_features("cnn", fitted.model, pool, device="cpu")
    return {name: (pool[name], made[name]) for name in pool}


def recipe(seed: int, **more: Any) -> Any:
    """Return how the network is trained."""
    from cartograph.train.recipe import Recipe

    return Recipe(
        **{"model": "cnn", "epochs": 12, "learning_rate": 0.002, "evaluate": "end", "device": "cpu", "threads": 1, "seed": seed} | more
    )


def predict(model: str, given: str, seed: int, train: pa.Table, tests: Mapping[str, pa.Table]) -> dict[str, Any]:
    """Train a model and return its scores of each test set."""
    from cartograph.bias.guess import guess
    from cartograph.train.fit import fit
    from cartograph.train.inference import infer

    if model == "linear":
        return {name: guess(model, train, table, smoothing=1.0) for name, table in tests.items()}
    with tempfile.TemporaryDirectory() as folder:
        fitted = fit(recipe(seed), train, {}, folder)
        return {name: infer(recipe(seed), fitted.model, table).logits[0] for name, table in tests.items()}


def measure(kind: str, sets: dict[str, pa.Table], seeds: tuple[int, ...]) -> tuple[str, list[dict[str, Any]]]:
    """Return what a filter did, and ``bias.accuracies.ACCURACIES`` before and after, over seeds of features, filter and models."""
    from cartograph.adversarial_filter.algorithm import aflite
    from cartograph.bias.accuracies import EvaluationRows, accuracies_table
    from cartograph.bias.partial import WHOLE

    rows: list[dict[str, Any]] = []
    said, started = [], time.perf_counter()
    for seed in seeds:
        made = features(kind, sets, seed)
        pool, vectors = made["train"]
        test, theirs = made["validation"]
        result = aflite(
            vectors,
            pool["label"].to_numpy(),
            train_size=round(0.1 * pool.num_rows),
            slice_size=round(0.02 * pool.num_rows),
            target_size=round(0.33 * pool.num_rows),
            n_partitions=64,
            threshold=0.75,
            seed=seed,
            evaluation={"validation": (theirs, test["label"].to_numpy())},
        )
        said.append((pool.num_rows, int(result.kept.sum()), result.history[0].bias, result.history[-1].bias))
        evaluated = {"validation": EvaluationRows(test, result.evaluation["validation"].kept)}
        rows += accuracies_table(pool, result.kept, evaluated, [(model, WHOLE) for model in MODELS], (seed,), predict).to_pylist()
    size, kept, before, after = (fmean(values) for values in zip(*said, strict=True))
    return f"{size:,.0f} to {kept:,.0f} rows, R {before:.3f} to {after:.3f}, {time.perf_counter() - started:.0f} s", rows


def table_of(rows: list[dict[str, Any]]) -> list[str]:
    """Return the lines of one table, means over the seeds with their standard deviation."""
    lines = ["              all rows                random                  filtered                filtered, of which"]
    lines.append("              top-1        top-5      top-1        top-5      top-1        top-5      the largest class  rows")
    for model in MODELS:
        cells = []
        for trained, tested in VERSIONS:
            own = [row for row in rows if (row["model"], row["trained_on"], row["tested_on"]) == (model, trained, tested)]
            first, top = ([100 * row[name] for row in own] for name in ("accuracy", "top5"))
            spread = f" ± {np.std(first, ddof=1):4.1f}" if len(first) > 1 else " " * 7
            cells.append(f"{fmean(first):5.1f}{spread} {fmean(top):6.1f}    ")
        cells.append(f"{100 * fmean(row['majority'] for row in own):5.1f}          {fmean(row['test_rows'] for row in own):8.0f}")
        lines.append(f"{model:<12}{' '.join(cells)}")
    return lines


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    seeds = tuple(int(seed) for seed in arguments.seeds.split(","))
    import sklearn
    import torch

    lines = [f"# python benchmarks/images.py --seeds {arguments.seeds}"]
    versions = f"torch {torch.__version__}, numpy {np.__version__}, scikit-learn {sklearn.__version__}"
    lines.append(f"{platform.machine()}, one thread, Python {platform.python_version()}, {versions}")
    print("\n".join(lines), flush=True)
    for flipped in (False, True):
        sets = digits(flipped=flipped)
        for kind in ("pixels", "finetuned"):
            said, rows = measure(kind, sets, seeds)
            block = [
                "",
                f"## Features: {kind}; labels {'with 3 % planted errors' if flipped else 'as they should be'}: {said}",
                *table_of(rows),
            ]
            print("\n".join(block), flush=True)
            lines += block
    if arguments.output is not None:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

"""How fast is a round of AFLite, and is it scikit-learn's? Parity, ratio, scaling and one whole filter, in one run.

`python benchmarks/aflite.py [--parts parity,scaling,filter] [--fits 8] [--encoder FOLDER] [--output FILE]`

Data: made features with the shape of an encoder's: rows about 5 long, variances that fall off along turned axes, so that columns are
correlated, and overlapping classes, as all-MiniLM-L6-v2 has them; and the same with a direction that all rows share and that is most
of their length, as mean-pooled RoBERTa has it, which makes the problem worse conditioned. With `--encoder`, real vectors too: SNLI's pairs
(validation, test, counterfactual; from the folder that CARTOGRAPH_DATA names), each read as one text, t a quarter of them.

Ours fits all 64 classifiers of a round at once. The other side is scikit-learn's LogisticRegression (lbfgs, its default tolerance,
iterations enough to converge) on the very same splits, with one thread for each fit, which is its fastest setting here: one fit after the
other, and two at a time in processes of their own (joblib). Ratios: on as many cores, to joblib; the loop, which has one core, to ours with
one thread and with all. Of the loop `--fits` fits are timed and the rest extrapolated, unless `--fits 64`; what is extrapolated is
printed as such. newton-cholesky is scikit-learn's second-order solver at a tight tolerance: nearer to the optimum than its default, and
so a second yardstick of parity.

Goals: 60 times as fast as the loop at m = 64; equal predictions to the optimum's on 99.8 % of out-of-sample rows; predictability correlated
at .995.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from real_data import DATA

SHARED = {"MiniLM-like": 1.2, "RoBERTa-like": 13.0}
"""Length of the direction that all rows share."""

ROUND = {"rows": 40_000, "width": 384, "classes": 3, "partitions": 64, "train_size": 10_000}
LINES: list[str] = []


def say(text: str = "") -> None:
    LINES.append(text)
    print(text, flush=True)


def encoder_like(
    rows: int, width: int, classes: int, out: np.ndarray | None = None, *, share: float = SHARED["MiniLM-like"]
) -> tuple[np.ndarray, np.ndarray]:
    """Return features, and labels that a linear model gets right for seven rows in ten or so."""
    rng = np.random.default_rng(0)
    scale = (6 + np.arange(width)) ** -0.78
    turned = np.linalg.qr(rng.normal(size=(width, width)))[0]
    shared = rng.normal(size=width)
    shared *= share / np.linalg.norm(shared)
    means = 0.065 * scale * rng.normal(size=(classes, width))
    labels = rng.integers(classes, size=rows)
    features = np.empty((rows, width), np.float32) if out is None else out
    size = 5.4 / np.sqrt((scale**2).sum())
    for start in range(0, rows, 50_000):
        part = slice(start, min(start + 50_000, rows))
        drawn = rng.normal(size=(part.stop - part.start, width)) * scale
        features[part] = (size * (drawn + means[labels[part]])) @ turned + shared
    return features, labels.astype(np.int64)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def peak() -> float:
    """Return this process's peak memory in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def sklearn_fits(features: np.ndarray, labels: np.ndarray, train: np.ndarray, numbers: range, **options: Any) -> list[np.ndarray]:
    """Return each fit's predictions of all rows."""
    from sklearn.linear_model import LogisticRegression

    found = []
    for number in numbers:
        model = LogisticRegression(max_iter=5_000, **options).fit(features[train[:, number]], labels[train[:, number]])
        found.append(model.predict(features))
    return found


def snli() -> Iterator[tuple[str, str, str]]:
    """Yield premises, hypotheses and labels."""
    folder = DATA / "snli"
    for part in ("dev", "test"):
        lines = [(folder / f"{name}.{part}").read_text(encoding="utf-8").splitlines() for name in ("s1", "s2", "labels")]
        yield from zip(*lines, strict=True)
    for part in ("train", "dev", "test"):
        with (folder / f"counterfactual/all_combined/{part}.tsv").open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t")
            yield from ((row["sentence1"], row["sentence2"], row["gold_label"]) for row in rows)


def encoded(encoder: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the encoder's vectors of SNLI's pairs, and their labels."""
    from cartograph.models.base import Side
    from cartograph.models.device import chosen_device
    from cartograph.models.frozen.text_encoder import Encoder

    rows = list(snli())
    texts = [Side(*row[:2]) for row in rows]
    vectors, places = Encoder.load(encoder, pooling="mean", max_length=128).distinct_vectors(texts, device=chosen_device("auto"))
    return vectors[places], np.unique([row[2] for row in rows], return_inverse=True)[1].astype(np.int64)


def parity(fits: int, encoder: str | None) -> None:
    """Print one round of ours and of scikit-learn on each kind of features."""
    rows, width, classes, _, train_size = ROUND.values()
    for name, share in SHARED.items():
        _parity(fits, f"{name} features", *encoder_like(rows, width, classes, share=share), train_size)
    if encoder is not None:
        features, labels = encoded(encoder)
        _parity(fits, f"{Path(encoder).name}'s vectors of SNLI", features, labels, len(labels) // 4)


def _parity(fits: int, kind: str, features: np.ndarray, labels: np.ndarray, train_size: int) -> None:
    """Print seconds, ratios, and how far ours and scikit-learn agree."""
    import joblib
    import torch
    from threadpoolctl import threadpool_limits

    from cartograph.adversarial_filter.solver.joint_fit import correct_predictions, fit
    from cartograph.adversarial_filter.solver.problem import problem
    from cartograph.adversarial_filter.splits import random_splits

    (rows, width), classes, partitions = features.shape, int(labels.max()) + 1, ROUND["partitions"]
    train = random_splits(rows, train_size, partitions, (1,))
    given = problem(features, np.arange(rows), labels, classes, "auto", keep_bytes=2**33)

    def round_of_ours(start: Any = None) -> Any:
        weights = fit(given, train, start=start)
        return weights, correct_predictions(given, train, weights)

    (weights, right), cold = timed(round_of_ours)
    (again, _), warm = timed(lambda: round_of_ours(weights.coefficients.mean(dim=0)))
    asked = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    _, alone = timed(round_of_ours)
    del os.environ["OMP_NUM_THREADS"]
    if asked is not None:
        os.environ["OMP_NUM_THREADS"] = asked
    say(f"## One round, {kind}: N = {rows:,}, t = {train_size:,}, d = {width}, {classes} classes, m = {partitions}")
    say(f"ours, first round              {cold:8.2f} s   {weights.passes} passes, {weights.unconverged} unconverged, on {given.device}")
    say(f"ours, started from the last    {warm:8.2f} s   {again.passes} passes")
    say(f"ours, first round, one thread  {alone:8.2f} s")
    say(f"out-of-sample accuracy         {right.sum() / (~train).sum():8.4f}   peak memory so far {peak():.2f} GB")
    numbers = range(min(fits, partitions))
    with threadpool_limits(1):
        theirs, seconds = timed(lambda: sklearn_fits(features, labels, train, numbers))
    loop = seconds * partitions / len(numbers)
    how = "" if len(numbers) == partitions else f", extrapolated from {len(numbers)} fits"
    say(f"scikit-learn, loop             {loop:8.1f} s   one thread, {seconds / len(numbers):.2f} s a fit and its predictions{how}")

    def in_two_processes() -> Any:
        parts = [range(start, numbers.stop, 2) for start in range(2)]
        with threadpool_limits(1):
            return joblib.Parallel(n_jobs=2)(joblib.delayed(sklearn_fits)(features, labels, train, part) for part in parts)

    _, both = timed(in_two_processes)
    side = both * partitions / len(numbers)
    say(f"scikit-learn, joblib on 2      {side:8.1f} s   one thread each{how}")
    few = range(min(len(numbers), 2))
    exact, seconds = timed(lambda: sklearn_fits(features.astype(np.float64), labels, train, few, solver="newton-cholesky", tol=1e-6))
    newton = seconds * partitions / len(few)
    say(f"scikit-learn, newton-cholesky  {newton:8.1f} s   float64, tolerance 1e-6, extrapolated from {len(few)} fits")
    say(f"ratio to the loop, first round {loop / cold:8.1f}   goal 60; from the last round {loop / warm:.1f}")
    say(f"ratio on equal cores, to joblib{side / cold:9.1f}   to the loop, one thread on both sides {loop / alone:.1f}")
    say(f"ratio to newton-cholesky       {newton / cold:8.1f}")
    whole = torch.from_numpy(features)
    held_out = ~train[:, : len(numbers)]
    ours = np.stack([(whole @ w[:-1] + w[-1]).argmax(dim=1).numpy() for w in weights.coefficients.cpu()[: len(numbers)]], axis=1)
    for name, predictions in (("the loop", theirs), ("newton-cholesky", exact)):
        other, out = np.stack(predictions, axis=1), held_out[:, : len(predictions)]
        own = ours[:, : len(predictions)]
        shares = np.stack([((found == labels[:, None]) & out).sum(axis=1) / np.maximum(out.sum(axis=1), 1) for found in (own, other)])
        same, alike = (own == other)[out].mean(), np.corrcoef(shares[:, out.any(axis=1)])[0, 1]
        say(f"equal predictions, {name:<16} {same:8.4%} of out-of-sample rows; correlation of predictability {alike:.4f}")
    default = np.stack(theirs[: len(exact)], axis=1) == np.stack(exact, axis=1)
    say(f"the loop, newton-cholesky {default[held_out[:, : len(exact)]].mean():17.4%} of them: scikit-learn with itself")
    say()


MEMORY_LIMIT = 3 * 2**30
"""What the filter may take: less than the largest features."""


def make(path: Path, rows: int, width: int) -> None:
    """Write features and labels; in a process of its own, whose memory is not the filter's."""
    mapped = np.lib.format.open_memmap(path / "features.npy", "w+", np.float32, (rows, width))
    np.save(path / "labels.npy", encoder_like(rows, width, 3, mapped)[1])


def one(rows: int, width: int, partitions: int, train_size: int) -> None:
    """Print the seconds of a round over a memory map, and the peak memory, as JSON."""
    from multiprocessing import get_context

    from cartograph.adversarial_filter.algorithm import aflite

    with tempfile.TemporaryDirectory() as folder:
        child = get_context("spawn").Process(target=make, args=(Path(folder), rows, width))
        child.start()
        child.join()
        features, labels = np.load(Path(folder) / "features.npy", mmap_mode="r"), np.load(Path(folder) / "labels.npy")
        asked = {"target_size": rows, "train_size": train_size, "slice_size": 1, "n_partitions": partitions}
        result, seconds = timed(lambda: aflite(features, labels, memory_limit=MEMORY_LIMIT, **asked))
    print(json.dumps({"seconds": seconds, "peak": peak(), "bias": result.history[0].bias}))


def scaling() -> None:
    """Print the seconds and the peak memory of a round, checks of the features included, for growing N."""
    say(f"## One round over a memory map, checks and splits included, 3 classes, {MEMORY_LIMIT / 1e9:.1f} GB allowed beside mapped pages")
    say("        N     d    m        t   seconds   peak memory")
    for rows, width, partitions, train_size in ((10_000, 384, 64, 2_500), (100_000, 384, 64, 10_000), (1_000_000, 768, 4, 10_000)):
        command = [sys.executable, __file__, "--one", *map(str, (rows, width, partitions, train_size))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        say(f"{rows:>9,} {width:>5} {partitions:>4} {train_size:>8,} {found['seconds']:9.1f}   {found['peak']:.2f} GB")
    say()


def whole_filter() -> None:
    """Print one whole filter of 100,000 rows."""
    from cartograph.adversarial_filter.algorithm import aflite

    features, labels = encoder_like(100_000, 384, 3)
    start = time.perf_counter()
    rounds: list[float] = []
    result, seconds = timed(
        lambda: aflite(
            features,
            labels,
            target_size=33_000,
            train_size=10_000,
            slice_size=2_000,
            progress=lambda done, total: rounds.append(time.perf_counter() - start),
        )
    )
    say("## A whole filter: N = 100,000, d = 384, m = 64, t = 10,000, k = 2,000, threshold .75, target 33,000")
    say(f"{seconds:.0f} s, {len(result.history)} rounds, {int(result.kept.sum()):,} rows kept: {result.stop_reason}; peak {peak():.2f} GB")
    for step in result.history[:: max(1, len(result.history) // 8)]:
        say(f"round {step.number:>3}  {step.size:>8,} rows  R {step.bias:.3f}  {step.eligible:>7,} at the threshold")
    last = result.history[-1]
    say(f"kept       {last.size:>8,} rows  R {last.bias:.3f}")
    say()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="parity,scaling,filter")
    parser.add_argument("--fits", type=int, default=8)
    parser.add_argument("--encoder", help="a folder with a pretrained encoder")
    parser.add_argument("--one", nargs=4, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    if given.one:
        one(*given.one)
        return
    from importlib.metadata import version

    names = ", ".join(f"{name} {version(name)}" for name in ("torch", "numpy", "scikit-learn"))
    cores = len(os.sched_getaffinity(0))
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    say(f"# python benchmarks/aflite.py {' '.join(sys.argv[1:])}".rstrip())
    say(f"{platform.processor() or platform.machine()}, {cores} cores (threads: {threads}), Python {platform.python_version()}, {names}")
    say()
    known = {"parity": lambda: parity(given.fits, given.encoder), "scaling": scaling, "filter": whole_filter}
    for part in given.parts.split(","):
        known[part]()
    if given.output:
        given.output.write_text("\n".join(LINES), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Candidates for 100,000 utterances, the memory that they take, and the estimator over all pairs beside plain sampling.

`python benchmarks/pair_candidates.py [--utterances 100000] [--seeds 300]`

Utterances are generated questions read by `cosine-bow` (128 numbers each); every one gets its 100 nearest neighbours, then a round of
10,000 is chosen by uncertainty. Each size runs in a process of its own, because peak memory never falls. Goals: within 8 GiB; at most a
tenth of the time outside Faiss and the encoder; memory linear in the utterances. The estimator: a task small enough to enumerate,
false positives at a threshold, 100 sampled negatives beside the near ones, against as many drawn uniformly.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np

NEIGHBOURS, ROUND = 100, 10_000


def measure(utterances: int) -> dict[str, float]:
    """Return seconds by part and peak memory in MiB of one size."""
    import faiss
    import torch

    from cartograph.pairs import candidates as module
    from cartograph.pairs.methods import least_certain
    from cartograph.pairs.models.bow import CosineBow
    from cartograph.pairs.models.calibration import Calibration
    from cartograph.pairs.pair_space import PairSpace
    from cartograph.planted.paraphrases import generate

    torch.set_num_threads(faiss.omp_get_max_threads())
    texts = generate(utterances, 1).questions[:utterances]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    parts = {"encoder": 0.0, "faiss": 0.0}

    def timed(part: str, work):  # type: ignore[no-untyped-def]
        def run(*arguments):  # type: ignore[no-untyped-def]
            started = time.perf_counter()
            try:
                return work(*arguments)
            finally:
                parts[part] += time.perf_counter() - started

        return run

    module._index, module._search = timed("faiss", module._index), timed("faiss", module._search)
    started = time.perf_counter()
    embedder = timed("encoder", CosineBow.create)(texts, 1)
    vectors = timed("encoder", lambda: embedder.vectors(embedder.encode(texts)))()
    space = PairSpace(np.arange(utterances), np.arange(utterances), utterances, True)
    found = module.nearest(space, vectors, vectors, NEIGHBOURS)
    calibration = Calibration(float(found.similarity.mean()), float(found.similarity.std()), 1.0, 0.0)
    least_certain(found, calibration.probability(found.similarity), min(ROUND, len(found) // 2), np.empty(0, np.int64))
    total = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    recall = module.recall(space, vectors, vectors, NEIGHBOURS, kind="auto", sample=200, rng=np.random.default_rng(0))
    return {"total": total, **parts, "peak": peak, "before": before, "candidates": len(found), "recall": recall}


def candidates(most: int) -> None:
    """Print the table of sizes."""
    from cartograph.pairs.candidates import kind_for

    print("utterances | index | candidates | encoder s | Faiss s | other s | other share | recall | peak MiB | of it ours | KiB/utterance")
    for utterances in (most // 8, most // 4, most // 2, most):
        command = [sys.executable, __file__, "--child", str(utterances)]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
        other = found["total"] - found["encoder"] - found["faiss"]
        ours = found["peak"] - found["before"]
        parts = f"{found['encoder']:9.1f} | {found['faiss']:7.1f} | {other:7.1f} | {other / found['total']:11.1%}"
        memory = f"{found['peak']:8,.0f} | {ours:10,.0f} | {1024 * ours / utterances:13.1f}"
        kind = kind_for(utterances)
        print(f"{utterances:10,} | {kind:5} | {found['candidates']:10,.0f} | {parts} | {found['recall']:.4f} | {memory}", flush=True)
    print(f"goals: peak at most 8,192 MiB: {_met(found['peak'] <= 8192)}; other share at most 10 %: {_met(other / found['total'] <= 0.1)}")


def estimator(seeds: int) -> None:
    """Print bias and spread of the estimate of false positives, and of average precision, over many samples."""
    from cartograph.pairs.task import Task

    rng, n = np.random.default_rng(0), 600
    first = np.concatenate([np.arange(0, n, 3), np.arange(1, n, 3)])
    texts = [str(row) for row in range(n)]
    task = Task(texts, texts, np.full(n, 2, np.int8), True, True, first, first + 1, np.ones(len(first), np.int8))
    meaning = np.repeat(rng.normal(size=(n // 3, 16)), 3, axis=0)
    start, other_noise = meaning + 0.75 * rng.normal(size=meaning.shape), rng.normal(size=meaning.shape)
    before = _unit(start)
    # A model that is trained from the encoder keeps much of its mistakes; one that is not makes others.
    scorers = {"grown out of the encoder": _unit(start + 0.3 * meaning), "unrelated to the encoder": _unit(meaning + 0.6 * other_noise)}
    for name, after in scorers.items():
        _compare(name, task, before, after, seeds)


def _compare(title: str, task: Any, before: np.ndarray, after: np.ndarray, seeds: int) -> None:
    from cartograph.pairs.candidates import nearest
    from cartograph.pairs.estimate import NEAR, POSITIVE, RANDOM, Sample, curve, draw_sample

    n = len(task.left)
    space = task.space("test")
    one, other = np.triu_indices(n, 1)
    keys = space.keys(one, other)
    label, score = task.labels(keys), (after[one] * after[other]).sum(axis=1)
    whole = Sample(keys, np.where(label == 1, POSITIVE, RANDOM).astype(np.int8), np.ones(len(keys)), len(keys))
    truth = curve(whole, score)
    threshold = truth.threshold_at(0.9)
    false = np.count_nonzero((score >= threshold) & (label == 0))
    near = nearest(space, before, before, 10)
    found: dict[str, list[tuple[float, float]]] = {"importance": [], "plain": []}
    for seed in range(seeds):
        draw = np.random.default_rng(seed)
        sample = draw_sample(task, "test", near, 2000, draw)
        positives = task.positives("test")
        negatives = space.draw(2000 + int((sample.kind == NEAR).sum()), positives, draw)
        weight = np.concatenate([np.ones(len(positives)), np.full(len(negatives), (space.size - len(positives)) / len(negatives))])
        kinds = np.repeat(np.array([POSITIVE, RANDOM], np.int8), [len(positives), len(negatives)])
        plain = Sample(np.concatenate([positives, negatives]), kinds, weight, space.size)
        for name, part in (("importance", sample), ("plain", plain)):
            rows, others = space.pairs(part.keys)
            scored = (after[rows] * after[others]).sum(axis=1)
            above = part.weight[(part.kind != POSITIVE) & (scored >= threshold)].sum()
            found[name].append((float(above), curve(part, scored).average_precision))
    print(f"\nA model {title}: {space.size:,} pairs, {int(label.sum())} positive; {seeds} samples of 2,000 beside the near")
    print(f"                | false positives at recall 90 % (true {false:,}) | average precision (true {truth.average_precision:.4f})")
    for name, values in found.items():
        lines = []
        for place, true in enumerate((false, truth.average_precision)):
            column = np.array([value[place] for value in values])
            error, spread = column.std(ddof=1) / len(column) ** 0.5, column.var(ddof=1)
            lines.append(
                f"mean {column.mean():.4f} ± {error:.4f} ({(column.mean() - true) / max(error, 1e-12):+.1f} SE), variance {spread:.3g}"
            )
        print(f"{name:15} | {lines[0]} | {lines[1]}")
    ratio = np.var([value[0] for value in found["plain"]]) / np.var([value[0] for value in found["importance"]])
    print(f"plain sampling of as many pairs has {ratio:.1f} times the variance in false positives")


def _unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _met(good: bool) -> str:
    return "met" if good else "NOT met"


def main() -> None:
    """Print machine and versions, then both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utterances", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--estimator-only", action="store_true")
    parser.add_argument("--child", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measure(arguments.child)))
        return
    import faiss

    names = ", ".join(f"{name} {version(name)}" for name in ("faiss-cpu", "numpy", "torch"))
    print(f"Python {platform.python_version()}, {names}; {platform.machine()}, {faiss.omp_get_max_threads()} threads")
    if not arguments.estimator_only:
        candidates(arguments.utterances)
    estimator(arguments.seeds)


if __name__ == "__main__":
    main()

"""What a matcher's candidates cost, and a round on them: two tables of 100,000 texts each, blocked and compared.

`python benchmarks/pair_blocking.py [--records 100000] [--sample 1000] [--rounds 6250 12500 25000]`

Texts are 3 to 9 words drawn by Zipf's law from 60,000, and a model number; half of the right ones are left ones with a letter or a word
changed. Each left record gets its 40 nearest right ones by words and by characters, and each candidate all features of a pair of texts.
A sample of left records is searched for among all right ones: every left record costs the same, so seconds of the whole are those times
records / sample, and the memory of the other records' candidates is taken up by numbers that stand for them. Each size runs in a process of
its own, because peak memory never falls. Goal: at most 4 GiB for the largest.

A round is measured on whole tables of other sizes, all of whose left records are searched for: the matcher is trained on 600 labels, half
of them positive, scores every candidate, and chooses the next 1,000 pairs. Its seconds and memory are extrapolated by the candidates.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version

import numpy as np

NEIGHBOURS, WORDS = 40, 60_000


def texts(number: int, seed: int) -> tuple[list[str], list[str]]:
    """Return the texts of both tables."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("aaabcdeeeefghiiijklmnnoooprrssttuvwxyz"))
    lengths = rng.integers(3, 11, WORDS)
    vocabulary = ["".join(rng.choice(letters, length)) for length in lengths]
    chance = 1 / np.arange(3, WORDS + 3)
    chosen = rng.choice(WORDS, (2 * number, 9), p=chance / chance.sum())
    counts, models = rng.integers(3, 10, 2 * number), rng.integers(100, 100_000, 2 * number)
    made = [
        " ".join([*(vocabulary[word] for word in row[:count]), f"{vocabulary[row[0]][:2]}{model}"])
        for row, count, model in zip(chosen.tolist(), counts.tolist(), models.tolist(), strict=True)
    ]
    left, right = made[:number], made[number:]
    for row in range(0, number, 2):
        parts = left[row].split()
        parts[int(rng.integers(len(parts)))] = vocabulary[int(rng.integers(WORDS))]
        right[row] = " ".join(parts)
    return left, right


def measure(records: int, sample: int) -> dict[str, float]:
    """Return seconds by part, candidates, and peak memory in MiB: of a sample of left records against all right ones."""
    from cartograph.pairs.matcher.blocking import nearest_terms
    from cartograph.pairs.matcher.features import Features
    from cartograph.pairs.matcher.records import Records
    from cartograph.pairs.pair_space import PairSpace

    left, right = texts(records, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found: dict[str, float] = {}

    def timed(name: str, started: float) -> float:
        found[name] = time.process_time() - started
        return time.process_time()

    now = time.process_time()
    features = Features(Records(left, right, {}))
    kinds = {"words": features.word_vectors, "characters": features.character_vectors}
    now = timed("terms", now)
    space = PairSpace(np.arange(sample), np.arange(records), records, False)
    keys = np.empty(0, np.int64)
    for name, vectors in kinds.items():
        keys = np.union1d(keys, nearest_terms(space, vectors, NEIGHBOURS))
        now = timed(name, now)
    rows, others = space.pairs(keys)
    table = features.table(rows, others)
    timed("features", now)
    # The keys and features of the left records that were not searched for, for the memory that they take.
    rest = np.ones((len(keys) * (records - sample) // sample, table.shape[1] + 2), np.float32)
    size = len(keys) + len(rest)
    same = (rows == others) & (rows % 2 == 0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        **found,
        "candidates": size,
        "columns": table.shape[1],
        "found": same.sum() / ((sample + 1) // 2),
        "before": before,
        "peak": peak,
    }


def measure_round(records: int) -> dict[str, float]:
    """Return seconds of training, scoring and choosing, candidates, and peak memory in MiB before the round and in it."""
    from cartograph.pairs.matcher.blocked import COMBINED, block
    from cartograph.pairs.matcher.features import Features
    from cartograph.pairs.matcher.fitting import fit_matcher
    from cartograph.pairs.matcher.records import Records
    from cartograph.pairs.matcher.scorer import MatcherScorer, MatcherTask
    from cartograph.pairs.methods import least_certain
    from cartograph.pairs.pair_space import PairSpace

    left, right = texts(records, 1)
    features = Features(Records(left, right, {}))
    space = PairSpace(np.arange(records), np.arange(records), records, False)
    pairs = block(space, records, features, NEIGHBOURS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    own = MatcherTask({"train": pairs}, lambda: features)
    rng = np.random.default_rng(0)
    rows, others = space.pairs(pairs.keys)
    same = (rows == others) & (rows % 2 == 0)
    chosen = np.concatenate([rng.permutation(np.flatnonzero(same))[:300], rng.permutation(np.flatnonzero(~same))[:300]])
    now = time.process_time()
    matcher = fit_matcher(pairs, pairs.keys[chosen], same[chosen].astype(np.int8), COMBINED, 0)
    trained = time.process_time()
    scorer = MatcherScorer(matcher, own)
    near = scorer.candidates(space)
    scored = time.process_time()
    least_certain(near, scorer.probability(near.similarity), 1_000, np.sort(pairs.keys[chosen]))
    done = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    parts = {"training": trained - now, "scoring": scored - trained, "choosing": done - scored}
    return {**parts, "candidates": len(pairs.keys), "before": before, "peak": peak}


def child(*options: str) -> dict[str, float]:
    """Return what a process of its own printed."""
    # One thread, so that seconds of the processor are those that pass.
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, __file__, *options], capture_output=True, text=True, check=True, env=alone)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print machine and versions, then the tables of sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, nargs="*", default=[6_250, 12_500, 25_000])
    parser.add_argument("--child", type=int, default=0)
    parser.add_argument("--child-round", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.child or arguments.child_round:
        whole = measure_round(arguments.child_round) if arguments.child_round else None
        print(json.dumps(whole or measure(arguments.child, min(arguments.sample, arguments.child))))
        return
    names = ", ".join(f"{name} {version(name)}" for name in ("numpy", "rapidfuzz", "scikit-learn", "scipy"))
    print(f"Python {platform.python_version()}, {names}; {platform.machine()}, one thread; seconds are of the processor")
    print("records each | searched for | candidates | terms s | words s | characters s | features s | whole s | found | peak MiB | ours")
    for records in (arguments.records // 8, arguments.records // 4, arguments.records // 2, arguments.records):
        sample = min(arguments.sample, records)
        found = child("--child", str(records), "--sample", str(sample))
        parts = found["words"] + found["characters"] + found["features"]
        whole = found["terms"] + parts * records / sample
        seconds = " | ".join(
            f"{found[name]:{width}.1f}" for name, width in (("terms", 7), ("words", 7), ("characters", 12), ("features", 10))
        )
        memory = f"{found['peak']:8,.0f} | {found['peak'] - found['before']:,.0f}"
        head = f"{records:12,} | {sample:12,} | {found['candidates']:10,.0f}"
        print(f"{head} | {seconds} | {whole:7,.0f} | {found['found']:.3f} | {memory}", flush=True)
    print(f"goal, peak at most 4,096 MiB: {'met' if found['peak'] <= 4096 else 'NOT met'}")
    print("\na round\nrecords each | candidates | training s | scoring s | choosing s | peak MiB before | in it")
    last, size = {}, found["candidates"]
    for records in arguments.rounds:
        last = child("--child-round", str(records))
        seconds = " | ".join(f"{last[name]:{width}.1f}" for name, width in (("training", 10), ("scoring", 9), ("choosing", 10)))
        print(f"{records:12,} | {last['candidates']:10,.0f} | {seconds} | {last['before']:15,.0f} | {last['peak']:5,.0f}", flush=True)
    if last:
        times = size / last["candidates"]
        scored, more = (last["scoring"] + last["choosing"]) * times, (last["peak"] - last["before"]) * times
        print(
            f"of {size:,.0f} candidates, extrapolated: {last['training'] + scored:,.0f} s a round, {found['peak'] + more:,.0f} MiB at most"
        )


if __name__ == "__main__":
    main()

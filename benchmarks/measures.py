"""All measures of a large run, reading included, beside a loop over rows in the manner of the reference implementation.

`python benchmarks/measures.py [rows] [rows for the loop]` writes the dynamics of 550,000 rows × 6 epochs × 3 classes into a
temporary folder and times `read_dynamics` with `compute_measures` in a process of its own, best of five, with its peak
memory. The loop reads the first 11,000 of the same rows from the reference's JSON lines and handles them one by one: a dict of
logits per uid, a torch softmax per row and epoch, numpy's mean and deviation per row. Its seconds are scaled to all
rows, in proportion: it does the same work for each. Imports count on neither side; the loop, too, is the best of five.
Both must agree to 1e-6. Goal: 100 times faster.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

EPOCHS, CLASSES, RUNS = 6, 3, 5


def write_dynamics(folder: Path, rows: int, sample: int) -> None:
    """Write the Parquet files of all rows, and the reference's JSON lines of the first ``sample``."""
    import numpy as np
    import pyarrow as pa

    from cartograph.data.parquet import write_parquet
    from cartograph.dynamics.epoch_files import dynamics_table, epoch_file

    rng = np.random.default_rng(13)
    uids = [f"row-{row:07}" for row in range(rows)]
    gold = rng.integers(0, CLASSES, rows)
    ease = rng.normal(1.0, 1.5, rows)
    for epoch in range(EPOCHS):
        logits = rng.normal(0.0, 0.7, (rows, CLASSES))
        logits[np.arange(rows), gold] += ease * (epoch + 1) / 2
        logits = logits.astype(np.float32)
        write_parquet(dynamics_table(pa.array(uids), gold, logits), epoch_file(folder, epoch))
        with (folder / f"dynamics_epoch_{epoch}.jsonl").open("w", encoding="utf-8") as file:
            for uid, scores, label in zip(uids[:sample], logits.tolist(), gold.tolist(), strict=False):
                file.write(json.dumps({"guid": uid, f"logits_epoch_{epoch}": scores, "gold": label}) + "\n")


def vectorised(folder: Path, rows: int) -> dict[str, float]:
    """Read and measure all rows; return seconds, MB, and a weighted mean of both coordinates."""
    import pandas  # noqa: F401  # pyarrow imports it on first use; imports count on neither side

    from cartograph.dynamics.epoch_files import read_dynamics
    from cartograph.maps.measures import compute_measures

    before = peak()
    started = time.perf_counter()
    uids, gold, logits = read_dynamics(folder)
    read = time.perf_counter() - started
    measures = compute_measures(uids, logits, gold)
    seconds = time.perf_counter() - started
    assert len(uids) == rows
    return {
        "seconds": seconds,
        "read": read,
        "before": before,
        "peak": peak(),
        **checksums(measures.confidence, measures.variability),
    }


def row_by_row(folder: Path, rows: int) -> dict[str, float]:
    """Do the same for the sample, one row at a time."""
    import numpy as np
    import torch

    torch.set_num_threads(1)  # the tensors have three elements
    before = peak()
    started = time.perf_counter()
    logits: dict[str, list[list[float]]] = defaultdict(list)
    gold: dict[str, int] = {}
    for epoch in range(EPOCHS):
        with (folder / f"dynamics_epoch_{epoch}.jsonl").open(encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                logits[record["guid"]].append(record[f"logits_epoch_{epoch}"])
                gold[record["guid"]] = record["gold"]
    read = time.perf_counter() - started
    results = []
    for uid, epochs in logits.items():
        probabilities, hits = [], []
        for scores in epochs:
            shares = torch.nn.functional.softmax(torch.tensor(scores), dim=-1)
            probabilities.append(float(shares[gold[uid]]))
            hits.append(bool(np.argmax(scores) == gold[uid]))
        forgotten = sum(earlier and not later for earlier, later in pairwise(hits))
        mean = float(np.mean(probabilities))
        results.append((mean, float(np.std(probabilities)), sum(hits), forgotten, mean * (1 - mean)))
    seconds = time.perf_counter() - started
    assert len(results) == rows
    table = np.array(results)
    return {"seconds": seconds, "read": read, "before": before, "peak": peak(), **checksums(table[:, 0], table[:, 1])}


def checksums(confidence: object, variability: object) -> dict[str, float]:
    """Return weighted means over the sample's rows: equal only where rows and numbers are."""
    import numpy as np

    sample = int(sys.argv[-1])
    weights = np.arange(1, sample + 1) / sample
    columns = {"confidence": confidence, "variability": variability}
    return {name: float(np.mean(np.asarray(values)[:sample] * weights)) for name, values in columns.items()}


def peak() -> float:
    """Return this process's largest resident memory so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count the parent's, from before this program was loaded
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child(kind: str, folder: Path, rows: int, sample: int) -> dict[str, float]:
    """Run one of the two in a process of its own."""
    command = [sys.executable, __file__, kind, str(folder), str(rows), str(sample)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main() -> None:
    """Write, run, compare, print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 550_000
    sample = min(int(sys.argv[2]) if len(sys.argv) > 2 else 11_000, rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        write_dynamics(path, rows, sample)
        turns = [(child("vectorised", path, rows, sample), child("row_by_row", path, sample, sample)) for _ in range(RUNS)]
    ours, loop = (min(results, key=lambda result: result["seconds"]) for results in zip(*turns, strict=True))
    for name in ("confidence", "variability"):
        if abs(ours[name] - loop[name]) > 1e-6:
            raise SystemExit(f"the two disagree on {name}: {ours[name]} and {loop[name]}")
    scaled = loop["seconds"] * rows / sample
    print(f"{rows:,} rows × {EPOCHS} epochs × {CLASSES} classes, on disk, reading included")
    print(f"  ours           {ours['seconds']:8.2f} s  (reading {ours['read']:.2f} s; best of {RUNS})")
    print(f"  peak memory    {ours['peak']:8.0f} MB (of which {ours['before']:.0f} MB are Python and its libraries)")
    print(f"  loop over rows {scaled:8.1f} s  (best of {RUNS}: {loop['seconds']:.2f} s on {sample:,} rows, times {rows / sample:g})")
    ratio = scaled / ours["seconds"]
    print(f"  ratio          {ratio:8.0f}    goal at least 100: {'met' if ratio >= 100 else 'NOT met'}")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in ("vectorised", "row_by_row"):
        work = vectorised if sys.argv[1] == "vectorised" else row_by_row
        print(json.dumps(work(Path(sys.argv[2]), int(sys.argv[3]))))
    else:
        main()

"""Greedy k-centre: ours, exact and in blocks, beside the plain NumPy one that compares all points with every new centre.

`python benchmarks/k_centre.py [--rows 100000] [--width 384] [--share 0.33] [--picks 60]`

Both start at the same point and work in float32 on one thread. The plain one takes hours at full size, so `--picks` of its picks are timed
and multiplied (a pick costs the same from first to last); the first picks of both must be the same. Two kinds of points: independent
normal ones, the worst case for bounds, and points near a plane of 16 dimensions, as features of a model are. Goal: at least 5 times as
fast, with memory that does not grow with rows × picks.
"""

from __future__ import annotations

import argparse
import os
import resource
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from cartograph.selection.k_centre import k_centre  # noqa: E402


def points(kind: str, rows: int, width: int) -> np.ndarray:
    """Return (rows, width) float32 points."""
    rng = np.random.default_rng(13)
    if kind == "normal":
        return rng.standard_normal((rows, width), np.float32)
    return np.tanh(rng.standard_normal((rows, 16), np.float32) @ rng.standard_normal((16, width), np.float32))


def plain(given: np.ndarray, picks: int) -> tuple[list[int], float]:
    """Return the picks after the first point by cosine distance, and the seconds of one."""
    lengths = np.sqrt((given**2).sum(axis=1))
    chosen = []
    nearest = 1 - given @ given[0] / (lengths * lengths[0])
    started = time.perf_counter()
    for _ in range(picks):
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, 1 - given @ given[chosen[-1]] / (lengths * lengths[chosen[-1]]))
    return chosen, (time.perf_counter() - started) / picks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--share", type=float, default=0.33)
    parser.add_argument("--picks", type=int, default=60)
    parser.add_argument("--kinds", default="plane,normal")
    arguments = parser.parse_args()
    wanted = round(arguments.share * arguments.rows)
    print(f"{arguments.rows:,} x {arguments.width} float32, {wanted:,} picks, one thread")
    for kind in arguments.kinds.split(","):
        given = points(kind, arguments.rows, arguments.width)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        found, _ = k_centre(given, wanted - 1, start=np.array([0]))
        seconds = time.perf_counter() - started
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        chosen, each = plain(given, arguments.picks)
        same = found[: arguments.picks].tolist() == chosen
        whole = each * (wanted - 1)
        print(
            f"{kind:<7} ours {seconds:7.1f} s; plain {1000 * each:6.1f} ms a pick, {whole:8.0f} s in all (by {arguments.picks} picks); "
            f"{whole / seconds:6.1f} times as fast; first picks the same: {same}; peak +{grown:.0f} MB over the data's making"
        )


if __name__ == "__main__":
    main()

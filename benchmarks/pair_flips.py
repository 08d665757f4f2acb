"""Rows of each of many classes called the next one: what is ranked and listed, and the number that is said; ours and cleanlab's.

`python benchmarks/pair_flips.py [--sets banking77,trec-fine] [--rows 1500] [--seeds 1,2,3] [--output FILE]`

Of some rows of a set none, a twentieth, a tenth and a fifth get the label of the class after their own (pair flips). The committee reads
words and characters, as an audit does; beside it, the same without asking of all classes together whether errors are such
(`suspects.one_other_class`). cleanlab gets cross-validated logistic regressions on the same features, and the better of its two scores,
chosen with the truth in hand; its list is that of `find_label_issues`. The number is what the estimate comes to, where one is given.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
from cleanlab_peer import as_read, issues, on_features, peer_version, regression  # noqa: E402
from label_sets import MANY_CLASSES, read  # noqa: E402
from without_rule import doubts  # noqa: E402

SHARES = (0.0, 0.05, 0.1, 0.2)
_ASKED = "cartograph.suspects.hard_classes.one_other_class"


def listed_of(listed: np.ndarray, wrong: np.ndarray) -> list[float]:
    """Return how many rows are listed, and how many of them are wrong."""
    return [float(np.count_nonzero(listed)), float(np.count_nonzero(listed & wrong))]


def cell(name: str, rows: int, share: float, seed: int) -> list[float]:
    """Return AP of ours, without and cleanlab's (nan without errors), lengths of the lists with their wrong rows, and both numbers."""
    from cartograph.features.text import character_features, text_features
    from cartograph.statistics.metrics import average_precision

    texts, given = read(name, rows, seed)
    true = np.unique(given, return_inverse=True)[1]
    classes = int(true.max()) + 1
    moved = np.random.default_rng([seed, 17]).permutation(len(true))[: round(share * len(true))]
    noised = true.copy()
    noised[moved] = (true[moved] + 1) % classes
    single, wrong = [row[0] for row in texts], noised != true
    words, characters = text_features(single), character_features(single, classes)
    ranked, lists, numbers = [], [], []
    for doubt in doubts(words, characters, noised, classes, _ASKED, None):
        ranked.append(average_precision(wrong, doubt.score) if share else np.nan)
        lists += listed_of(doubt.score >= 0.5, wrong)
        numbers.append(np.nan if doubt.wrong is None else doubt.wrong.expected)
    read_by_them = as_read(words, texts)
    theirs = on_features(read_by_them, noised, wrong, seed)["ap"] if share else np.nan
    lists += listed_of(issues(noised, regression(read_by_them, noised, seed)), wrong)
    return [*ranked, float(theirs), *lists, *numbers, float(wrong.sum())]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", default=",".join(MANY_CLASSES))
    parser.add_argument("--rows", type=int, default=1_500)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    unknown = set(args.sets.split(",")) - set(MANY_CLASSES)
    if unknown:
        parser.error(f"no set is called {sorted(unknown)[0]!r}; there are {', '.join(MANY_CLASSES)}.")
    lines = [
        f"{args.rows:,} rows, a share of them called the next class; means of seeds {args.seeds}; cleanlab {peer_version()}",
        "set, labels wrong  | average precision       | listed, and wrong ones of these            | number said",
        "                   | ours  without  cleanlab | ours          without       cleanlab       | ours  without | true",
    ]
    for name in args.sets.split(","):
        for share in SHARES:
            means = np.nanmean([cell(name, args.rows, share, int(seed)) for seed in args.seeds.split(",")], axis=0)
            ranked = [f"{value:.3f}" if share else "-" for value in means[:3]]
            lists = [f"{means[place]:.0f} / {means[place + 1]:.0f}" for place in (3, 5, 7)]
            lines.append(
                f"{name:<12} {share:>4.0%}  | {ranked[0]:<5} {ranked[1]:<8} {ranked[2]:<8} | "
                f"{lists[0]:<13} {lists[1]:<13} {lists[2]:<14} | {means[9]:<5.0f} {means[10]:<7.0f} | {means[11]:.0f}"
            )
            print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    if args.output:
        args.output.write_text(f"python {' '.join(sys.argv)}\n{text}", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Sets in which one class has two names: average precision, and right labels that look surely wrong; ours and cleanlab's.

`python benchmarks/two_names.py [--sets trec,banking77] [--seeds 1,2,3] [--output FILE]`

A thousand rows of a set; half of the rows of its largest class that has at most four in ten rows get another name, by lot, and of all rows
none or every tenth another class's label. The other name is not counted as wrong. The committee reads words and characters, as an audit
does; beside it, the same without setting apart classes that are hardly distinguished (`suspects.one_class_to_models`). cleanlab gets
cross-validated logistic regressions on the same features, and the better of its two scores, chosen with the truth in hand; its list is that
of `find_label_issues`.
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
from label_sets import SETS, read  # noqa: E402
from without_rule import doubts  # noqa: E402

ROWS, LARGEST, WRONG = 1_000, 0.4, 0.1
_FOUND = "cartograph.suspects.label_doubt.not_told_apart"


def two_names(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the labels with half of one class's rows, by lot, under another name."""
    rows = np.bincount(labels)
    one = int(np.where(rows <= LARGEST * len(labels), rows, -1).argmax())
    return np.where((labels == one) & (rng.random(len(labels)) < 0.5), len(rows), labels)


def cell(name: str, share: float, seed: int) -> list[float]:
    """Return average precision (nan where nothing is wrong), right labels that are surely wrong, each of ours, without, and cleanlab's."""
    from cartograph.features.text import character_features, text_features
    from cartograph.statistics.metrics import average_precision

    rng = np.random.default_rng([seed, 11])
    texts, given = read(name, ROWS, seed)
    true = two_names(np.unique(given, return_inverse=True)[1], rng)
    classes = int(true.max()) + 1
    noised = np.where(rng.random(len(true)) < share, (true + rng.integers(1, classes, len(true))) % classes, true)
    rows, wrong = [row[0] for row in texts], noised != true
    words, characters = text_features(rows), character_features(rows, classes)
    ranked, sure = [], []
    for doubt in doubts(words, characters, noised, classes, _FOUND, ()):
        ranked.append(average_precision(wrong, doubt.score) if share else np.nan)
        sure.append(float(np.count_nonzero((doubt.score >= 0.8) & ~wrong)) if doubt.wrong is not None else 0.0)
    theirs = on_features(as_read(words, texts), noised, wrong, seed)["ap"] if share else np.nan
    listed = issues(noised, regression(as_read(words, texts), noised, seed))
    return [*ranked, float(theirs), *sure, float(np.count_nonzero(listed & ~wrong))]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", default="trec,banking77,customer,sst2")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    unknown = set(args.sets.split(",")) - set(SETS)
    if unknown:
        parser.error(f"no set is called {sorted(unknown)[0]!r}; there are {', '.join(SETS)}.")
    lines = [
        f"{ROWS:,} rows, half of one class under another name; seeds {args.seeds}; cleanlab {peer_version()}",
        "set, labels wrong   | average precision        | right labels surely wrong | listed by",
        "                    | ours   without  cleanlab | ours              without | cleanlab",
    ]
    for name in args.sets.split(","):
        for share in (0.0, WRONG):
            means = np.mean([cell(name, share, int(seed)) for seed in args.seeds.split(",")], axis=0)
            ranked = [f"{value:.3f}" if share else "-" for value in means[:3]]
            counts = [f"{value:.1f}" for value in means[3:]]
            lines.append(
                f"{name:<12} {share:>5.0%}  | {ranked[0]:<6} {ranked[1]:<8} {ranked[2]:<8} | {counts[0]:<17} {counts[1]:<7} | {counts[2]}"
            )
            print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    if args.output:
        args.output.write_text(f"python {' '.join(sys.argv)}\n{text}", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

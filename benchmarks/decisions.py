"""What people's decisions say of the labels that they did not look at: the number of wrong ones, and what is changed without a person.

`python benchmarks/decisions.py [--sets …] [--seeds 3,4] [--rows 2000] [--output FILE]`

The committee lists what it lists in an audit of the same rows (as `noise.py --committee`, whose sets and planted errors these are), words
alone. People, played by the truth, look at the first 5 to 300 labels down the ranking. Printed, over the sets of which a number was
estimated at all, before and after recalibration by what they found (`statistics.recalibration`):

- held: in how many sets the interval holds how many labels of the other rows are wrong. Before: that of all rows, as a share of the others.
- off: mean distance of the number from the true one, as a factor (5 rows added to both; 1 = exact).
- wide: mean ratio of the interval's ends (5 rows added to both).
- sure: how many of the others have a probability of .8 or more, which cleaning may change without a person; how many of them are wrong.

The constants of the recalibration were chosen on TREC, customer reviews, banking77, SST-2 and Subj, seeds 1 and 2.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402
from label_sets import KINDS, SETS, judged, plant, read  # noqa: E402
from noise import SHARES, by_committee  # noqa: E402
from real_data import DATA  # noqa: E402

LOOKED, SURE, ADDED = (5, 15, 30, 50, 100, 150, 300), 0.8, 5.0


@dataclass(frozen=True)
class Found:
    """What is known of the other rows of one set, after people looked at some: the number with its interval, and how many are sure."""

    kind: str
    looked: int
    left: int
    before: tuple[float, float, float]
    after: tuple[float, float, float]
    sure: tuple[int, int, int, int]


def of_set(kind: str, probability: np.ndarray, wrong: np.ndarray, number: dict[str, float]) -> list[Found]:
    """Return what is known of the others after people looked at more and more rows down the ranking, ``(n_examples,)`` each."""
    from cartograph.statistics.gathered import if_gathered
    from cartograph.statistics.recalibration import Estimate, no_surer, recalibrate

    order, estimate = np.argsort(-probability, kind="stable"), Estimate(*(number[end] for end in ("expected", "low", "scattered", "most")))
    rows = []
    for looked in LOOKED:
        seen, others = order[:looked], order[looked:]
        left = probability[others].sum()
        ends = (left * estimate.low / estimate.expected, min(left * number["high"] / estimate.expected, float(len(others))))
        after = recalibrate(probability[seen], wrong[seen]).number(probability[others], estimate, int(wrong[seen].sum()))
        after = (*after[:2], if_gathered(after[0], after[2], max(estimate.most - looked, after[2]), len(others)))
        was, now = probability >= SURE, no_surer(probability, seen, wrong[seen]) >= SURE
        sure = [int(np.count_nonzero(which[others])) for which in (was, was & wrong, now, now & wrong)]
        rows.append(Found(kind, looked, int(wrong[others].sum()), (left, *ends), after, (sure[0], sure[1], sure[2], sure[3])))
    return rows


def _log(number: float) -> float:
    return float(np.log(number + ADDED))


def line(name: str, found: list[Found]) -> str:
    """Return a line of the table."""
    parts = []
    for which in ("before", "after"):
        numbers = [getattr(one, which) for one in found]
        held = sum(low - 0.5 <= one.left <= high + 0.5 for one, (_, low, high) in zip(found, numbers, strict=True))
        off = np.exp(np.mean([abs(_log(middle) - _log(one.left)) for one, (middle, *_) in zip(found, numbers, strict=True)]))
        wide = np.exp(np.mean([_log(high) - _log(low) for _, low, high in numbers]))
        first = 0 if which == "before" else 2
        sure, right = (sum(one.sure[first + place] for one in found) for place in (0, 1))
        parts.append(f"held {held:3} of {len(found):3}, off {off:5.2f}, wide {wide:5.1f}, sure {sure:5,}, wrong {right:5,}")
    return f"{name:22} | " + " | ".join(parts)


def main() -> None:
    """Print the table, and write it where asked."""
    from cartograph.features.comparison import beside_words, comparison_features
    from cartograph.features.text import text_features

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", default="3,4")
    parser.add_argument("--rows", type=int, default=2000, help="most rows of a set")
    parser.add_argument("--output", type=Path, help="also write what is printed to this file")
    options = parser.parse_args()
    if not DATA.is_dir():
        sys.exit(f"benchmarks/decisions.py reads real data, which is not at {DATA}: name its folder in CARTOGRAPH_DATA")
    warnings.filterwarnings("ignore")
    found, without = [], 0
    for name in options.sets.split(","):
        for seed in (int(part) for part in options.seeds.split(",")):
            texts, given = read(name, options.rows, seed)
            classes, labels = np.unique(given, return_inverse=True)
            judgement, compared = judged(texts, labels), comparison_features(texts)
            features = text_features([row if len(row) > 1 else row[0] for row in texts])
            if compared is not None:
                features = beside_words(features, compared)
            for kind, share in [("none", 0.0), *((kind, share) for kind in KINDS for share in SHARES)]:
                rng = np.random.default_rng([seed, 1 + KINDS.index(kind) if share else 0, round(100 * share)])
                noised = plant(labels, judgement, share, kind, rng) if share else labels.copy()
                table, record, _ = by_committee(features, noised, len(classes), None, texts)
                if record["wrong"] is None:
                    without += 1
                    continue
                found += of_set(kind, table["probability"].to_numpy(), noised != labels, record["wrong"])
    lines = [
        f"{len(found) // len(LOOKED)} sets with a number, {without} without, at most {options.rows:,} rows each",
        "looked at, errors | before people looked | recalibrated",
    ]
    for looked in LOOKED:
        lines.append(line(f"{looked} all", [one for one in found if one.looked == looked]))
    for looked in LOOKED:
        for kind in ("none", *KINDS):
            of_kind = [one for one in found if one.looked == looked and one.kind == kind]
            lines += [line(f"{looked} {kind}", of_kind)] if of_kind else []
    print("\n".join(lines))
    if options.output:
        command = f"python {' '.join(sys.argv)}"
        options.output.write_text("\n".join([command, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

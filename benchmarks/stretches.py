"""Wrong labels that stand together in the file: with and without its order, beside cleanlab, which reads none.

`python benchmarks/stretches.py [--sets …] [--seeds 1,2,3] [--rows 2000] [--output FILE]`

Sets of texts (`benchmarks/label_sets.py`), words alone. In four ways labels are wrong in a stretch that begins somewhere in the file:

- half: in one row of ten every second label is any class, all others are right;
- quarter: in one row of five every fourth label is, all others are right;
- batch: in one row of twenty a third is, and 3 % of all others;
- shifted: in one row of ten each label is that of the row before, and 3 % of all others are wrong.

In five others there is no such stretch, and nothing must become worse: 6 % wrong, evenly, in rows by lot, by length, by alphabet, by class;
and `cut`: of one row of five only the first two words are left, all labels being right.

Average precision of the ranking, and precision and recall of what is listed at .5 or more (of `cut` how many rows are): ours without and
with the order, cleanlab on cross-validated regressions of the same words and characters (the best of its settings by loss; the better of
its two scores). What was chosen on what: that a stretch is believed, by arithmetic; which share of it must look wrong, on TREC, SST-2 and
customer reviews, other rows and another draw; Subj, Banking77 and SNLI are held out.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402
from cleanlab_peer import as_read, on_features, precision_of, surroundings  # noqa: E402
from fidelity import examples  # noqa: E402
from label_sets import read  # noqa: E402

from cartograph.suspects.among import scored  # noqa: E402
from cartograph.suspects.committee import reading_of  # noqa: E402

SETS = ("trec", "customer", "sst2", "subj", "banking77", "snli")
WAYS = ("half", "quarter", "batch", "shifted", "even", "length", "alphabet", "class", "cut")
STRETCH = {"half": (0.1, 0.5, 0.0), "quarter": (0.2, 0.25, 0.0), "batch": (0.05, 1 / 3, 0.03), "shifted": (0.1, 1.0, 0.03)}
EVEN = 0.06


def other(labels: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the labels, those of some rows any other class."""
    given, classes = labels.copy(), int(labels.max()) + 1
    given[rows] = (labels[rows] + rng.integers(1, classes, len(rows))) % classes
    return given


def planted(
    texts: list[tuple[str, ...]], labels: np.ndarray, way: str, rng: np.random.Generator
) -> tuple[list[tuple[str, ...]], np.ndarray]:
    """Return the texts and the labels as given, in the order of the file, and the labels that are right."""
    number = len(labels)
    if way in STRETCH:
        part, share, elsewhere = STRETCH[way]
        size = round(part * number)
        first = int(rng.integers(number - size))
        inside = np.arange(first, first + size)
        outside = np.setdiff1d(np.arange(number), inside)
        given = other(labels, rng.choice(outside, round(elsewhere * len(outside)), replace=False), rng)
        if way == "shifted":
            given[inside] = labels[inside - 1]
            return texts, given
        return texts, other(given, rng.choice(inside, round(share * size), replace=False), rng)
    if way == "cut":
        first = int(rng.integers(number - number // 5))
        return [
            tuple(" ".join(text.split()[:2]) for text in row) if first <= place < first + number // 5 else row
            for place, row in enumerate(texts)
        ], labels
    return texts, other(labels, rng.choice(number, round(EVEN * number), replace=False), rng)


def order_of(texts: list[tuple[str, ...]], labels: np.ndarray, way: str) -> np.ndarray:
    """Return where each row stands in the file."""
    by = {"length": [sum(map(len, row)) for row in texts], "alphabet": [" ".join(row) for row in texts], "class": labels.tolist()}
    keys = by.get(way)
    return np.arange(len(texts)) if keys is None else np.argsort(np.argsort(np.array(keys), kind="stable"), kind="stable")


def main() -> None:
    """Print a line per set and way, and means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--output", type=Path, help="also write what is printed to this file")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    lines: list[str] = []

    def say(text: str) -> None:
        print(text, flush=True)
        lines.append(text)
        if options.output:
            options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")

    say(f"python benchmarks/stretches.py, at most {options.rows:,} rows a set; {surroundings()}")
    say("mean over seeds of average precision | precision and recall of what is listed; of cut how many rows are | heard in")
    say(f"{'':<20} {'without':>8} {'with':>6} {'cleanlab':>9} | {'without':>9} {'with':>9} {'cleanlab':>9} |")
    found: dict[str, list[np.ndarray]] = {}
    for name in options.sets.split(","):
        for way in WAYS:
            seeds, heard = [], 0
            for seed in map(int, options.seeds.split(",")):
                texts, classes = read(name, options.rows, seed)
                names, labels = np.unique(classes, return_inverse=True)
                texts, given = planted(texts, labels, way, np.random.default_rng([seed, WAYS.index(way), 11]))
                table, wrong = examples(texts, given, list(names)), given != labels
                reading, numbers = reading_of(table), []
                for order in (None, order_of(texts, labels, way)):
                    doubt = scored(reading._replace(order=order), given, list(names), 5, np.random.default_rng(13)).doubt
                    numbers.append((precision_of(wrong, doubt.score) or 0.0, doubt.score >= 0.5))
                heard += bool(doubt.stretches)
                peer = on_features(as_read(reading.data, texts), given, wrong, seed)
                lists = [(int(rows.sum()), int((rows & wrong).sum())) for _, rows in numbers] + [(peer["listed"], peer["listed wrong"])]
                quick = [right / max(length, 1) if wrong.any() else length for length, right in lists]
                seeds.append(
                    np.array(
                        [numbers[0][0], numbers[1][0], peer["ap"] or 0.0, *quick, *(right / max(wrong.sum(), 1) for _, right in lists)]
                    )
                )
            mean = np.mean(seeds, axis=0)
            found.setdefault(way, []).append(mean)
            say(line(f"{name} {way}", mean, f"{heard} of {len(seeds)}"))
    for way in WAYS:
        say(line(f"mean {way}", np.mean(found[way], axis=0), ""))


def line(name: str, mean: np.ndarray, heard: str) -> str:
    """Return a set's numbers as a row of the table."""
    precision = "  ".join(f"{one:.3f}".lstrip("0").rjust(6) for one in mean[:3])
    if mean[:3].any():
        lists = "  ".join(f"{one:.2f}/{two:.2f}".replace("0.", ".").rjust(8) for one, two in zip(mean[3:6], mean[6:], strict=True))
    else:
        precision, lists = " " * len(precision), "  ".join(f"{one:.0f}".rjust(8) for one in mean[3:6])
    return f"{name:<20} {precision} | {lists} | {heard}"


if __name__ == "__main__":
    main()

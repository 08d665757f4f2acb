"""Wrong labels where somebody labels worse than others: with the column that says who labelled, without it, and cleanlab.

`python benchmarks/labellers.py [--sets …] [--seeds 1,2,3] [--rows 2000]`

Five sets of texts (`benchmarks/label_sets.py`), words alone. Eight people label a row each, drawn evenly, in six ways:

- rates: they go wrong in 1 to 40 % of their rows, any other class as often;
- always: one says one class of nine in ten rows, the others go wrong in 2 %;
- random: one answers by chance, the others go wrong in 3 %;
- even: all go wrong in 6 %;
- long: all go wrong in 6 %, and who labels follows from how long the text is, so that some have harder rows;
- classes: all go wrong in 6 %, and seven of ten rows are given by class.

The first three have something to find, the last three must not become worse. Average precision of the ranking, and what is listed at .5
or more: ours without and with the column, cleanlab on the same matrix's cross-validated regression (the best of four penalties by loss; its
self-confidence), and cleanlab's ranking as a user would mend it by hand: rows of those first of whose rows it lists the largest share. What
was chosen on what: the range of the factors, how they are held to 1, and the test that all are alike, on TREC, customer reviews, Subj and
Banking77, seeds 0 and 1 of another draw; SST-2 is held out.
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
from cleanlab_peer import issues, precision_of, regression, surroundings  # noqa: E402
from label_sets import read  # noqa: E402

from cartograph.features.text import text_features  # noqa: E402
from cartograph.suspects.committee import committee_scores  # noqa: E402

SETS = ("trec", "customer", "subj", "banking77", "sst2")
WAYS = ("rates", "always", "random", "even", "long", "classes")
PEOPLE = 8
RATES = np.array([0.01, 0.02, 0.02, 0.03, 0.03, 0.05, 0.15, 0.4])


def planted(labels: np.ndarray, lengths: np.ndarray, way: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels as given, and who gave them."""
    n_classes, number = int(labels.max()) + 1, len(labels)
    who, worst = rng.integers(PEOPLE, size=number), PEOPLE - 1
    if way == "long":
        who = np.argsort(np.argsort(lengths, kind="stable"), kind="stable") * PEOPLE // number
    elif way == "classes":
        who = np.where(rng.random(number) < 0.7, labels % PEOPLE, who)
    rates = {"rates": RATES[who], "always": np.full(number, 0.02), "random": np.full(number, 0.03)}.get(way, np.full(number, 0.06))
    given = np.where(rng.random(number) < rates, (labels + rng.integers(1, n_classes, number)) % n_classes, labels)
    if way == "always":
        given = np.where((who == worst) & (rng.random(number) < 0.9), 0, given)
    elif way == "random":
        given = np.where(who == worst, rng.integers(n_classes, size=number), given)
    return given, who


def by_people(score: np.ndarray, listed: np.ndarray, who: np.ndarray) -> np.ndarray:
    """Return a ranking in which rows of those come first of whose rows the largest share is listed."""
    share = np.bincount(who, weights=listed, minlength=PEOPLE) / np.maximum(np.bincount(who, minlength=PEOPLE), 1)
    order = np.lexsort((score, share[who]))
    rank = np.empty(len(score))
    rank[order] = np.arange(len(score))
    return rank


def main() -> None:
    """Print a line per set and way, and means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--rows", type=int, default=2000)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    print(surroundings())
    print("mean over seeds of average precision | precision and recall of what is listed at .5 or more")
    print(f"{'':<20} {'ours':>6} {'+ who':>6} {'cleanlab':>9} {'+ who':>6} | {'ours':>9} {'+ who':>9} {'cleanlab':>9} | used in")
    found: dict[str, list[np.ndarray]] = {}
    for name in options.sets.split(","):
        for way in WAYS:
            seeds, used = [], 0
            for seed in map(int, options.seeds.split(",")):
                texts, classes = read(name, options.rows, seed)
                names, labels = np.unique(classes, return_inverse=True)
                rng = np.random.default_rng([seed, WAYS.index(way), 7])
                given, who = planted(labels, np.array([len(text[0]) for text in texts]), way, rng)
                features, wrong = text_features([text[0] for text in texts]), given != labels
                doubts = [
                    committee_scores(features, given, list(names), np.random.default_rng(13), labellers=people).doubt
                    for people in (None, who)
                ]
                used += bool(doubts[1].labellers_differ)
                shares = regression([features], given, seed)
                listed = issues(given, shares)
                quality = -shares[np.arange(len(given)), given]
                scores = [*(doubt.score for doubt in doubts), quality, by_people(quality, listed, who)]
                lists = [*(doubt.score >= 0.5 for doubt in doubts), listed]
                quick = [wrong[rows].mean() if rows.any() else 0.0 for rows in lists], [wrong[rows].sum() / wrong.sum() for rows in lists]
                seeds.append(np.array([*(precision_of(wrong, score) or 0.0 for score in scores), *quick[0], *quick[1]]))
            mean = np.mean(seeds, axis=0)
            found.setdefault(way, []).append(mean)
            _say(f"{name} {way}", mean, f"{used} of {len(seeds)}")
    for way in WAYS:
        _say(f"mean {way}", np.mean(found[way], axis=0), "")


def _say(name: str, mean: np.ndarray, used: str) -> None:
    precision = "  ".join(f"{one:.3f}".lstrip("0").rjust(5) for one in mean[:4])
    lists = "  ".join(f"{one:.2f}/{other:.2f}".replace("0.", ".").rjust(8) for one, other in zip(mean[4:7], mean[7:10], strict=True))
    print(f"{name:<20} {precision} | {lists} | {used}", flush=True)


if __name__ == "__main__":
    main()

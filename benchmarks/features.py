"""Planted label errors in real tables of features: the committee's ranking beside cleanlab's, as average precision.

`python benchmarks/features.py [--seeds 1,2,3] [--sets breast-cancer,wine,digits] [--output FILE]`

Data: the three tables that scikit-learn brings along, whole: breast cancer (569 rows, 30 numbers), wine (178, 13) and digits (1,797, 64).
Choices of the committee for tables were made on breast cancer and on made tables alone; wine and digits were held out. Errors: 5 % and 20 %
of the labels, uniformly to another class; or one-way, of one class to the next alone (at most half of that class). Ours: the doubt of the
step `noise`, from boosted trees, a forest, discriminants and neighbours, five folds. cleanlab: label quality scores of probabilities
that were cross-validated in the *same* folds, by scikit-learn's HistGradientBoosting and by logistic regression on standardised columns, at
their defaults; of its four ways to score (self-confidence and normalised margin, each with and without adjusted probabilities) the best of
each cell is taken.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
from cleanlab_peer import best_ranking, surroundings  # noqa: E402

SETS = ("breast-cancer", "wine", "digits")
SHARES, KINDS, FOLDS = (0.05, 0.2), ("uniform", "one-way"), 5
NAMES = ("Cartograph", "cleanlab, boosting", "cleanlab, linear")


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a table's numbers and its labels."""
    from sklearn import datasets

    bundle = {"breast-cancer": datasets.load_breast_cancer, "wine": datasets.load_wine, "digits": datasets.load_digits}[name]()
    return bundle.data, bundle.target.astype(np.int64)


def flipped(labels: np.ndarray, share: float, kind: str, seed: int) -> np.ndarray:
    """Return the labels with a share of them wrong."""
    rng, classes, given = np.random.default_rng([seed, 7]), int(labels.max()) + 1, labels.copy()
    number = round(share * len(labels))
    if kind == "uniform":
        chosen = rng.choice(len(labels), number, replace=False)
        given[chosen] = (labels[chosen] + rng.integers(1, classes, number)) % classes
        return given
    pool = np.flatnonzero(labels == seed % classes)
    chosen = rng.choice(pool, min(number, len(pool) // 2), replace=False)
    given[chosen] = (labels[chosen] + 1) % classes
    return given


def examples(values: np.ndarray, labels: np.ndarray) -> pa.Table:
    """Return the rows as `ingest` makes them."""
    import pandas as pd

    from cartograph.frames.rows import read_rows

    frame = pd.DataFrame(values, columns=[f"c{place}" for place in range(values.shape[1])])
    return read_rows(frame.assign(label=labels.astype(str)), (), "label", list(frame.columns)).ingested.examples


def cross_validated(make: Callable[[], Any], values: np.ndarray, labels: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Return the class probabilities of each row by a model of the other folds."""
    found = np.zeros((len(labels), int(labels.max()) + 1))
    for part in range(FOLDS):
        model = make().fit(values[fold != part], labels[fold != part])
        found[np.ix_(fold == part, model.classes_)] = model.predict_proba(values[fold == part])
    return found


def cell(name: str, share: float, kind: str, seed: int) -> list[float]:
    """Return the average precision of each method on one set, one kind of errors and one seed."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from cartograph.data.folds import assign_folds
    from cartograph.statistics.metrics import average_precision
    from cartograph.suspects.committee import committee_scores, reading_of

    values, labels = load(name)
    given = flipped(labels, share, kind, seed)
    wrong, classes = given != labels, int(labels.max()) + 1
    fold = assign_folds(given, FOLDS, np.random.default_rng([13, 1]))
    reading = reading_of(examples(values, given))
    rng = np.random.default_rng([13, 3])
    own = committee_scores(
        reading.data, given, [str(label) for label in range(classes)], rng, folds=fold, vectors=reading.vectors, trees=reading.trees
    )
    boosting = cross_validated(lambda: HistGradientBoostingClassifier(random_state=0), values, given, fold)
    linear = cross_validated(lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)), values, given, fold)
    return [average_precision(wrong, own.doubt.score), best_ranking(boosting, given, wrong), best_ranking(linear, given, wrong)]


def main() -> None:
    """Run the grid and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    beside = surroundings()
    seeds, lines = [int(seed) for seed in given.seeds.split(",")], []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    say(f"# python benchmarks/features.py --seeds {given.seeds} --sets {given.sets}")
    say(beside)
    say(f"Average precision of the planted errors, mean of seeds {given.seeds}")
    say(f"{'set':<15}{'errors':<15}" + "".join(f"{name:>20}" for name in NAMES))
    everything, started = [], time.perf_counter()
    for name in given.sets.split(","):
        of_set = []
        for share in SHARES:
            for kind in KINDS:
                found = np.array([cell(name, share, kind, seed) for seed in seeds])
                of_set.append(found)
                say(f"{name:<15}{f'{100 * share:.0f} % {kind}':<15}" + "".join(f"{value:>20.3f}" for value in found.mean(axis=0)))
        say(f"{name:<15}{'mean':<15}" + "".join(f"{value:>20.3f}" for value in np.concatenate(of_set).mean(axis=0)))
        everything += of_set
    if everything:
        whole = np.concatenate(everything)
        say(f"{'all':<15}{'mean':<15}" + "".join(f"{value:>20.3f}" for value in whole.mean(axis=0)))
        seconds = time.perf_counter() - started
        ahead = (whole[:, :1] > whole[:, 1:]).mean(axis=0)
        say(f"Ahead of the two in {100 * ahead[0]:.0f} % and {100 * ahead[1]:.0f} % of {len(whole)} cells; {seconds:.0f} s")
    if given.output:
        given.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

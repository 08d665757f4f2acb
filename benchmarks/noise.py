"""Average precision and seconds of our suspects on planted label errors, beside low confidence, AUM and cleanlab.

`python benchmarks/noise.py [--seeds 1,2,3] [--no-bow] [--output FILE]`

Data: TREC (5,452 train questions, coarse classes), Subj (10,000) and SST-2 (6,920 train sentences), read from CARTOGRAPH_DATA or
../shared/data. Planted: 5 %, 10 % and 20 % of the labels flipped, `uniform` (every row alike, to any other class) or `class`
(class-dependent: the classes' rates run from half to one and a half times the share, in an order drawn by seed, and
80 % of a class's flips go to the class it is most often mistaken for). Every number is the mean over the seeds.

cleanlab is no dependency of Cartograph; for this: `pip install -c constraints.txt -e '.[bench]'`. It gets the out-of-fold
probabilities of scikit-learn's LogisticRegression, five stratified folds, on the very TF-IDF matrix that ours gets. `best` is the
better of its two label quality scores (self-confidence, its default, and normalized margin), chosen per cell with the planted truth in
hand, which no user has; `adjusted` the better of the two with `adjust_pred_probs=True`. Goal: ahead of `best` in every
cell, by .05 on average, in no more than twice its time. Seconds are of one thread, the features' own not counted (shown apart).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

DATA = Path(os.environ.get("CARTOGRAPH_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SHARES, KINDS, FOLDS = (0.05, 0.10, 0.20), ("uniform", "class"), 5
OURS, BEST, ADJUSTED = "ours", "cleanlab best", "cleanlab adjusted"
BOW = ("bow low confidence", "bow low AUM")
COLUMNS = (OURS, "ours, 1 - p", *BOW, BEST, ADJUSTED, "cleanlab on our p", "our doubt on its p")


def read(name: str) -> tuple[list[str], list[str]]:
    """Return the texts and label names of a set."""
    file, encoding = {
        "trec": ("trec/TREC.train", "latin-1"),
        "subj": ("subj/subj.all", "latin-1"),
        "sst2": ("sst2/stsa.binary.train", "utf-8"),
    }[name]
    lines = [line for line in (DATA / file).read_text(encoding=encoding).split("\n") if line.strip()]
    labels, texts = zip(*(line.split(" ", 1) for line in lines), strict=True)
    return list(texts), [label.split(":")[0] for label in labels]


def confusable(texts: list[str], labels: np.ndarray) -> np.ndarray:
    """Return for each class the one it is most often mistaken for, by cross-validated naive Bayes on the true labels."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import confusion_matrix
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import ComplementNB

    table = confusion_matrix(labels, cross_val_predict(ComplementNB(), CountVectorizer().fit_transform(texts), labels, cv=FOLDS))
    np.fill_diagonal(table, -1)
    return table.argmax(axis=1)


def plant(labels: np.ndarray, mistaken_for: np.ndarray, share: float, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return noised labels and which rows were flipped."""
    n_classes, number = len(mistaken_for), round(share * len(labels))
    weight = np.ones(len(labels)) if kind == "uniform" else np.linspace(0.5, 1.5, n_classes)[rng.permutation(n_classes)][labels]
    rows = rng.choice(len(labels), number, replace=False, p=weight / weight.sum())
    wrong = (labels[rows] + rng.integers(1, n_classes, number)) % n_classes
    if kind == "class":
        wrong = np.where(rng.random(number) < 0.8, mistaken_for[labels[rows]], wrong)
    noised, planted = labels.copy(), np.zeros(len(labels), dtype=bool)
    noised[rows], planted[rows] = wrong, True
    return noised, planted


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the seconds it took."""
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def cleanlab_scores(probabilities: np.ndarray, labels: np.ndarray, *, adjusted: bool) -> list[np.ndarray]:
    """Return cleanlab's suspicion by self-confidence and by normalized margin; higher = more suspect."""
    from cleanlab.rank import get_label_quality_scores

    methods = ("self_confidence", "normalized_margin")
    return [-get_label_quality_scores(labels, probabilities, method=method, adjust_pred_probs=adjusted) for method in methods]


def bow_scores(texts: list[str], labels: np.ndarray, classes: list[str], seed: int) -> dict[str, np.ndarray]:
    """Return low confidence and low AUM of the bag-of-words model's in-sample dynamics; higher = more suspect."""
    import pyarrow as pa

    from cartograph.dynamics.epoch_files import read_dynamics
    from cartograph.maps.measures import compute_measures
    from cartograph.schema import DatasetInfo, examples_schema
    from cartograph.train.fit import fit
    from cartograph.train.recipe import Recipe

    info = DatasetInfo("train", "train", "single", ("text",), (), tuple(classes))
    uids = [f"{row:06}" for row in range(len(texts))]
    columns = [uids, texts, labels.astype(np.int32), ["benchmark"] * len(texts), np.arange(1, len(texts) + 1)]
    with tempfile.TemporaryDirectory() as folder:
        fitted = fit(Recipe(seed=seed, threads=1), pa.table(columns, schema=examples_schema(info)), {}, folder)
        dynamics = read_dynamics(fitted.dynamics)
    measures = compute_measures(dynamics.uids, dynamics.logits, dynamics.gold)
    assert list(dynamics.uids) == uids
    return dict(zip(BOW, (-measures.confidence, -measures.aum), strict=True))


def run(
    texts: list[str], features: Any, noised: np.ndarray, planted: np.ndarray, classes: list[str], seed: int, bow: bool
) -> dict[str, float]:
    """Return every method's average precision on one noised set, and seconds under `seconds …`."""
    from cleanlab.rank import get_label_quality_scores
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import average_precision_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    from cartograph.suspects.committee import committee_scores
    from cartograph.suspects.label_doubt import label_doubt

    def precision(score: np.ndarray) -> float:
        return float(average_precision_score(planted, score))

    def cross_validated() -> np.ndarray:
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        return cross_val_predict(LogisticRegression(max_iter=1000), features, noised, cv=folds, method="predict_proba")

    ours, seconds = timed(lambda: committee_scores(features, noised, classes, np.random.default_rng(seed), folds=FOLDS))
    theirs, seconds_theirs = timed(cross_validated)
    _, seconds_rank = timed(lambda: get_label_quality_scores(noised, theirs))
    result = {
        OURS: precision(ours.doubt.score),
        "ours, 1 - p": precision(-ours.probabilities[np.arange(len(noised)), noised]),
        BEST: max(map(precision, cleanlab_scores(theirs, noised, adjusted=False))),
        ADJUSTED: max(map(precision, cleanlab_scores(theirs, noised, adjusted=True))),
        "cleanlab on our p": max(map(precision, cleanlab_scores(ours.probabilities, noised, adjusted=False))),
        "our doubt on its p": precision(label_doubt(theirs, noised).score),
        "seconds ours": seconds,
        "seconds cleanlab": seconds_theirs + seconds_rank,
    }
    if bow:
        scores, result["seconds bow"] = timed(lambda: bow_scores(texts, noised, classes, seed))
        result |= {name: precision(score) for name, score in scores.items()}
    return result


def cells(seeds: list[int], bow: bool) -> Iterator[tuple[str, list[dict[str, float]], float]]:
    """Yield each cell's name, its results per seed, and the seconds that its features took."""
    from cartograph.features.text import text_features

    for name in ("trec", "subj", "sst2"):
        texts, names = read(name)
        classes, labels = np.unique(names, return_inverse=True)
        features, seconds = timed(lambda texts=texts: text_features(texts))
        mistaken_for = confusable(texts, labels)
        for kind in KINDS:
            for share in SHARES:
                results = []
                for seed in seeds:
                    rng = np.random.default_rng([seed, round(100 * share), KINDS.index(kind)])
                    noised, planted = plant(labels, mistaken_for, share, kind, rng)
                    results.append(run(texts, features, noised, planted, list(classes), seed, bow))
                yield f"{name} {kind} {share:.0%}", results, seconds


def main() -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="1,2,3", help="comma-separated (default: 1,2,3)")
    parser.add_argument("--no-bow", action="store_true", help="leave out the bag-of-words model's dynamics, which take most of the time")
    parser.add_argument("--output", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    try:
        import cleanlab
    except ImportError:
        sys.exit("benchmarks/noise.py compares with cleanlab, which is not installed: pip install -c constraints.txt -e '.[bench]'")
    if not DATA.is_dir():
        sys.exit(f"benchmarks/noise.py reads real data, which is not at {DATA}: name its folder in CARTOGRAPH_DATA")
    warnings.filterwarnings("ignore")
    seeds, lines = [int(seed) for seed in options.seeds.split(",")], []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    shown = [column for column in COLUMNS if not (options.no_bow and column in BOW)]
    say(f"Average precision on planted label errors, mean over seeds {options.seeds}; cleanlab {cleanlab.__version__}")
    say(" | ".join([f"{'':17}", *shown, "gain", "seeds ahead", "seconds ours", "seconds cleanlab"]))
    rows = []
    for name, results, seconds in cells(seeds, not options.no_bow):
        mean = {key: float(np.mean([result[key] for result in results])) for key in results[0]}
        # The better of the two scores by the mean over seeds would be lower: per seed is the stricter comparison.
        mean["gain"], mean["features"] = mean[OURS] - mean[BEST], seconds
        mean["ahead"] = sum(result[OURS] > result[BEST] for result in results)
        rows.append(mean)
        numbers = [f"{mean[column]:{len(column)}.3f}" for column in shown]
        say(
            " | ".join(
                [
                    f"{name:17}",
                    *numbers,
                    f"{mean['gain']:+.3f}",
                    f"{mean['ahead']:>7} of {len(seeds)}",
                    f"{mean['seconds ours']:12.2f}",
                    f"{mean['seconds cleanlab']:16.2f}",
                ]
            )
        )
    average = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    say(" | ".join([f"{'mean':17}", *(f"{average[column]:{len(column)}.3f}" for column in shown), f"{average['gain']:+.3f}"]))
    won, won_adjusted = (sum(row[OURS] > row[other] for row in rows) for other in (BEST, ADJUSTED))
    strictest = [row[OURS] - max(row[BEST], row[ADJUSTED]) for row in rows]
    least = min(row["gain"] for row in rows)
    say(f"ahead of cleanlab best in {won} of {len(rows)} cells, of cleanlab adjusted in {won_adjusted}; smallest gain {least:+.3f}")
    say(f"against the best of cleanlab's four scores, per cell: mean gain {np.mean(strictest):+.3f}, smallest {min(strictest):+.3f}")
    ratios = [row["seconds ours"] / row["seconds cleanlab"] for row in rows]
    ours, theirs, features = average["seconds ours"], average["seconds cleanlab"], average["features"]
    with_features = f"{(ours + features) / (theirs + features):.2f} with the features' {features:.2f} s on both sides"
    say(f"seconds, ours / cleanlab: {ours / theirs:.2f} in all, {with_features}, worst cell {max(ratios):.2f}")
    if not options.no_bow:
        say(f"seconds of training the bag of words, 8 epochs: {average['seconds bow']:.1f}")
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

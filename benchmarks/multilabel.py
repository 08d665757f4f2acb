"""Planted errors in rows with several labels: the suspects beside cleanlab's, as average precision over every yes and no.

`python benchmarks/multilabel.py [--seeds 1,2,3] [--sets topics,intents,questions,made,digits] [--output FILE]`

Sets, at most 2,000 rows: ``topics``, generated texts of eight topics, rare and frequent, half of them going with another; ``intents``,
banking77's questions by twelve words of their class's name (card, transfer, …); ``questions``, TREC by its six coarse and its frequent
fine classes; ``made``, scikit-learn's ``make_multilabel_classification``, 20 numbers and six labels; ``digits``, scikit-learn's, by
what is true of a digit (even, prime, above four, has a loop, has no curve). Choices were made on ``topics``, ``intents`` and, with linear
models alone, ``digits``; ``questions`` and ``made`` were held out. ``intents`` and ``questions`` need real data (``CARTOGRAPH_DATA``) and
are left out without.

Errors: ``even``, 5 % and 20 % of all yes and no turned; ``of yes``, 5 % and 20 % of each label's yes turned to no, and as many no to yes;
or ``rows``, 5 % and 20 % of the rows given the labels of another of these rows, so that errors of a row go together. Ours:
``several_doubts``, as `cartograph.audit(…, labels=…)` has it. cleanlab: label quality scores per class, the best of its four ways to score
(self-confidence and normalised margin, each with and without adjusted probabilities) in each cell; on our out-of-fold probabilities, and on
those of one-against-rest models in five folds, the better of two in each cell: of texts logistic regressions (C = 1 and C = 10) on TF-IDF
of words and pairs, of tables boosting and logistic regression. Rows: average precision of rows with any error, ours by the highest doubt,
cleanlab's by its own aggregates. Lists: F1 of what is listed, ours from .5 on, cleanlab's by ``find_multilabel_issues_per_class`` (the best
of four of its filters). Each in one thread.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from cleanlab_peer import best_of_several_labels, surroundings  # noqa: E402
from real_data import DATA  # noqa: E402

SETS, REAL = ("topics", "intents", "questions", "made", "digits"), ("intents", "questions")
SHARES, KINDS, FOLDS, ROWS = (0.05, 0.2), ("even", "of yes", "rows"), 5, 2_000
NAMES = ("Cartograph", "cleanlab, ours", "cleanlab, own")
INTENTS = ("card", "transfer", "top_up", "payment", "cash", "exchange", "pending", "declined", "identity", "pin", "fee", "balance")


def topics(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return generated texts with words of each of their topics, and which topics they have."""
    rng = np.random.default_rng([seed, 1])
    rates = np.array([0.35, 0.25, 0.2, 0.15, 0.12, 0.1, 0.07, 0.04])
    labels = np.zeros((ROWS, len(rates)), dtype=np.int64)
    for label, rate in enumerate(rates):
        before = labels[:, label - 1] if label % 2 else None
        chance = rate if before is None else np.where(before == 1, min(3 * rate, 0.9), 0.4 * rate)
        labels[:, label] = rng.random(ROWS) < chance
    own, other = (1 / np.arange(1, number + 1) ** power for number, power in ((40, 0.7), (1500, 0.8)))
    own, other = own / own.sum(), other / other.sum()
    texts = []
    for row in labels:
        words = [f"w{word}" for word in rng.choice(1500, rng.integers(10, 25), p=other)]
        for label, there in enumerate(row):
            number = rng.integers(1, 4) if there else int(rng.random() < 0.08)
            words += [f"t{label}x{word}" for word in rng.choice(40, number, p=own)]
        texts.append(" ".join(rng.permutation(words)))
    return pd.DataFrame({"text": texts}), labels


def intents(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return banking77's questions, and which words the name of their class has."""
    with (DATA / "banking77" / "train.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    chosen = [rows[row] for row in np.random.default_rng([seed, 2]).choice(len(rows), ROWS, replace=False)]
    labels = np.array([[word in row["category"] for word in INTENTS] for row in chosen], dtype=np.int64)
    return pd.DataFrame({"text": [row["text"] for row in chosen]}), labels


def questions(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return TREC's questions, and which of its six coarse and its frequent fine classes they have."""
    lines = (DATA / "trec" / "TREC.train").read_text(encoding="latin-1").splitlines()
    chosen = [lines[row].split(" ", 1) for row in np.random.default_rng([seed, 3]).choice(len(lines), ROWS, replace=False)]
    sets = [{kind.split(":")[0], kind} for kind, _ in chosen]
    counts = pd.Series([label for row in sets for label in row]).value_counts()
    kept = sorted(counts.index[counts >= 60])
    labels = np.array([[label in row for label in kept] for row in sets], dtype=np.int64)
    return pd.DataFrame({"text": [text for _, text in chosen]}), labels


def made(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return scikit-learn's made table."""
    from sklearn.datasets import make_multilabel_classification

    values, labels = make_multilabel_classification(ROWS, 20, n_classes=6, n_labels=2, random_state=seed)
    return pd.DataFrame(values, columns=[f"c{place}" for place in range(20)]), labels.astype(np.int64)


def digits(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return 1,200 of scikit-learn's digits, and what is true of each."""
    from sklearn.datasets import load_digits

    bundle = load_digits()
    rows = np.random.default_rng([seed, 4]).choice(len(bundle.target), 1200, replace=False)
    digit = bundle.target[rows]
    true_of = ((0, 2, 4, 6, 8), (2, 3, 5, 7), (5, 6, 7, 8, 9), (0, 6, 8, 9), (1, 4, 7))
    labels = np.stack([np.isin(digit, members) for members in true_of], axis=1).astype(np.int64)
    return pd.DataFrame(bundle.data[rows], columns=[f"c{place}" for place in range(64)]), labels


LOADERS: dict[str, Callable[[int], tuple[pd.DataFrame, np.ndarray]]] = {
    "topics": topics,
    "intents": intents,
    "questions": questions,
    "made": made,
    "digits": digits,
}


def planted(labels: np.ndarray, share: float, kind: str, seed: int) -> np.ndarray:
    """Return the labels with some of them turned."""
    rng, given = np.random.default_rng([seed, 7]), labels.copy()
    if kind == "even":
        return np.where(rng.random(labels.shape) < share, 1 - labels, labels)
    if kind == "rows":
        chosen = rng.choice(len(labels), round(share * len(labels)), replace=False)
        given[chosen] = labels[np.roll(chosen, 1)]
        return given
    for label, column in enumerate(labels.T):
        yes, no = np.flatnonzero(column == 1), np.flatnonzero(column == 0)
        number = round(share * len(yes))
        given[rng.choice(yes, number, replace=False), label] = 0
        given[rng.choice(no, number, replace=False), label] = 1
    return given


def cross_validated(make: Callable[[], Any], values: Any, given: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Return each row's probability of yes for each label by a model of the other folds."""
    found = np.zeros(given.shape)
    for label, column in enumerate(given.T):
        for part in range(FOLDS):
            model = make().fit(values[fold != part], column[fold != part])
            found[fold == part, label] = model.predict_proba(values[fold == part])[:, list(model.classes_).index(1)]
    return found


def own_probabilities(frame: pd.DataFrame, given: np.ndarray, seed: int) -> list[np.ndarray]:
    """Return probabilities by the models that cleanlab's users would take."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    fold = np.random.default_rng([seed, 8]).permutation(len(given)) % FOLDS
    if "text" in frame:
        words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True).fit_transform(frame["text"])
        return [cross_validated(lambda c=c: LogisticRegression(C=c, max_iter=1000), words, given, fold) for c in (1.0, 10.0)]
    values = frame.to_numpy()
    linear = cross_validated(lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)), values, given, fold)
    return [cross_validated(lambda: HistGradientBoostingClassifier(random_state=0), values, given, fold), linear]


def cell(name: str, share: float, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, method by method, the three numbers of one set, one kind of errors and one seed; what else is known of ours; and seconds."""
    from sklearn.metrics import f1_score

    from cartograph.frames.label_rows import read_label_rows
    from cartograph.schema import LABEL_SET
    from cartograph.statistics.metrics import average_precision
    from cartograph.suspects.committee import reading_of
    from cartograph.suspects.several_labels import several_doubts

    frame, labels = LOADERS[name](seed)
    given = planted(labels, share, kind, seed)
    names = [f"label{label}" for label in range(labels.shape[1])]
    whole = frame.assign(**{label: given[:, place] for place, label in enumerate(names)})
    started = time.perf_counter()
    rows = read_label_rows(whole, "text" if "text" in frame else (), names, "text" not in frame)
    doubts = several_doubts(reading_of(rows.examples.drop_columns([LABEL_SET])), rows.given, rows.names, 13)
    ours = time.perf_counter() - started
    places, kept = rows.places, rows.audited
    own_labels, own_given = labels[np.ix_(places, kept)], rows.given
    wrong = own_given != own_labels
    flagged = doubts.score >= 0.5
    mine = np.array(
        [
            average_precision(wrong.ravel(), doubts.score.ravel()),
            average_precision(wrong.any(axis=1), doubts.score.max(axis=1)),
            f1_score(wrong.ravel(), flagged.ravel(), zero_division=0.0),
        ]
    )
    total = doubts.together.wrong
    inside = [bool(each.wrong.low <= wrong[:, place].sum() <= each.wrong.high) for place, each in enumerate(doubts.labels) if each.wrong]
    sure = doubts.score >= 0.8 if total is not None else np.zeros_like(flagged)
    known = np.array(
        [
            np.nan if total is None else float(total.low <= wrong.sum() <= total.high),
            float(np.mean(inside)) if inside else np.nan,
            (wrong.sum() - (wrong & sure).sum() + (sure & ~wrong).sum()) / wrong.sum(),
        ]
    )
    own = frame.iloc[places].reset_index(drop=True)
    started = time.perf_counter()
    theirs = np.max(
        [best_of_several_labels(probabilities, own_given, wrong) for probabilities in own_probabilities(own, own_given, seed)], axis=0
    )
    seconds = np.array([ours, time.perf_counter() - started])
    return np.stack([mine, best_of_several_labels(doubts.probabilities, own_given, wrong), theirs]), known, seconds


def main() -> None:
    """Run the grid and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    beside = surroundings()
    warnings.filterwarnings("ignore")
    seeds, lines = [int(seed) for seed in options.seeds.split(",")], []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    say(f"# python benchmarks/multilabel.py --seeds {options.seeds} --sets {options.sets}")
    say(beside)
    say(
        f"Means of seeds {options.seeds}: average precision of the planted errors over every yes and no; over rows with any; "
        "F1 of the lists"
    )
    say(f"{'set':<11}{'errors':<13}" + "".join(f"{name:>23}" for name in NAMES) + "  inside: all, labels  left")
    say("inside: how often the number of wrong labels is within the interval; left: wrong labels after cleaning, of those before")
    everything, times = [], []
    for name in options.sets.split(","):
        if name in REAL and not DATA.is_dir():
            say(f"{name:<11}left out: it reads real data, which is not at the folder that CARTOGRAPH_DATA names")
            continue
        of_set = []
        for share in SHARES:
            for kind in KINDS:
                cells = [cell(name, share, kind, seed) for seed in seeds]
                found, known = np.array([each[0] for each in cells]), np.array([each[1] for each in cells])
                times += [each[2] for each in cells]
                of_set.append(found)
                shown = "".join(f"{'  '.join(f'{value:.3f}' for value in method):>23}" for method in found.mean(axis=0))
                inside, of_labels, left = np.nanmean(known, axis=0)
                say(f"{name:<11}{f'{100 * share:.0f} % {kind}':<13}{shown}{inside:>13.2f}{of_labels:>8.2f}{left:>6.2f}")
        shown = "".join(f"{'  '.join(f'{value:.3f}' for value in method):>23}" for method in np.concatenate(of_set).mean(axis=0))
        say(f"{name:<11}{'mean':<13}{shown}")
        everything += of_set
    if everything:
        whole = np.concatenate(everything)
        shown = "".join(f"{'  '.join(f'{value:.3f}' for value in method):>23}" for method in whole.mean(axis=0))
        say(f"{'all':<11}{'mean':<13}{shown}")
        ahead = 100 * (whole[:, :1, 0] > whole[:, 1:, 0]).mean(axis=0)
        rise = whole[:, 0, 0].mean() / whole[:, 1:, 0].mean(axis=0)
        say(f"Ahead in {ahead[0]:.0f} % and {ahead[1]:.0f} % of {len(whole)} cells; ratio of the means {rise[0]:.3f} and {rise[1]:.3f}")
        seconds = np.array(times).mean(axis=0)
        say(f"Seconds a cell: ours {seconds[0]:.1f}, cleanlab with its own models {seconds[1]:.1f}")
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

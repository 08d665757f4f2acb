"""The sets of `benchmarks/noise.py`, and the ways in which it makes their labels wrong."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable

import numpy as np
from real_data import DATA

_FINE = 30

KINDS = ("uniform", "one-way", "instance", "annotator")

Rows = tuple[list[tuple[str, ...]], list[str]]


def _label_first(name: str, encoding: str) -> Rows:
    lines = [line.split(" ", 1) for line in (DATA / name).read_text(encoding=encoding).split("\n") if line.strip()]
    return [(text,) for _, text in lines], [label for label, _ in lines]


def _trec() -> Rows:
    texts, labels = _label_first("trec/TREC.train", "latin-1")
    return texts, [label.split(":")[0] for label in labels]


def _banking77() -> Rows:
    with (DATA / "banking77/train.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [(row["text"],) for row in rows], [row["category"] for row in rows]


def _snli() -> Rows:
    fields = [(DATA / "snli" / f"{name}.dev").read_text(encoding="utf-8").splitlines() for name in ("s1", "s2", "labels")]
    rows = [row for row in zip(*fields, strict=True) if row[2] in ("entailment", "neutral", "contradiction")]
    return [row[:2] for row in rows], [row[2] for row in rows]


def _qnli() -> Rows:
    lines = (DATA / "qnli/dev.tsv").read_text(encoding="utf-8").split("\n")[1:]
    rows = [parts for line in lines if len(parts := line.split("\t")) == 4]
    return [(row[1], row[2]) for row in rows], [row[3] for row in rows]


def _wikiqa() -> Rows:
    lines = (DATA / "wikiqa/WikiQASent-train.txt").read_text(encoding="utf-8").split("\n")
    rows = [parts for line in lines if len(parts := line.split("\t")) == 3]
    return [(row[0], row[1]) for row in rows], [row[2] for row in rows]


SETS: dict[str, Callable[[], Rows]] = {
    "trec": _trec,
    "customer": lambda: _label_first("customer_reviews/custrev.all", "latin-1"),
    "banking77": _banking77,
    "sst2": lambda: _label_first("sst2/stsa.binary.train", "utf-8"),
    "subj": lambda: _label_first("subj/subj.all", "latin-1"),
    "snli": _snli,
    "qnli": _qnli,
    "wikiqa": _wikiqa,
}


def _trec_fine() -> Rows:
    texts, labels = _label_first("trec/TREC.train", "latin-1")
    rows = Counter(labels)
    frequent = [place for place, label in enumerate(labels) if rows[label] >= _FINE]
    return [texts[place] for place in frequent], [labels[place] for place in frequent]


MANY_CLASSES: dict[str, Callable[[], Rows]] = {"banking77": _banking77, "trec-fine": _trec_fine}
"""Sets of ten classes and more; of TREC's finer classes those of ``_FINE`` rows and more."""


def read(name: str, rows: int, seed: int) -> Rows:
    """Return the distinct texts of a set, blank ones left out, with the label that stands first; at most so many, drawn by seed."""
    texts, labels = (SETS | MANY_CLASSES)[name]()
    first = dict(zip(reversed(texts), reversed(labels), strict=True))
    texts = [row for row in dict.fromkeys(texts) if all(text.strip() for text in row)]
    order = np.random.default_rng([seed, 0]).permutation(len(texts))[:rows]
    return [texts[row] for row in order], [first[texts[row]] for row in order]


def judged(texts: list[tuple[str, ...]], labels: np.ndarray) -> np.ndarray:
    """Return class probabilities of each row by naive Bayes on character n-grams, cross-validated.

    Whom it mistakes, the committee's own reader of characters mistakes, too: it says that these labels are right.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.naive_bayes import ComplementNB

    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True, min_df=2).fit_transform(
        [" ".join(row) for row in texts]
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    return cross_val_predict(ComplementNB(alpha=0.3), grams, labels, cv=folds, method="predict_proba")


def judged_by_forest(texts: list[tuple[str, ...]], labels: np.ndarray) -> np.ndarray:
    """Return the same by a random forest on words, which neither side uses."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    words = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform([" ".join(row) for row in texts])
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    forest = RandomForestClassifier(200, min_samples_leaf=2, random_state=0)
    return cross_val_predict(forest, words, labels, cv=folds, method="predict_proba")


def plant(labels: np.ndarray, judgement: np.ndarray, share: float, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return the labels with a share of them wrong.

    ``uniform``: any row, any other class. ``one-way``: rows of the largest class, at most half of them, to the class that it is most often
    mistaken for. ``instance``: rows by how near another class comes to their own in ``judgement``, to that class. ``annotator``: three of
    ten annotators, whose rows are drawn evenly, make all the mistakes; every second of those is the class that they like best.
    """
    number, n_classes, noised = round(share * len(labels)), judgement.shape[1], labels.copy()
    every = np.arange(len(labels))
    others = judgement.copy()
    others[every, labels] = -1.0
    if kind == "one-way":
        largest = int(np.bincount(labels).argmax())
        rows = np.flatnonzero(labels == largest)
        chosen = rng.choice(rows, min(number, len(rows) // 2), replace=False)
        noised[chosen] = np.bincount(others[rows].argmax(axis=1), minlength=n_classes).argmax()
    elif kind == "instance":
        nearness = np.clip(others.max(axis=1) / (others.max(axis=1) + judgement[every, labels]), 1e-3, 1.0) ** 4
        chosen = rng.choice(len(labels), number, replace=False, p=nearness / nearness.sum())
        noised[chosen] = others[chosen].argmax(axis=1)
    else:
        careless = rng.integers(0, 10, len(labels))
        among = np.flatnonzero(careless < 3) if kind == "annotator" else every
        chosen = rng.choice(among, min(number, len(among)), replace=False)
        noised[chosen] = (labels[chosen] + rng.integers(1, n_classes, len(chosen))) % n_classes
        if kind == "annotator":
            liked = rng.integers(0, n_classes, 10)[careless[chosen]]
            takes = (rng.random(len(chosen)) < 0.5) & (liked != labels[chosen])
            noised[chosen[takes]] = liked[takes]
    return noised

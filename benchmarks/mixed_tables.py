"""Planted label errors in tables with a column of texts: ranked by all columns, by the text alone and by the others, beside cleanlab.

`python benchmarks/mixed_tables.py [--seeds 1,2,3] [--output FILE]`

Data: `products`, of Amazon and of Google (`CARTOGRAPH_DATA`/amazon_google): title, manufacturer and price, and as label whose the product
is, 1,500 rows. `functions` of eight installed packages: the first line of what is said of each, how many arguments, statements, decorators
and lines it has, its indent, whether its name begins with `_`, and as label the package, 1,500 rows. Errors: 5 and 20 % uniformly to
another class; one-way, of one class to the next (at most half of it). That the words of a text, and of a single column of texts its
characters, are views beside those of the other columns was chosen on these two with 10 % even errors, on fast food by restaurant and on
paintings by artist. Ours: average precision of `cartograph.audit(…).ranking`. cleanlab: of probabilities cross-validated by logistic
regression on TF-IDF of words and pairs of words beside standardised and one-hot columns (four penalties), and by scikit-learn's
HistGradientBoosting on the columns and 50 numbers of the text (an SVD): the one with the least cross-validated loss, and of its four ways
to score the best of each cell, with the truth in hand.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from cleanlab_peer import FOLDS, PENALTIES, best_ranking, surroundings  # noqa: E402
from features import cross_validated, flipped  # noqa: E402
from real_data import DATA  # noqa: E402

PACKAGES = ("matplotlib", "networkx", "numpy", "pandas", "scipy", "sklearn", "sympy", "torch")
CELLS = (("uniform", 0.05), ("uniform", 0.2), ("one-way", 0.2))
NAMES = ("all columns", "text alone", "others alone", "cleanlab")
ROWS, FILES = 1_500, 150


def products() -> pd.DataFrame:
    """Return the products of both shops; the text is `text`, the class `label`."""
    folder = DATA / "amazon_google"
    parts = [pd.read_csv(folder / f"table{part}.csv").assign(label=shop) for part, shop in (("A", "amazon"), ("B", "google"))]
    even = [part.sample(min(map(len, parts)), random_state=1) for part in parts]
    return pd.concat(even).drop(columns="id").rename(columns={"title": "text"})


def functions() -> pd.DataFrame:
    """Return what is said of the functions of some packages, and their form."""
    rows = []
    for package in PACKAGES:
        folder = Path(next(iter(__import__(package).__path__)))
        for file in sorted(folder.rglob("*.py"))[:FILES]:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8", errors="replace"))):
                said = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
                if isinstance(node, ast.FunctionDef) and said and len(said.splitlines()[0].split()) > 3:
                    lines = (node.end_lineno or node.lineno) - node.lineno
                    form = (len(node.args.args), len(node.body), len(node.decorator_list), lines, node.col_offset, node.name[0] == "_")
                    rows.append((said.splitlines()[0], *form, package))
    names = ["text", "arguments", "statements", "decorators", "lines", "indent", "private", "label"]
    return pd.DataFrame(rows, columns=names).drop_duplicates("text")


def columns(frame: pd.DataFrame, *, missing: bool) -> np.ndarray:
    """Return the columns but the text and the label as a user would make them: numbers standardised, categories one-hot.

    A number that is missing is the mean, with a column that says so; or stays missing, for trees.
    """
    numbers = frame.select_dtypes(["number", "bool"]).astype(float)
    scaled = (numbers - numbers.mean()) / numbers.std().replace(0, 1.0)
    if not missing:
        scaled = pd.concat([scaled.fillna(0.0), numbers.isna()], axis=1)
    others = frame.drop(columns=[*numbers.columns, "text", "label"])
    frequent = others.apply(lambda column: column.where(column.map(column.value_counts()) >= 2, "other").fillna("missing"))
    return np.asarray(pd.concat([scaled, *(pd.get_dummies(frequent[name]) for name in frequent)], axis=1), np.float64)


def theirs(frame: pd.DataFrame, given: np.ndarray, seed: int) -> np.ndarray:
    """Return cross-validated class probabilities by the best of the models that a user of cleanlab would take."""
    from scipy import sparse
    from sklearn.decomposition import TruncatedSVD
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    fold = np.empty(len(given), dtype=np.int64)
    order = np.random.default_rng(seed).permutation(len(given))
    fold[order[np.argsort(given[order], kind="stable")]] = np.arange(len(given)) % FOLDS
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit_transform(frame["text"])
    beside = sparse.csr_array(sparse.hstack([words, columns(frame, missing=False)]))
    dense = np.concatenate([columns(frame, missing=True), TruncatedSVD(50, random_state=seed).fit_transform(words)], axis=1)
    tried = [
        cross_validated(lambda penalty=penalty: LogisticRegression(C=penalty, max_iter=500), beside, given, fold)  # type: ignore[misc]
        for penalty in PENALTIES
    ]
    tried.append(cross_validated(lambda: HistGradientBoostingClassifier(random_state=seed), dense, given, fold))
    return min(tried, key=lambda shares: log_loss(given, shares, labels=np.arange(shares.shape[1])))


def ours(frame: pd.DataFrame, wrong: np.ndarray, **how: Any) -> float:
    """Return the average precision of the ranking of an audit."""
    from sklearn.metrics import average_precision_score

    import cartograph

    turn = pd.Series(np.arange(len(frame)), cartograph.audit(frame, label="label", epochs=2, **how).ranking.index).sort_index()
    return float(average_precision_score(wrong, -turn))


def cells(name: str, seed: int) -> Iterator[tuple[str, float, dict[str, float]]]:
    """Yield the average precision of each ranking under each kind of errors."""
    whole = {"products": products, "functions": functions}[name]()
    frame = whole.sample(min(ROWS, len(whole)), random_state=seed).reset_index(drop=True)
    classes, labels = np.unique(frame["label"].to_numpy(str), return_inverse=True)
    others = [column for column in frame.columns if column not in ("text", "label")]
    for kind, share in CELLS:
        given = flipped(labels, share, kind, seed)
        wrong, read = given != labels, frame.assign(label=classes[given])
        ways = ({"features": True}, {"text": "text"}, {"features": others})
        found = [ours(read, wrong, **way) for way in ways]
        yield kind, share, dict(zip(NAMES, (*found, best_ranking(theirs(frame, given, seed), given, wrong)), strict=True))


def main() -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    lines: list[str] = []

    def say(text: str) -> None:
        print(text, flush=True)
        lines.append(text)

    say(f"python benchmarks/mixed_tables.py {' '.join(sys.argv[1:])}".rstrip())
    say(f"{surroundings()}; {ROWS:,} rows; average precision of {', '.join(NAMES)}")
    everything: list[dict[str, float]] = []
    for name in ("products", "functions"):
        for seed in map(int, options.seeds.split(",")):
            for kind, share, found in cells(name, seed):
                everything.append(found)
                say(f"{name:<10} {kind:<8} {share:4.0%}  {seed} | " + " ".join(f"{found[who]:.3f}" for who in NAMES))
    say(f"mean of {len(everything)} cells: " + ", ".join(f"{who} {np.mean([found[who] for found in everything]):.3f}" for who in NAMES))
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

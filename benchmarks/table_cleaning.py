"""Models retrained on cleaned tables of features, beside the original's, cleanlab's and an oracle's, on planted label errors.

`python benchmarks/table_cleaning.py FOLDER [--rows 800] [--least 2000] [--seed 1] [--only PART] [--output FILE]`

FOLDER, `--least` and `--only` are as `table_noise.py` has them, whose planted errors these are (none; 5 and 20 % uniform, 20 % one-way,
and 20 % where naive Bayes is least sure). Of each table `--rows` rows are the train set, 2,500 others at most the test set under its own
labels; of rare classes eight rows are needed, and tables of more than ten classes are left out. Ours is what `cartograph.audit` finds and
`.cleaned()` leaves, by its defaults: rows dropped or corrected, weighted (`sample_weight`), or all as they are. cleanlab's list
(`find_label_issues` by its defaults, of the cross-validated probabilities that `table_noise.py` gives it) is dropped; the oracle drops all
planted errors. On each are trained, by scikit-learn's defaults: HistGradientBoosting, a random forest, and logistic regression on
standardised columns. Of each kind of errors the means are of accuracy and of balanced accuracy, the mean of the classes' recalls.

How rows are weighted was chosen on eight of the even tables (australian to letter, by name), on texts, and on twelve tables of R packages
(titanic, diamonds, storms and others), by which exceptions keep some weight where few labels are wrong; how a rare class is seen through
many wrong labels on the uneven ones and on texts; that boosted trees are asked, and how much weight a class keeps, on the uneven ones.
"""

from __future__ import annotations

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
from cleanlab_peer import issues, peer_version  # noqa: E402
from label_sets import plant  # noqa: E402
from table_noise import columns, judged, none_there, table_options, tables, theirs  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

CELLS = (("none", 0.0), ("uniform", 0.05), ("uniform", 0.2), ("one-way", 0.2), ("instance", 0.2))
VERSIONS = ("ours", "cleanlab", "oracle")
MODELS = ("boosting", "forest", "logistic")
MOST_TEST, FEWEST_OF_A_CLASS, MOST_CLASSES = 2_500, 8, 10

Cell = dict[str, Any]


def versions_of(frame: pd.DataFrame, values: np.ndarray, given: np.ndarray, wrong: np.ndarray, classes: np.ndarray, seed: int) -> Cell:
    """Return of each version the rows that stay, their labels and their weights; and in a word what ours did."""
    import cartograph

    cleaned = cartograph.audit(frame.assign(label=classes[given]), features=True, label="label").cleaned()
    kept, everything = cleaned.index.to_numpy(), np.arange(len(frame))
    labels = np.searchsorted(classes, cleaned["label"].to_numpy(str))
    weights = cleaned["weight"].to_numpy() if "weight" in cleaned else None
    changed = len(kept) < len(frame) or bool((labels != given[kept]).any())
    listed = issues(given, theirs(values, given, seed))
    found: Cell = {
        "original": (everything, given, None),
        "ours": (kept, labels, weights),
        "cleanlab": (np.flatnonzero(~listed), given[~listed], None),
        "oracle": (np.flatnonzero(~wrong), given[~wrong], None),
    }
    return {"did": "weighted" if weights is not None else "changed" if changed else "nothing", "versions": found}


def right_of(
    model: str, values: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, test: np.ndarray, truth: np.ndarray
) -> np.ndarray:
    """Return which test rows a model trained on these rows gets right, as 0 and 1."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(labels)) < 2:
        return (truth == labels[0]).astype(float)
    makers: dict[str, Any] = {
        "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
        "forest": lambda: RandomForestClassifier(random_state=0),
        "logistic": lambda: LogisticRegression(max_iter=300),
    }
    predicted = makers[model]().fit(values, labels, sample_weight=weights).predict(test)
    return (predicted == truth).astype(float)


def cells(name: str, frame: pd.DataFrame, rows: int, seed: int) -> Iterator[Cell]:
    """Yield what is measured of one table under each kind of errors."""
    frame = frame[frame["label"].map(frame["label"].value_counts()) >= FEWEST_OF_A_CLASS]
    frame = frame.sample(min(rows + MOST_TEST, len(frame)), random_state=seed).reset_index(drop=True)
    classes, labels = np.unique(frame["label"].to_numpy(str), return_inverse=True)
    values = columns(frame.drop(columns="label"))
    train, test, truth = values[:rows], values[rows:], labels[rows:]
    if len(classes) > MOST_CLASSES or len(np.unique(labels[:rows])) < len(classes):
        return
    judgement = judged(train, labels[:rows])
    for kind, share in CELLS:
        rng = np.random.default_rng([seed, CELLS.index((kind, share))])
        given = plant(labels[:rows], judgement, share, kind, rng) if share else labels[:rows]
        if len(np.unique(given)) < len(classes):
            continue
        wrong = given != labels[:rows]
        cell = versions_of(frame.iloc[:rows].drop(columns="label"), train, given, wrong, classes, seed)
        points: Cell = {}
        for model in MODELS:
            right = {
                version: right_of(model, train[kept], own, weights, test, truth)
                for version, (kept, own, weights) in cell["versions"].items()
            }
            between = {version: 100 * (right[version] - right["original"]) for version in VERSIONS}
            points[model] = {version: float(own.mean()) for version, own in between.items()}
            points[model]["original"] = 100 * float(right["original"].mean())
            classes_of = [truth == label for label in np.unique(truth)]
            points[model]["recalled"] = {
                version: float(np.mean([own[part].mean() for part in classes_of])) for version, own in between.items()
            }
            points[model]["noise"] = {version: 1.96 * float(own.std()) / len(truth) ** 0.5 for version, own in between.items()}
        yield {"set": name, "kind": kind, "share": share, "wrong": int(wrong.sum()), "did": cell["did"], "points": points}


def line(cell: Cell) -> str:
    """Return a cell as a row of the table."""
    shown = [
        f"{own['original']:5.1f} " + " ".join(f"{own[version]:+6.1f}" for version in VERSIONS)
        for own in (cell["points"][model] for model in MODELS)
    ]
    return f"{cell['set']:<45} {cell['kind']:<8} {cell['share']:4.0%} | {' | '.join(shown)} | {cell['did']}"


def summary(found: list[Cell]) -> Iterator[str]:
    """Yield what the cells of each kind come to."""
    for kind, share in CELLS:
        own = [cell for cell in found if (cell["kind"], cell["share"]) == (kind, share)]
        if not own:
            continue
        parts, rare = [], []
        for model in MODELS:
            means = {version: float(np.mean([cell["points"][model][version] for cell in own])) for version in VERSIONS}
            parts.append(f"{model} " + ", ".join(f"{version} {value:+.2f}" for version, value in means.items()))
            recalled = {version: float(np.mean([cell["points"][model]["recalled"][version] for cell in own])) for version in VERSIONS}
            rare.append(f"{model} " + ", ".join(f"{version} {value:+.2f}" for version, value in recalled.items()))
        did = ", ".join(f"{what} {sum(cell['did'] == what for cell in own)}" for what in ("nothing", "changed", "weighted"))
        yield f"{kind} {share:.0%}, {len(own)} tables, mean points: {'; '.join(parts)}; ours: {did}"
        yield f"  of balanced accuracy: {'; '.join(rare)}"
    each = [(cell, model, cell["points"][model]) for cell in found for model in MODELS]
    for version in ("ours", "cleanlab"):
        worse = [
            f"{cell['set']} {cell['kind']} {cell['share']:.0%} {model} {own[version]:+.1f}"
            for cell, model, own in each
            if own[version] < -own["noise"][version]
        ]
        shown = f": {'; '.join(worse)}" if version == "ours" and worse else ""
        yield f"below the original by more than noise on {version}: {len(worse)} of {len(each)} models{shown}"


def main() -> None:
    """Print the table, and write it where asked."""
    options = table_options(__doc__, rows=800, least=2000)
    warnings.filterwarnings("ignore")
    lines: list[str] = []

    def say(text: str) -> None:
        print(text, flush=True)
        lines.append(text)

    say(f"Test accuracy in per cent of {', '.join(MODELS)}: the original's, then points more of {', '.join(VERSIONS)}; what ours did")
    say(f"cleanlab {peer_version()}; {options.rows} rows a train set, seed {options.seed}")
    found: list[Cell] = []
    for name, frame in tables(options.folder, options.least, options.only):
        for cell in cells(name, frame, options.rows, options.seed):
            found.append(cell)
            say(line(cell))
    if not found:
        sys.exit(none_there(options))
    for text in summary(found):
        say(text)
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

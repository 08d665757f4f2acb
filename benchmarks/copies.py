"""Average precision on sets in which texts repeat themselves, labelled apart or with one label: ours, without copies' labels, cleanlab's.

`python benchmarks/copies.py [--sets trec,subj] [--tables FOLDER] [--seeds 1,2,3] [--output FILE]`

A thousand texts of a set, two in five of them two to four times there, in random order; a tenth of the labels wrong: `apart` (each row on
its own), `together` (a text's label on all its copies), or `both` (half of the texts each). Or `strays`: each text is there once and right,
but a tenth of them once more with another class's label, as a join gone wrong leaves them; `strays, copies`: as many others are there once
more with their own label. The committee reads words. cleanlab gets cross-validated logistic regressions on the same TF-IDF matrix,
stratified, as its users do, and the better of its two scores, chosen with the truth in hand.

With `--tables` the even tables of FOLDER follow (`table_noise.py`, which says how to get it), 800 rows of each, strays alone and no errors
at all: what hearing copies changes where no row is a copy.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from cleanlab_peer import best_ranking, on_features, peer_version  # noqa: E402
from label_sets import SETS, read  # noqa: E402
from table_noise import columns, ours, tables, theirs  # noqa: E402

TEXTS, REPEATED, WRONG = 1_000, 0.4, 0.1
TABLE_ROWS, LEAST, FEWEST, SURE = 800, 500, 8, 0.8
WAYS = ("apart", "together", "both", "strays", "strays, copies", "near strays")
ENDS = (".", " !")


def planted(labels: np.ndarray, text: np.ndarray, n_classes: int, way: str, rng: np.random.Generator) -> np.ndarray:
    """Return the labels of the rows, a tenth of them wrong, from those of the texts."""
    other = (labels + rng.integers(1, n_classes, len(labels))) % n_classes
    together = np.where(rng.random(len(labels)) < WRONG, other, labels)[text]
    true = labels[text]
    apart = np.where(rng.random(len(text)) < WRONG, (true + rng.integers(1, n_classes, len(text))) % n_classes, true)
    if way == "both":
        return np.where((rng.random(len(labels)) < 0.5)[text], together, apart)
    return together if way == "together" else apart


def strays(labels: np.ndarray, n_classes: int, copies: bool, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the text of each row and its label, a tenth of the texts there once more under another label."""
    number, again = len(labels), rng.permutation(len(labels))
    some = round(WRONG * number)
    stray, copied = again[:some], again[some : 2 * some]
    text = np.concatenate([np.arange(number), stray, copied if copies else copied[:0]])
    noised = labels[text].copy()
    rows = slice(number, number + len(stray))
    noised[rows] = (labels[stray] + rng.integers(1, n_classes, len(stray))) % n_classes
    order = rng.permutation(len(text))
    return text[order], noised[order]


def cell(name: str, way: str, seed: int) -> tuple[float, float, float]:
    """Return the average precision with the labels of copies, without, and cleanlab's."""
    from cartograph.data.linked_rows import linked_texts
    from cartograph.features.text import text_features
    from cartograph.statistics.metrics import average_precision
    from cartograph.suspects.committee import committee_scores

    rng = np.random.default_rng([seed, 7])
    texts, given = read(name, TEXTS, seed)
    names, labels = np.unique(given, return_inverse=True)
    if "strays" in way:
        text, noised = strays(labels, len(names), "copies" in way, rng)
    else:
        text = np.repeat(np.arange(len(texts)), np.where(rng.random(len(texts)) < 1 - REPEATED, 1, rng.integers(2, 5, len(texts))))
        rng.shuffle(text)
        noised = planted(labels, text, len(names), way, rng)
    rows = [texts[row] if len(texts[row]) > 1 else texts[row][0] for row in text.tolist()]
    if way.startswith("near"):
        again = pd.Series(text).duplicated().to_numpy().astype(int)
        rows = [f"{row}{ENDS[end]}" for row, end in zip(rows, again.tolist(), strict=True)]
    groups, features = linked_texts(rows), text_features(rows)
    wrong, scores = noised != labels[text], []
    for copies in (text, None):
        committee = committee_scores(
            features, noised, list(names), np.random.default_rng(13), apart=len(texts[0]) > 1, groups=groups, texts=copies
        )
        scores.append(average_precision(wrong, committee.doubt.score))
    theirs = float(on_features([features], noised, wrong, seed)["ap"])
    return scores[0], scores[1], theirs


def cell_of_table(frame: pd.DataFrame, way: str, seed: int) -> tuple[float, float, float, float, float]:
    """Return the average precision as ``cell`` does, and how many rows are surely wrong with the labels of copies, and without."""
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng([seed, 7])
    frame = frame.sample(min(TABLE_ROWS, len(frame)), random_state=seed)
    frame = frame[frame["label"].map(frame["label"].value_counts()) >= FEWEST].reset_index(drop=True)
    classes, labels = np.unique(frame["label"].to_numpy(str), return_inverse=True)
    row, noised = np.arange(len(frame)), labels
    if way != "none":
        row, noised = strays(labels, len(classes), "copies" in way, rng)
    wrong, rows = noised != labels[row], frame.iloc[row].reset_index(drop=True).assign(label=classes[noised])
    found = [ours(rows, copies=copies) for copies in (True, False)]
    sure = [float(np.count_nonzero(probability >= SURE)) for _, probability, _ in found]
    if way == "none":
        return np.nan, np.nan, np.nan, sure[0], sure[1]
    peers = best_ranking(theirs(columns(rows.drop(columns="label")), noised, seed), noised, wrong)
    heard, alone = (float(average_precision_score(wrong, score)) for score, _, _ in found)
    return heard, alone, peers, sure[0], sure[1]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", default="trec,subj,customer,sst2")
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    seeds = [int(seed) for seed in args.seeds.split(",")]
    lines = [
        f"average precision, {TEXTS:,} texts, 40 % 2 to 4 times (strays: 10 % once more); seeds {args.seeds}; cleanlab {peer_version()}",
        "set labels wrong".ljust(24) + "| copies heard | not heard | cleanlab",
    ]
    unknown = set(args.sets.split(",")) - set(SETS)
    if unknown:
        parser.error(f"no set is called {sorted(unknown)[0]!r}; there are {', '.join(SETS)}.")
    for name in args.sets.split(","):
        for way in WAYS:
            ours, alone, theirs = np.mean([cell(name, way, seed) for seed in seeds], axis=0)
            lines.append(f"{name} {way}".ljust(24) + f"| {ours:12.3f} | {alone:9.3f} | {theirs:8.3f}")
            print(lines[-1], flush=True)
    if args.tables:
        lines.append("table labels wrong".ljust(40) + "| copies heard | not heard | cleanlab | surely wrong: heard, not heard")
        for name, frame in tables(args.tables, LEAST, "balanced"):
            for way in ("none", "strays", "strays, copies"):
                heard, alone, peers, *sure = np.mean([cell_of_table(frame, way, seed) for seed in seeds], axis=0)
                counts = f"{sure[0]:6.1f} {sure[1]:6.1f}"
                lines.append(f"{name} {way}".ljust(40) + f"| {heard:12.3f} | {alone:9.3f} | {peers:8.3f} | {counts}")
                print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    if args.output:
        args.output.write_text(f"python {' '.join(sys.argv)}\n{text}", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Accuracy of models retrained on cleaned train sets, beside the original's, cleanlab's and an oracle's, on planted label errors.

`python benchmarks/cleaning.py [--sets trec,reviews] [--seeds 1,2,3] [--bow | --c 1 | --c tuned] [--rare] [--output FILE]`

Data: TREC (coarse classes), customer reviews, SST-2, Subj and banking77's train files, from CARTOGRAPH_DATA or ../shared/data. For each
seed a quarter of a file's rows, 2,500 at most, is the test set under its given labels, and of the others 5,000 at most are the train set.
Planted there: 0, 5 or 20 % of the labels, `uniform` (any row, to any other class), `one-way` (to the class that a class is most often
mistaken for; of two classes only one is mislabelled, half of it at most), `instance` (rows in proportion to how likely a cross-validated
model of the true labels finds their second class, to that class) or `annotator` (by three of ten, who often choose the class they like).

Suspects are the committee's on TF-IDF. Versions: `dropped` and `relabelled` (those at `clean.precision` or above), `weighted`,
`recommended` (what the step `clean` chooses by cross-validation on the train set), `cleanlab` (the rows of filter.find_label_issues, its
default, dropped; it gets the out-of-fold probabilities of scikit-learn's LogisticRegression, five stratified folds, on the same matrix),
`on ours` (the same, of the committee's probabilities) and `oracle` (all planted errors dropped). Retrained: scikit-learn's
LogisticRegression, one class against the rest, on the TF-IDF matrix, C = 10, or as `--c` says: its default, 1, with which wrong labels
given at random cost it next to nothing, or for each version whichever of five its own rows prefer in three folds; or, with `--bow`, the
project's default model.
With `--rare` the sets are those of `rare_class.py` in up to 4,000 rows, half of them the train set (a class of 4 to 12 % against all
others), and macro-F1 is printed, too: accuracy can be gained by never naming such a class (which ways give a class up was chosen on
seed 1).

What was tuned on what: the rule of the choice and its constants on TREC and customer reviews; that rows are weighted where no number is
known on samples of customer reviews, SST-2, SNLI and QNLI; that exceptions keep some weight where few labels are wrong on tables of R
packages, and looked at on seeds 1 and 2 of these sets; that weights of an unknown number are by what rows show, on customer reviews and
SST-2; how much weight a class keeps, on uneven tables, and looked at on seeds 1 and 2 of reviews and SST-2 and seed 1 of the rare sets.
`noise` of a cell is 1.96 standard errors of the mean difference to the original, over test rows or seeds, whichever is more.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
from cleanlab_peer import issues, peer_version  # noqa: E402
from label_sets import plant as plant_by_annotators  # noqa: E402
from real_data import DATA  # noqa: E402
from retrained_models import bow, linear, narrow, penalty, preferred  # noqa: E402

TUNED = ("trec", "reviews")
FILES = {
    "trec": ("trec/TREC.train", "latin-1"),
    "reviews": ("customer_reviews/custrev.all", "latin-1"),
    "sst2": ("sst2/stsa.binary.train", "utf-8"),
    "subj": ("subj/subj.all", "latin-1"),
    "banking77": ("banking77/train.csv", "utf-8"),
}
CELLS = (("none", 0.0), *((kind, share) for kind in ("uniform", "one-way", "instance", "annotator") for share in (0.05, 0.2)))
VERSIONS = ("original", "dropped", "relabelled", "weighted", "recommended", "cleanlab", "on ours", "oracle")
ARMS = {"original": "original", "drop": "dropped", "relabel": "relabelled", "down-weight": "weighted"}
RARE = ("trec NUM", "trec HUM", "customer often", "subj often", "sst2")
FOLDS, C, TEST_ROWS, TRAIN_ROWS, RARE_ROWS = 5, "10", 2_500, 5_000, 4_000
PRECISION, RELABEL_ABOVE = 0.8, 0.9


def read(name: str, rare: bool) -> tuple[list[str], np.ndarray, list[str]]:
    """Return a set's texts, label ids and classes."""
    if rare:
        from rare_class import as_many_as_fit

        texts, of_it = as_many_as_fit(name, RARE_ROWS)
        return [" ".join(fields) for fields in texts], of_it, ["often", "rare"]
    file, encoding = FILES[name]
    text = (DATA / file).read_text(encoding=encoding)
    if file.endswith(".csv"):
        rows = [(row["category"], row["text"]) for row in csv.DictReader(text.splitlines())]
    else:
        rows = [(label.split(":")[0], rest) for label, rest in (line.split(" ", 1) for line in text.split("\n") if line.strip())]
    classes, labels = np.unique([label for label, _ in rows], return_inverse=True)
    return [rest for _, rest in rows], labels, list(classes)


def probabilities(features: Any, labels: np.ndarray, seed: int) -> np.ndarray:
    """Return out-of-fold class probabilities of scikit-learn's LogisticRegression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return cross_val_predict(LogisticRegression(max_iter=200), features, labels, cv=folds, method="predict_proba")


def plant(labels: np.ndarray, known: np.ndarray, kind: str, share: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return labels with errors, and which rows have one; ``known`` are class probabilities by models of the true labels."""
    if kind == "annotator":
        noised = plant_by_annotators(labels, known, share, kind, rng)
        return noised, noised != labels
    n_classes, number, rows = known.shape[1], round(share * len(labels)), np.arange(len(labels))
    if kind == "uniform" or not number:
        wrong = rng.choice(len(labels), number, replace=False)
        other = (labels[wrong] + rng.integers(1, n_classes, number)) % n_classes
    elif kind == "one-way":
        table = np.zeros((n_classes, n_classes))
        np.add.at(table, (labels, known.argmax(axis=1)), 1)
        np.fill_diagonal(table, -1)
        candidates = rows if n_classes > 2 else rows[labels == rng.integers(2)]
        number = min(number, len(candidates) // 2) if n_classes == 2 else number
        wrong = rng.choice(candidates, number, replace=False)
        other = table.argmax(axis=1)[labels[wrong]]
    else:
        rest = known.copy()
        rest[rows, labels] = 0
        wrong = rng.choice(len(labels), number, replace=False, p=rest.max(axis=1) / rest.max(axis=1).sum())
        other = rest.argmax(axis=1)[wrong]
    noised, planted = labels.copy(), np.zeros(len(labels), dtype=bool)
    noised[wrong], planted[wrong] = other, True
    return noised, planted


def arms_of(
    texts: list[str], features: Any, characters: Any, noised: np.ndarray, classes: list[str], seed: int
) -> tuple[dict[str, Any], Any, np.ndarray]:
    """Return the outcome of each way of cleaning, the choice between them, and the committee's class probabilities."""
    import pyarrow as pa

    from cartograph.clean.cleaning import clean
    from cartograph.clean.recommended import doubted_again, recommended_arm
    from cartograph.schema import DatasetInfo, examples_schema
    from cartograph.suspects.among import Among
    from cartograph.suspects.columns import doubt_column
    from cartograph.suspects.committee import Reading, committee_scores
    from cartograph.suspects.detector import untested_committee
    from cartograph.suspects.listing import listed

    committee = committee_scores(features, noised, classes, np.random.default_rng(seed), folds=FOLDS, characters=characters)
    doubt, rows = committee.doubt, np.arange(len(noised))
    uids = [f"{row:06}" for row in rows]
    info = DatasetInfo("train", "train", "single", ("text",), (), tuple(classes))
    examples = pa.table([uids, texts, noised.astype(np.int32), ["benchmark"] * len(rows), rows + 1], schema=examples_schema(info))
    reading = Reading(features, None, None, characters=characters)
    columns, among = doubt_column(committee), Among(examples, reading, FOLDS, seed, doubt.unknown, 0.5)
    odds = untested_committee(columns, doubt.unknown).log_odds(columns)
    noise = listed(uids, odds, noised, classes, committee.probabilities, threshold=0.5)
    recipes = {"original": "decisions-only", "drop": "drop-flagged", "relabel": "relabel", "down-weight": "down-weight"}
    how: dict[str, Any] = {"relabel_above": RELABEL_ABOVE, "precision": PRECISION, "calibrated": doubt.wrong is not None}

    def ways_of(part: Any, suspects: Any, decided: Any) -> dict[str, Any]:
        return {arm: clean(part, suspects, decided, recipe=recipe, **how) for arm, recipe in recipes.items()}

    def again(compared: Any, arms: Any) -> Any:
        return doubted_again(among, compared, {}, arms, ways_of)

    ways = ways_of(examples, noise, {})
    choice = recommended_arm(
        examples,
        noise,
        {},
        ways,
        np.random.default_rng([seed, 1]),
        wrong=None if doubt.wrong is None else vars(doubt.wrong),
        unknown=doubt.unknown,
        between=None if doubt.between is None else doubt.between._asdict(),
        again=again,
    )
    return ways, choice, np.asarray(committee.probabilities)


class Split(NamedTuple):
    """A set divided by seed, with class probabilities of the train rows by models of their true labels."""

    train: np.ndarray
    test: np.ndarray
    features: Any
    unseen: Any
    characters: Any
    known: np.ndarray


def split(texts: list[str], labels: np.ndarray, seed: int, rare: bool) -> Split:
    """Return the train and the test rows of a seed."""
    from cartograph.features.text import character_features, text_features

    order = np.random.default_rng(seed).permutation(len(labels))
    held = len(labels) // 2 if rare else min(len(labels) // 4, TEST_ROWS)
    test, train = order[:held], np.sort(order[held : held + TRAIN_ROWS])
    every = text_features([texts[row] for row in (*train, *test)])
    features, unseen = narrow(every[: len(train)]), narrow(every[len(train) :])
    characters = character_features([texts[row] for row in train])
    return Split(train, test, features, unseen, characters, probabilities(features, labels[train], seed))


def run(
    texts: list[str], labels: np.ndarray, classes: list[str], parts: Split, kind: str, share: float, seed: int, model: str
) -> dict[str, Any]:
    """Return which test rows each version's model gets right, its macro-F1, and what was chosen."""
    from sklearn.metrics import f1_score

    train, test, features, unseen, characters, known = parts
    rng = np.random.default_rng([seed, round(100 * share), len(kind)])
    noised, planted = plant(labels[train], known, kind, share, rng)
    ways, choice, of_committee = arms_of([texts[row] for row in train], features, characters, noised, classes, seed)
    versions = {
        ARMS[arm]: (way.kept, way.labels.astype(int), np.ones(len(train)) if way.weights is None else way.weights)
        for arm, way in ways.items()
    }
    for version, shares in (("cleanlab", probabilities(features, noised, seed)), ("on ours", of_committee)):
        versions[version] = (~issues(noised, shares), noised, np.ones(len(train)))
    versions["oracle"] = (~planted, noised, np.ones(len(train)))
    right: dict[str, Any] = {}
    macro: dict[str, float] = {}
    for version, (kept, after, weights) in versions.items():
        if model == "bow":
            own = [texts[row] for row in train[kept]]
            predicted = bow(own, after[kept], weights[kept], [texts[row] for row in test], classes, seed)
        else:
            own = narrow(features[kept])
            c = preferred(own, after[kept], weights[kept], len(classes), seed) if model == "tuned" else float(model)
            predicted = linear(own, after[kept], weights[kept], unseen, len(classes), c)
        right[version] = (predicted == labels[test]).astype(float)
        macro[version] = float(f1_score(labels[test], predicted, average="macro"))
    for scores in (right, macro):
        scores["recommended"] = scores[ARMS[choice.recommended]]
    sure = ~ways["drop"].kept
    hit = float(planted[sure].mean()) if sure.any() else None
    return {"right": right, "macro": macro, "arm": choice.recommended, "sure": int(sure.sum()), "hit": hit}


def noise_of(results: list[dict[str, Any]], version: str) -> float:
    """Return 1.96 standard errors of the mean difference to the original, over rows and seeds."""
    between = [result["right"][version] - result["right"]["original"] for result in results]
    by_rows = float(np.mean([own.var() / len(own) for own in between])) / len(between)
    by_seeds = float(np.var([own.mean() for own in between], ddof=1)) / len(between) if len(between) > 1 else 0.0
    return 1.96 * float(np.sqrt(max(by_rows, by_seeds)))


def cells(sets: list[str], seeds: list[int], model: str, shares: set[float], rare: bool) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield each cell: its set, its name, and its results per seed."""
    for name in sets:
        texts, labels, classes = read(name, rare)
        parts = {seed: split(texts, labels, seed, rare) for seed in seeds}
        for kind, share in CELLS:
            if share in shares:
                results = [run(texts, labels, classes, parts[seed], kind, share, seed, model) for seed in seeds]
                yield name, f"{name} {kind} {share:.0%}", results


def main() -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", help=f"comma-separated (default: {','.join(FILES)}; with --rare {','.join(RARE)})")
    parser.add_argument("--seeds", default="1,2,3", help="comma-separated (default: 1,2,3)")
    models = parser.add_mutually_exclusive_group()
    models.add_argument("--bow", action="store_true", help="retrain the project's bag of words in place of a linear model")
    models.add_argument("--c", default=C, type=penalty, help=f"inverse penalty of the linear model, or `tuned` (default: {C})")
    parser.add_argument("--rare", action="store_true", help="sets of a rare class against all others, with macro-F1")
    parser.add_argument("--shares", default="0,0.05,0.2", help="shares of wrong labels to plant (default: 0,0.05,0.2)")
    parser.add_argument("--output", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    peer = peer_version()
    if not DATA.is_dir():
        sys.exit(f"benchmarks/cleaning.py reads real data, which is not at {DATA}: name its folder in CARTOGRAPH_DATA")
    warnings.filterwarnings("ignore")
    model, seeds, lines = "bow" if options.bow else options.c, [int(seed) for seed in options.seeds.split(",")], []
    shares = {float(share) for share in options.shares.split(",")}

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    what = "bow models" if options.bow else f"linear models, C {'tuned' if model == 'tuned' else f'= {model}'},"
    say(f"Test accuracy of {what} in per cent, mean over seeds {options.seeds}: the original's, then points more")
    say(f"cleanlab {peer}")
    say(" | ".join([f"{'':24}", *(f"{version:>10}" for version in VERSIONS), "noise of it", "sure (of them wrong), recommended"]))
    gained: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    worse = []
    macros: list[dict[str, float]] = []
    sets = options.sets.split(",") if options.sets else list(RARE if options.rare else FILES)
    for name, title, results in cells(sets, seeds, model, shares, options.rare):
        mean = {version: 100 * float(np.mean([result["right"][version].mean() for result in results])) for version in VERSIONS}
        points = {version: mean[version] - mean["original"] for version in VERSIONS}
        noise = 100 * noise_of(results, "recommended")
        shown = [f"{mean['original']:10.1f}", *(f"{points[version]:+10.2f}" for version in VERSIONS[1:])]
        found = ", ".join(
            f"{result['sure']} ({'-' if result['hit'] is None else format(result['hit'], '.0%')}) {result['arm']}" for result in results
        )
        say(" | ".join([f"{title:24}", *shown, f"{noise:15.2f}", found]))
        if options.rare:
            macro = {version: 100 * float(np.mean([result["macro"][version] for result in results])) for version in VERSIONS}
            macros.append({version: macro[version] - macro["original"] for version in VERSIONS})
            more = [f"{macro['original']:10.1f}", *(f"{macros[-1][version]:+10.2f}" for version in VERSIONS[1:])]
            say(" | ".join([f"{'  macro-F1':24}", *more]))
        gained[name in TUNED and not options.rare].append(points)
        if points["recommended"] < -noise:
            worse.append(f"{title}: {points['recommended']:+.2f}, noise {noise:.2f}")
    for tuned, rows in gained.items():
        if rows:
            average = {version: float(np.mean([row[version] for row in rows])) for version in VERSIONS[1:]}
            say(
                f"{'tuned on' if tuned else 'held out'}, mean points: "
                + ", ".join(f"{version} {value:+.2f}" for version, value in average.items())
            )
            part = {version: f"{value / average['oracle']:.0%}" for version, value in average.items()} if average["oracle"] > 0.05 else {}
            say(f"  share of the oracle's gain: {', '.join(f'{version} {value}' for version, value in part.items()) or 'none to win'}")
    if macros:
        average = {version: float(np.mean([row[version] for row in macros])) for version in VERSIONS[1:]}
        say(f"mean points of macro-F1: {', '.join(f'{version} {value:+.2f}' for version, value in average.items())}")
        lowest = {version: min(row[version] for row in macros) for version in VERSIONS[1:]}
        say(f"  least of a cell: {', '.join(f'{version} {value:+.2f}' for version, value in lowest.items())}")
    listed = "".join(f"; {cell}" for cell in worse)
    say(f"cells where the recommended version is below the original by more than noise: {len(worse)}{listed}")
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Where rows whose kind is known lie on the map: the regions' rule beside the plain lists that it is made of.

`python benchmarks/regions.py [--seeds 13,1,2] [--rows 6000] [--output FILE]`

Two rules on the same maps, both with the default shares. `regions` is the product's (`maps.regions`): ranked lists, parted by the nearest
corner of the map. `hard first` gives the least confident share to hard-to-learn before the most variable share may have it.

1. The published RoBERTa-large map of WinoGrande (40,398 rows, 6 epochs), and on it the rows of the paper's Table 1.
2. The built-in corpus, whose flipped and ambiguous rows are known, a bag of words, a corpus and a training per seed.
3. TREC, SST-2 and Subj with 5 % of the labels flipped at random, the same model: where the flipped rows lie.

Data is read from CARTOGRAPH_DATA or ../shared/data. The rule was chosen on 1 and 2 (seeds 13, 1, 2) and on sets like 3.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
from label_sets import plant, read  # noqa: E402
from real_data import DATA  # noqa: E402

from cartograph.maps.regions import assign_regions  # noqa: E402
from cartograph.schema import REGIONS, DatasetInfo, examples_schema  # noqa: E402

EASY, AMBIGUOUS, HARD, UNASSIGNED = REGIONS
SHARES = {"easy": 0.33, "ambiguous": 0.33, "hard": 0.10}
TABLE_1 = (
    (EASY, "The man chose to buy the roses instead of the carnations because the _ were more beautiful."),
    (EASY, "We enjoyed the meeting tonight but not the play as the _ was rather dull."),
    (HARD, "Jason got into a deep financial hole, unlike Joel, because _ managed their fortune poorly."),
    (HARD, "In the mornings, Aaron can hit the snooze button a lot, and Samuel can't. _ has to be at work at 10 am."),
    (HARD, "Amy's handwriting was meticulous, while Cynthia's handwriting was often sloppy, because _ was careless about their work."),
    (AMBIGUOUS, "The dog ran up to Leslie and away from Lawrence because _ had soap for the dog to take a bath."),
    (AMBIGUOUS, "Kayla dated many more people at once than Betty, because _ was in an exclusive relationship."),
)


def hard_first(confidence: np.ndarray, variability: np.ndarray) -> np.ndarray:
    """Return regions by the shares taken one after the other, the least confident first."""
    names = np.full(len(confidence), UNASSIGNED, dtype=object)
    for name, share, values in ((HARD, 0.10, confidence), (AMBIGUOUS, 0.33, -variability), (EASY, 0.33, -confidence)):
        free = np.flatnonzero(names == UNASSIGNED)
        names[free[np.argsort(values[free], kind="stable")[: round(share * len(names))]]] = name
    return names


def both(uids: list[str], confidence: np.ndarray, variability: np.ndarray) -> dict[str, np.ndarray]:
    """Return the region of each row by both rules."""
    return {
        "regions": assign_regions(uids, confidence, variability, **SHARES).names,
        "hard first": hard_first(confidence, variability),
    }


def shares(names: np.ndarray) -> str:
    """Return which shares of some rows are in which region."""
    return "  ".join(f"{region} {np.mean(names == region):5.1%}" for region in REGIONS)


def overlap(names: np.ndarray, variability: np.ndarray) -> str:
    """Return in words how hard-to-learn and high variability go together."""
    order = np.argsort(-variability, kind="stable")
    third = np.isin(np.flatnonzero(names == HARD), order[: len(order) // 3])
    top = names[order[: len(order) // 20]]
    inside = f"of hard-to-learn {third.mean():.0%} in the most variable third" if len(third) else "nothing hard-to-learn"
    return f"{inside}; of the 5 % most variable {np.mean(top == HARD):.0%} hard-to-learn, {np.mean(top == AMBIGUOUS):.0%} ambiguous"


def train(texts: list[str], second: list[str] | None, labels: np.ndarray, classes: list[str], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return confidence and variability under a bag of words by the default recipe, the first epoch left out."""
    from cartograph.dynamics.epoch_files import read_dynamics
    from cartograph.maps.measures import compute_measures
    from cartograph.train.fit import fit
    from cartograph.train.recipe import Recipe

    fields = ("text",) if second is None else ("premise", "hypothesis")
    info = DatasetInfo("train", "train", "single" if second is None else "pair", fields, (), tuple(classes))
    uids = [f"{row:06}" for row in range(len(texts))]
    columns = [uids, texts, *([] if second is None else [second]), labels.astype(np.int32), ["benchmark"] * len(texts)]
    with tempfile.TemporaryDirectory() as folder:
        table = pa.table([*columns, np.arange(1, len(texts) + 1)], schema=examples_schema(info))
        dynamics = read_dynamics(fit(Recipe(seed=seed, threads=1), table, {}, folder).dynamics)
    measures = compute_measures(*(dynamics.uids, dynamics.logits, dynamics.gold), burn_in=1)
    assert list(dynamics.uids) == uids
    return measures.confidence, measures.variability


def winogrande() -> list[str]:
    """Return the lines about the published map."""
    rows = [json.loads(line) for line in (DATA / "winogrande/roberta_large_coordinates.jsonl").open(encoding="utf-8")]
    guids = {row["sentence"]: row["guid"] for row in map(json.loads, (DATA / "winogrande/train_xl.jsonl").open(encoding="utf-8"))}
    confidence, variability, right = (np.array([row[name] for row in rows]) for name in ("confidence", "variability", "correctness"))
    places = {row["guid"]: place for place, row in enumerate(rows)}
    found = both([str(row["guid"]) for row in rows], confidence, variability)
    lines = [f"WinoGrande, the published map: {len(rows):,} rows"]
    for rule, names in found.items():
        lines += [f"  {rule:<11} {shares(names)}", f"{'':14}{overlap(names, variability)}"]
        facts = (f"{name} {right[names == name].mean():.1f}" for name in REGIONS[:3])
        lines.append(f"{'':14}mean number of 6 epochs that were right: {', '.join(facts)}")
    lines.append("  Table 1 of the paper; confidence, variability and correctness as published")
    for region, sentence in TABLE_1:
        place = places[guids[sentence]]
        values = f"{confidence[place]:.3f} {variability[place]:.3f} {right[place]}/6"
        lines.append(
            f"    {region:<14} {values}  " + "  ".join(f"{rule}: {names[place]:<14}" for rule, names in found.items()) + sentence[:40]
        )
    return lines


def built_in(seed: int, rows: int) -> list[str]:
    """Return the lines about one built-in corpus."""
    from cartograph.planted.nli import LABELS, generate

    corpus = generate(rows, seed)
    table, truth = corpus.sets["train"], corpus.truth.to_pandas().set_index("uid")
    labels = np.array([LABELS.index(label) for label in table["label"].to_pylist()])
    kinds = truth.loc[table["uid"].to_pylist(), "kind"].to_numpy()
    confidence, variability = train(table["premise"].to_pylist(), table["hypothesis"].to_pylist(), labels, list(LABELS), seed)
    lines = [f"built-in corpus, seed {seed}: {rows:,} rows"]
    for rule, names in both(table["uid"].to_pylist(), confidence, variability).items():
        lines.append(f"  {rule:<11} {overlap(names, variability)}")
        lines += [f"    {kind:<10} {shares(names[kinds == kind])}" for kind in ("flipped", "ambiguous", "plain")]
    return lines


def flipped(name: str) -> list[str]:
    """Return the lines about a real set with flipped labels."""
    texts, given = read(name, 10_000, 1)
    classes = sorted(set(given))
    labels = np.array([classes.index(label) for label in given])
    noised = plant(labels, np.zeros((len(labels), len(classes))), 0.05, "uniform", np.random.default_rng(1))
    planted = noised != labels
    confidence, variability = train([text for (text,) in texts], None, noised, classes, 1)
    lines = [f"{name}, 5 % of the labels flipped: {len(texts):,} rows"]
    for rule, names in both([f"{row:06}" for row in range(len(texts))], confidence, variability).items():
        lines.append(f"  {rule:<11} {overlap(names, variability)}")
        lines += [f"    {kind:<10} {shares(names[rows])}" for kind, rows in (("flipped", planted), ("others", ~planted))]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="13,1,2", help="of the built-in corpus and its training")
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    lines: list[str] = []
    work = [winogrande]
    work += [lambda seed=seed: built_in(seed, arguments.rows) for seed in map(int, arguments.seeds.split(","))]  # type: ignore[misc]
    work += [lambda name=name: flipped(name) for name in ("trec", "sst2", "subj")]  # type: ignore[misc]
    for part in work:
        found = part()
        print("\n".join(found), flush=True)
        lines += found
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

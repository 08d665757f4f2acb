"""What to label next: the order of `python -m tasks expand` beside others, on rows whose labels are known.

`python benchmarks/expand.py [--sets trec,sst2,…] [--output FILE]`

Of each set 1,500 rows are the train set with its map, 1,500 a pool whose labels are hidden, and up to 4,000 of the others are for testing;
the model is a bag of words, 24 epochs, after which it has learnt these. The truth is the pool's place on the map of a training on train
set *and* pool. Of the tenth of the pool that an order puts first: `ambiguous`, the share that is among the most variable third there (a
third by chance), and `variability`, their mean. Then the labels are given: `accuracy` on the test rows of a model trained on the train set
and that tenth.

- model: the train set's model is least certain; the product's order wherever a model drew the map;
- texts: variability expected by words, the product's order for an imported map;
- nearest: cosine to the nearest ambiguous row of the train set, in the same features;
- neighbours: mean variability of the 50 nearest rows, weighted by cosine;
- random.

`texts` was chosen among those without a model on maps of TREC, SST-2, Subj, reviews, banking77, SNLI, WinoGrande and the built-in corpus,
and `model` on the results for TREC, SST-2 and Subj below; SNLI's were not known then, and QNLI was not looked at before.
Data is read from CARTOGRAPH_DATA or ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
from noise import read as single_texts  # noqa: E402
from real_data import DATA  # noqa: E402
from scipy.special import softmax  # noqa: E402

from cartograph.features.text import text_features  # noqa: E402
from cartograph.maps.measures import compute_measures  # noqa: E402
from cartograph.maps.regions import AMBIGUOUS, assign_regions  # noqa: E402
from cartograph.schema import DatasetInfo, examples_schema  # noqa: E402
from cartograph.selection.expand import expand  # noqa: E402
from cartograph.statistics.correlation import pearson  # noqa: E402

TRAINED = ("texts", "model", "random")
SETS = ("trec", "sst2", "subj", "snli", "qnli")
ROWS, TESTED, EPOCHS = 1_500, 4_000, 24


def read(name: str) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return the texts of a set, a tuple per row, and the names of its labels."""
    if name in ("trec", "sst2", "subj"):
        texts, labels = single_texts(name)
        return [(text,) for text in texts], labels
    if name == "snli":
        parts = [(DATA / f"snli/{part}.dev").read_text(encoding="utf-8").splitlines() for part in ("s1", "s2", "labels")]
        return list(zip(*parts[:2], strict=True)), parts[2]
    cells = [line.split("\t") for line in (DATA / "qnli/dev.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    whole = [row for row in cells if len(row) == 4 and row[1].strip() and row[2].strip()]
    return [(row[1], row[2]) for row in whole], [row[3].strip() for row in whole]


class Rows:
    """The rows of one set, each text once."""

    def __init__(self, name: str, rng: np.random.Generator) -> None:
        texts, given = read(name)
        first = list(dict(zip(reversed(texts), reversed(range(len(texts))), strict=True)).values())
        kept = rng.permutation(sorted(first))[: 2 * ROWS + TESTED]
        self.texts = [texts[row] for row in kept]
        self.classes = sorted({given[row] for row in kept})
        self.labels = np.array([self.classes.index(given[row]) for row in kept])
        fields = ("text",) if len(self.texts[0]) == 1 else ("first", "second")
        self.info = DatasetInfo("train", "train", "single" if len(fields) == 1 else "pair", fields, (), tuple(self.classes))

    def table(self, rows: np.ndarray) -> pa.Table:
        """Return some rows as a canonical table."""
        columns = [[f"{row:06}" for row in rows], *zip(*(self.texts[row] for row in rows), strict=True), self.labels[rows].astype(np.int32)]
        arrays = [pa.array(list(values) if isinstance(values, tuple) else values) for values in columns]
        schema = examples_schema(self.info)
        return pa.Table.from_arrays([*arrays, pa.array(["benchmark"] * len(rows)), pa.array(rows + 1)], schema=schema)

    def train(self, rows: np.ndarray, test: np.ndarray, pool: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
        """Return confidence and variability of rows by uid, the accuracy on test rows, and a model's certainty of the pool's rows."""
        from cartograph.dynamics.epoch_files import read_dynamics
        from cartograph.train.fit import fit
        from cartograph.train.inference import infer
        from cartograph.train.recipe import Recipe

        recipe = Recipe(seed=1, threads=1, evaluate="end", epochs=EPOCHS)
        rows = np.sort(rows)
        with tempfile.TemporaryDirectory() as folder:
            fitted = fit(recipe, self.table(rows), {"test": self.table(np.sort(test))}, folder)
            dynamics = read_dynamics(fitted.dynamics)
            read_ = None if pool is None else infer(recipe, fitted.model, self.table(pool)).logits[0]
            accuracy = fitted.metrics["test.accuracy"]
        measures = compute_measures(dynamics.uids, dynamics.logits, dynamics.gold, burn_in=1)
        certain = np.empty(0) if read_ is None else softmax(read_.astype(np.float64), axis=1).max(axis=1)
        return measures.confidence, measures.variability, accuracy, certain


def run(name: str) -> list[str]:
    """Return the lines about one set."""
    rng = np.random.default_rng(1)
    rows = Rows(name, rng)
    order = rng.permutation(len(rows.texts))
    known, pool, test = (np.sort(part) for part in np.split(order, (ROWS, 2 * ROWS)))
    confidence, variability, alone, certain = rows.train(known, test, pool)
    both = np.sort(np.concatenate([known, pool]))
    _, varied, _, _ = rows.train(both, test)
    truth, again = varied[np.searchsorted(both, pool)], varied[np.searchsorted(both, known)]
    most = truth >= np.quantile(truth, 2 / 3)
    regions = assign_regions([f"{row:06}" for row in known], confidence, variability)
    ambiguous = np.flatnonzero(regions.names == AMBIGUOUS)
    texts, others = [rows.texts[row] for row in known], [rows.texts[row] for row in pool]
    wanted = len(pool) // 10
    found = expand(texts, variability, ambiguous, others, np.random.default_rng(13), listed=wanted)
    features = text_features([*texts, *others])
    cosines = (features[len(known) :] @ features[: len(known)].T).toarray()
    near = np.argpartition(-cosines, 50, axis=1)[:, :50]
    weight = np.take_along_axis(cosines, near, axis=1) + 1e-9
    scores = {
        "texts": found.scores,
        "nearest": cosines[:, ambiguous].max(axis=1),
        "neighbours": (weight * variability[near]).sum(axis=1) / weight.sum(axis=1),
        "model": -certain,
        "random": rng.random(len(pool)),
    }
    lines = [
        f"{name}: {len(known):,} train rows ({len(ambiguous):,} ambiguous), {len(pool):,} in the pool, {wanted:,} to label; "
        f"known r {found.known.r:.2f} ({found.known.low:.2f} to {found.known.high:.2f}); accuracy before {alone:.3f}; "
        f"r of the train rows' variability on both maps {pearson(variability, again):.2f}"
    ]
    for title, score in scores.items():
        first = np.argsort(-score, kind="stable")[:wanted]
        line = f"  {title:<11} ambiguous {most[first].mean():.2f}  variability {truth[first].mean():.3f}"
        if title in TRAINED:
            _, _, accuracy, _ = rows.train(np.concatenate([known, pool[first]]), test)
            line += f"  accuracy {accuracy:.3f}"
        lines.append(line)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    lines: list[str] = []
    for name in arguments.sets.split(","):
        found = run(name)
        print("\n".join(found), flush=True)
        lines += found
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

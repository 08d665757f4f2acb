"""What an audit delivers on planted label errors: ranking, list, number and what is changed, beside cleanlab on the same rows.

`python benchmarks/noise.py [--sets …] [--seeds 1,2,3] [--rows 2000] [--encoder FOLDER] [--committee] [--cells FILE] [--output FILE]`

The steps ingest, embed, train, measure and noise run as in any audit, with their defaults; measured is data/noise/noise.parquet as they
leave it. With `--committee` nothing is trained: the committee lists what it lists in an audit of the same rows, in a tenth of the time;
only the test of the detectors on flips is left out, which chooses nothing where there is a committee.

Eight sets (`benchmarks/label_sets.py`), of each a sample of distinct texts by seed; labels wrong in none of the rows, and in 5 and 20 % in
five ways. Of two of these the text decides: by whom it is mistaken decides who finds them, so `instance` (naive Bayes on characters, which
the committee has, too) stands beside `forest` (a random forest on words, which neither side has). Printed per cell:

- AP: average precision of the ranking; ours on words alone (with it the characters of single texts), ours with the encoder's vectors, and
  cleanlab's (the better of its two scores, chosen per cell with the truth in hand) on cross-validated logistic regression of the same
  TF-IDF matrix, of words or of words and characters, and of the same vectors, alone or with the words beside them as heavy as they; which
  of the two, and which penalty of four, has the least cross-validated loss. Datalab on the vectors' nearest neighbours. Of pairs both
  sides also read how alike the two texts are (`features.comparison`): beside the words, and beside the vectors for cleanlab's regression.
- list: precision and length of what is listed; cleanlab's is `find_label_issues` with its defaults.
- changed: rows that cleaning may change without a person (calibrated, at .8 or more), and how many of them are wrong.
- wrong: how many labels are estimated to be wrong, with the interval, and at most if nearly all hard rows are, against how many are.

What was chosen on what: the committee's views on TREC, customer reviews and banking77 (all rows, seed 1); the shrinkages of its
discriminants on SNLI, QNLI, SST-2 and TREC (1,000 rows, seed 1); that the committee is used at all on SST-2, QNLI and customer reviews
(likewise); the constants of `label_doubt` on TREC, customer reviews, banking77, Subj and SST-2; how far errors are held to be even, and how
views are weighted, on customer reviews, SNLI and SST-2 (seeds 1 and 2); that it is fitted through the noise on
TREC, customer reviews, SST-2, SNLI and banking77 (700 and 2,000 rows, seeds 1 and 2), tried on Subj, QNLI and WikiQA afterwards; how pairs
are compared on SNLI, QNLI and WikiQA (seeds 1 and 2). So of Subj the views are held out, and of WikiQA what is asked for a number.
Seconds are wall time on as many threads as OMP_NUM_THREADS says (1 unless set), the encoder's own left out on both sides.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tasks.engine.surroundings import prepare  # noqa: E402

prepare()

import numpy as np  # noqa: E402
from cleanlab_peer import as_read, datalab, on_features, peer_version, precision_of  # noqa: E402
from label_sets import SETS, judged, judged_by_forest, plant, read  # noqa: E402
from noise_table import OURS, THEIRS, WAYS, Cell, line, reliability, summary  # noqa: E402
from real_data import DATA  # noqa: E402
from scipy import sparse  # noqa: E402

SHARES, PRECISION = (0.05, 0.2), 0.8


class Audits:
    """The audits of one sample of a set, whose labels change from one to the next, so that the encoder reads each text once."""

    def __init__(self, folder: Path, texts: list[tuple[str, ...]], encoder: str | None) -> None:
        """Take the rows and, where there is one, the encoder's folder."""
        from tasks.audit import embed, ingest, measure, noise, train

        self.folder, self.texts, self.encoder, self._noise = folder, texts, encoder, noise.STEP
        self._steps = [ingest.STEP, *([embed.STEP] if encoder else []), train.STEP, measure.STEP]

    def vectors(self) -> np.ndarray | None:
        """Return the encoder's vectors of the rows, as the committee reads them; None without an encoder."""
        import pyarrow.parquet as pq

        from cartograph.features.vectors import join_sides, read_features
        from cartograph.schema import dataset_info

        if self.encoder is None:
            return None
        table = pq.read_table(self.folder / "data/ingest/train.parquet")
        return join_sides(read_features(self.folder / "data/embed/train.parquet", table["uid"])[1], dataset_info(table.schema))

    def delivered(self, labels: list[str], with_vectors: bool, shared: bool) -> tuple[Any, dict[str, Any], float]:
        """Return the list of suspects in the order of the rows, its record, and the seconds of the step `noise`.

        Args:
            labels: one a row.
            with_vectors: whether the step may read the encoder's vectors.
            shared: the steps before it have run on these labels already.
        """
        import pyarrow.parquet as pq

        from tasks.engine.running import run_step

        space = self._space(labels, {"pretrained": self.encoder} if with_vectors or not shared else {})
        with space.lock("benchmarks/noise.py"):
            for step in [] if shared else self._steps:
                run_step(step, space)
            seconds = run_step(self._noise, space).seconds
        table = pq.read_table(self.folder / "data/noise/noise.parquet").sort_by("uid")
        if table.num_rows < len(self.texts):
            raise SystemExit(f"{len(self.texts) - table.num_rows} rows were quarantined, so that lists would not be of the same rows")
        return table, json.loads((self.folder / "data/noise/noise.json").read_text(encoding="utf-8")), seconds

    def read_by_encoder(self, labels: list[str]) -> None:
        """Run the steps ingest and embed alone."""
        from tasks.engine.running import run_step

        space = self._space(labels, {"pretrained": self.encoder})
        with space.lock("benchmarks/noise.py"):
            for step in self._steps[:2]:
                run_step(step, space)

    def _space(self, labels: list[str], embed: dict[str, Any]) -> Any:
        from cartograph.config import Settings
        from tasks.engine.workspace import Workspace
        from tasks.pipelines import sections

        source = self.folder / "train.jsonl"
        fields = [f"text{number}" for number in range(len(self.texts[0]))]
        rows = [
            dict(zip(fields, row, strict=True)) | {"uid": f"{place:06}", "label": label}
            for place, (row, label) in enumerate(zip(self.texts, labels, strict=True))
        ]
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        ingest = {"source": "files", "train": str(source), "evaluation": {}, "text": fields, "label": "label", "uid": "uid"}
        given = {"ingest": ingest, "embed": embed, "train": {}, "measure": {}, "noise": {}}
        models = sections(given)
        return Workspace(self.folder, Settings({name: models[name].model_validate(values) for name, values in given.items()}))


def by_committee(
    features: Any, labels: np.ndarray, n_classes: int, vectors: np.ndarray | None, texts: list[tuple[str, ...]]
) -> tuple[Any, dict[str, Any], float]:
    """Return what `Audits.delivered` does, of the committee on words and vectors, without an audit around it."""
    import pyarrow as pa

    from cartograph.data.linked_rows import linked_texts
    from cartograph.features.comparison import comparison_features
    from cartograph.features.text import character_features
    from cartograph.suspects.committee import committee_scores
    from cartograph.suspects.detector import untested_committee

    started = time.perf_counter()
    names, rng = [str(label) for label in range(n_classes)], np.random.default_rng(13)
    pairs: dict[str, Any] = {"apart": len(texts[0]) > 1, "groups": linked_texts(texts), "compared": comparison_features(texts)}
    characters = character_features([text for (text,) in texts]) if vectors is None and len(texts[0]) == 1 else None
    doubt = committee_scores(features, labels, names, rng, vectors=vectors, characters=characters, **pairs).doubt
    odds = np.log(np.clip(doubt.score, 1e-300, None)) - np.log1p(-np.clip(doubt.score, None, 1 - 1e-16))
    detector = untested_committee({"doubt": odds}, doubt.unknown)
    probability, rank = detector.probability({"doubt": odds}), np.empty(len(labels), dtype=np.int64)
    rank[np.argsort(-odds, kind="stable")] = np.arange(1, len(labels) + 1)
    seconds = time.perf_counter() - started
    number = None if doubt.wrong is None else vars(doubt.wrong) | {"pairs": [vars(pair) for pair in doubt.pairs]}
    between = None if doubt.between is None else doubt.between._asdict()
    record = {"calibrated": number is not None, "wrong": number, "between": between, "detector": "committee", "detectors": {}}
    return pa.table({"probability": probability, "flagged": probability >= 0.5, "rank": rank}), record, seconds


def score_ours(table: Any, record: dict[str, Any], given: np.ndarray, true: np.ndarray) -> Cell:
    """Return what is measured of one list of suspects."""
    wrong = given != true
    probability = table["probability"].to_numpy()
    listed = table["flagged"].to_numpy(zero_copy_only=False)
    changed = (probability >= PRECISION) & bool(record["calibrated"])
    number = record["wrong"] if record["calibrated"] else None
    return {
        "ap": precision_of(wrong, -table["rank"].to_numpy()),
        "listed": int(listed.sum()),
        "listed wrong": int((listed & wrong).sum()),
        "changed": int(changed.sum()),
        "changed wrong": int((changed & wrong).sum()),
        "number": None if number is None else [number[name] for name in ("expected", "low", "high", "most")],
        "between": None if number or not record["between"] else [record["between"][name] for name in ("low", "high", "most")],
        "pairs": pairs_held(number["pairs"] if number else [], given, true),
        "detector": record["detector"],
        "detectors": {name: found["average_precision"] for name, found in record["detectors"].items()},
        "bins": reliability(probability, wrong) if record["calibrated"] else None,
    }


def pairs_held(pairs: list[dict[str, float]], given: np.ndarray, true: np.ndarray) -> list[int]:
    """Return how well the pairs of classes are known of which a wrong label is expected: four counts.

    Returns:
        Of how many pairs the interval, and the interval up to the most, holds how many labels are wrong, how many pairs there are, and how
        many wrong labels are of other pairs.
    """
    held, at_most, rest = 0, 0, int(np.count_nonzero(given != true)) if pairs else 0
    listed = [pair for pair in pairs if pair["expected"] >= 1]
    for pair in listed:
        wrong = int(np.count_nonzero((given == pair["given"]) & (true == pair["true"])))
        held += round(pair["low"]) <= wrong <= round(pair["high"])
        at_most += round(pair["low"]) <= wrong <= round(pair["most"])
        rest -= wrong
    return [int(held), int(at_most), len(listed), rest]


def cells(
    names: list[str], seeds: list[int], rows: int, encoder: str | None, committee: bool, done: set[tuple[Any, ...]]
) -> Iterator[Cell]:
    """Yield the measured cells that are not done yet."""
    from cartograph.features.comparison import beside_words, comparison_features, with_products
    from cartograph.features.text import text_features

    for name in names:
        for seed in seeds:
            wanted = [("none", 0.0), *((kind, share) for kind in WAYS for share in SHARES)]
            if all((name, seed, kind, share) in done for kind, share in wanted):
                continue
            texts, given = read(name, rows, seed)
            classes, labels = np.unique(given, return_inverse=True)
            judgement, forest = judged(texts, labels), judged_by_forest(texts, labels)
            features = text_features([row if len(row) > 1 else row[0] for row in texts])
            compared = comparison_features(texts)
            if compared is not None:
                features = beside_words(features, compared)
            words = as_read(features, texts)
            with tempfile.TemporaryDirectory() as folder:
                audits = Audits(Path(folder), texts, encoder)
                for kind, share in wanted:
                    if (name, seed, kind, share) in done:
                        continue
                    rng = np.random.default_rng([seed, 1 + WAYS.index(kind) if share else 0, round(100 * share)])
                    mistaken = (forest, "instance") if kind == "forest" else (judgement, kind)
                    noised = plant(labels, mistaken[0], share, mistaken[1], rng) if share else labels.copy()
                    cell: Cell = {
                        "set": name,
                        "seed": seed,
                        "kind": kind,
                        "share": share,
                        "rows": len(labels),
                        "wrong": int((noised != labels).sum()),
                    }
                    for which in ("vectors", "words") if encoder else ("words",):
                        named = [str(classes[label]) for label in noised]
                        if committee and encoder and not (Path(folder) / "data/embed/train.parquet").exists():
                            audits.read_by_encoder(named)
                        table, record, seconds = (
                            by_committee(features, noised, len(classes), audits.vectors() if which == "vectors" else None, texts)
                            if committee
                            else audits.delivered(named, which == "vectors", which == "words" and encoder is not None)
                        )
                        cell[which] = score_ours(table, record, noised, labels) | {"seconds": seconds}
                    cell["cleanlab words"] = on_features(words, noised, noised != labels, seed)
                    if encoder:
                        vectors = audits.vectors()
                        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) * np.sqrt(10)
                        read_too = unit if compared is None else np.hstack([unit, with_products(compared)[0]])
                        beside = sparse.hstack([read_too, np.sqrt(10) * features], format="csr")
                        cell["cleanlab vectors"] = on_features([read_too, beside], noised, noised != labels, seed)
                        cell["datalab"] = datalab(unit, noised, noised != labels)
                    yield cell


def main() -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--rows", type=int, default=2000, help="most rows of a set")
    parser.add_argument("--encoder", help="folder of an encoder; without one, words alone")
    parser.add_argument("--committee", action="store_true", help="the committee without the audit around it")
    parser.add_argument("--cells", type=Path, help="file that measured cells are kept in; what it has is not measured again")
    parser.add_argument("--output", type=Path, help="also write what is printed to this file")
    options = parser.parse_args()
    peer = peer_version()
    if not DATA.is_dir():
        sys.exit(f"benchmarks/noise.py reads real data, which is not at {DATA}: name its folder in CARTOGRAPH_DATA")
    warnings.filterwarnings("ignore")
    names, seeds = options.sets.split(","), [int(seed) for seed in options.seeds.split(",")]
    known = (
        [json.loads(text) for text in options.cells.read_text(encoding="utf-8").splitlines()]
        if options.cells and options.cells.exists()
        else []
    )
    found = [cell for cell in known if cell["set"] in names and cell["seed"] in seeds]
    done = {(cell["set"], cell["seed"], cell["kind"], cell["share"]) for cell in found}
    who = [*OURS, *THEIRS] if options.encoder else [OURS[0], THEIRS[0]]
    lines: list[str] = []

    def say(text: str) -> None:
        print(text, flush=True)
        lines.append(text)

    say(f"cleanlab {peer}, at most {options.rows:,} rows a set, load {os.getloadavg()[0]:.1f}")
    say(
        "set, kind, share, seed | AP of "
        + ", ".join(who)
        + " | precision and length of their lists | changed, number, detector of ours | wrong"
    )
    for cell in found:
        say(line(cell, who))
    for cell in cells(names, seeds, options.rows, options.encoder, options.committee, done):
        found.append(cell)
        if options.cells:
            with options.cells.open("a", encoding="utf-8") as file:
                file.write(json.dumps(cell) + "\n")
        say(line(cell, who))
    for text in summary(found, who):
        say(text)
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

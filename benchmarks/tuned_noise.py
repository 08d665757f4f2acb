"""Label errors where a pretrained encoder is fine-tuned: what the committee makes of it, beside cleanlab on the same network.

`python benchmarks/tuned_noise.py --encoder FOLDER [--sets trec …] [--rows 4000] [--seeds 1] [--device cpu] [--kept FOLDER] [--train-only]`

One label in five of a set (`benchmarks/label_sets.py`) is wrong in each of five ways, of which one depends on nothing, two on the class or
on who labelled, two on the text. The encoder is fine-tuned on these labels (five epochs, batch 32, rate 5e-5; 77 classes ten epochs), once
on all rows, as an audit with `--model transformer` does, and five times on all but a fold, as `train.folds: 5` does besides. Average
precision of the rankings that follow, and how many of the rows of the lists are wrong, by

- the committee on words, with characters of single texts (an audit without an encoder);
- that with the training's early epoch, and with the folds' models as well (`train.folds: 5`);
- the committee on the frozen encoder's vectors (`embed.pretrained`), with the early epoch too (`--model transformer`), and with the folds';
- cleanlab on cross-validated regressions of these vectors (`cleanlab_peer.on_features`), and on the folds' networks, of the last epoch or
  of all epochs' mean, whichever has the lesser loss.

`--kept` holds what the trainings said, so that a machine with a GPU can train (`--train-only`) and another, with cleanlab, can measure.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
import torch  # noqa: E402
from cleanlab_peer import issues, on_features, peer_version, precision_of  # noqa: E402
from fidelity import TUNED, examples  # noqa: E402
from label_sets import SETS, judged, judged_by_forest, plant, read  # noqa: E402

from cartograph.dynamics.epoch_files import read_dynamics  # noqa: E402
from cartograph.models.frozen.embeddings import embed_sets  # noqa: E402
from cartograph.models.isolation import require_device  # noqa: E402
from cartograph.train.fit import fit  # noqa: E402
from cartograph.train.k_fold import fit_folds  # noqa: E402
from cartograph.train.recipe import Recipe  # noqa: E402

KINDS, SHARE, FOLDS = ("uniform", "one-way", "annotator", "instance", "forest"), 0.2, 5
OURS = ("words", "words, early", "words, early, folds", "vectors", "vectors, early", "vectors, early, folds")
THEIRS = ("cleanlab vectors", "cleanlab tuned")

Found = dict[str, tuple[float, int, int]]
"""Of each ranking its average precision, and how long its list is and how many of it are wrong."""


def share_of_classes(logits: np.ndarray) -> np.ndarray:
    """Return class probabilities."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def said(recipe: Recipe, table: Any) -> dict[str, np.ndarray]:
    """Train; return what the training said of each row in its second epoch, and the folds' models in their last and on average."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.perf_counter()
        early = share_of_classes(read_dynamics(fit(recipe, table, {}, folder / "all").dynamics).logits[:, 1])
        whole = time.perf_counter() - started
        pq.write_table(table, folder / "train.parquet")
        held_out = share_of_classes(read_dynamics(fit_folds(recipe, folder / "train.parquet", folder / "folds", folds=FOLDS)).logits)
        seconds = np.array([whole, time.perf_counter() - started - whole])
    last, mean = held_out[:, -1], held_out.mean(axis=1)
    return {"early": early, "last": last, "mean": mean, "seconds": seconds}


def vectors_of(encoder: str, table: Any, device: str) -> np.ndarray:
    """Return the frozen encoder's vectors, as the committee reads them."""
    from cartograph.features.vectors import join_sides, read_features
    from cartograph.schema import dataset_info

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(table, folder / "rows.parquet")
        (folder / "vectors").mkdir()
        embed_sets(encoder, {"train": folder / "rows.parquet"}, folder / "vectors", device=device)
        return join_sides(read_features(folder / "vectors/train.parquet", table["uid"])[1], dataset_info(table.schema))


def by_committee(table: Any, vectors: np.ndarray | None, known: dict[str, np.ndarray]) -> Any:
    """Return the committee's doubt."""
    from cartograph.data.folds import assign_folds
    from cartograph.schema import dataset_info
    from cartograph.suspects.among import committee_of
    from cartograph.suspects.committee import reading_of

    classes, labels = dataset_info(table.schema).labels, table["label"].to_numpy()
    reading = reading_of(table, characters=vectors is None)
    fold = assign_folds(labels, FOLDS, np.random.default_rng([13, 1]), reading.groups)
    given = reading if vectors is None else reading._replace(vectors=vectors)
    return committee_of(given, labels, classes, fold, np.random.default_rng([13, 3]), known=known).doubt


def listed(doubt: Any) -> np.ndarray:
    """Return which rows the committee lists."""
    from cartograph.suspects.detector import untested_committee

    odds = np.log(np.clip(doubt.score, 1e-300, None)) - np.log1p(-np.clip(doubt.score, None, 1 - 1e-16))
    return np.asarray(untested_committee({"doubt": odds}, doubt.unknown).probability({"doubt": odds}) >= 0.5)


def measured(
    table: Any, true: np.ndarray, heard: dict[str, np.ndarray], vectors: np.ndarray, seed: int
) -> dict[str, tuple[float, int, int]]:
    """Return what is measured of one set's labels."""
    from cleanlab.rank import get_label_quality_scores
    from sklearn.metrics import log_loss

    labels = table["label"].to_numpy()
    wrong = labels != true
    found = {}
    early = {"early epoch": heard["early"]}
    folds = early | {"k-fold training": heard["mean"]}
    ways = {"words": (None, {}), "words, early": (None, early), "words, early, folds": (None, folds)}
    ways |= {"vectors": (vectors, {}), "vectors, early": (vectors, early), "vectors, early, folds": (vectors, folds)}
    for name, (read_too, known) in ways.items():
        doubt = by_committee(table, read_too, known)
        chosen = listed(doubt)
        found[name] = (precision_of(wrong, doubt.score), int(chosen.sum()), int((chosen & wrong).sum()))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) * np.sqrt(10)
    theirs = on_features([unit], labels, wrong, seed)
    found["cleanlab vectors"] = (theirs["ap"], theirs["listed"], theirs["listed wrong"])
    shares = min((heard["last"], heard["mean"]), key=lambda way: log_loss(labels, way, labels=np.arange(way.shape[1])))
    ranked = [-get_label_quality_scores(labels, shares, method=method) for method in ("self_confidence", "normalized_margin")]
    chosen = issues(labels, shares)
    best = max(precision_of(wrong, score) for score in ranked)
    found["cleanlab tuned"] = (best, int(chosen.sum()), int((chosen & wrong).sum()))
    return found


def cell(name: str, kind: str, seed: int, arguments: argparse.Namespace) -> Found | None:
    """Train on one set with one kind of errors, or read what was said; return what is measured, None where it is not asked for."""
    texts, given = read(name, arguments.rows, seed)
    classes = sorted(set(given))
    true = np.array([classes.index(label) for label in given])
    judgement = judged_by_forest(texts, true) if kind == "forest" else judged(texts, true)
    noised = plant(true, judgement, SHARE, "instance" if kind == "forest" else kind, np.random.default_rng([seed, KINDS.index(kind), 20]))
    table = examples(texts, noised, classes)
    kept = arguments.kept / f"{name}-{kind}-{seed}-{arguments.rows}.npz" if arguments.kept else None
    if kept is None or not kept.exists():
        recipe = replace(TUNED, pretrained=arguments.encoder, seed=seed, device=arguments.device, epochs=10 if len(classes) > 50 else 5)
        heard = said(recipe, table)
        if kept is not None:
            np.savez_compressed(kept, given=noised, **{part: values.astype(np.float32) for part, values in heard.items()})
    else:
        heard = dict(np.load(kept, allow_pickle=False))
        if not np.array_equal(heard.pop("given", noised), noised):
            raise SystemExit(f"{kept} was trained on other labels: errors were planted by other versions; train it again")
    print(f"{name:<10} {kind:<10} {seed}  trained in {heard['seconds'][0]:.0f} s, in folds in {heard['seconds'][1]:.0f} s", flush=True)
    if arguments.train_only:
        return None
    heard = {part: values.astype(float) for part, values in heard.items()}
    return measured(table, true, heard, vectors_of(arguments.encoder, table, "cpu"), seed)


def main() -> None:
    """Train and measure every cell; print them, and means by kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--sets", nargs="+", default=["trec", "sst2", "banking77", "snli"], choices=list(SETS))
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--kept", type=Path, help="folder of what the trainings said; what it has is not trained again")
    parser.add_argument("--train-only", action="store_true", help="train what --kept lacks, and measure nothing")
    arguments = parser.parse_args()
    require_device(arguments.device, "`cpu`")
    if arguments.kept:
        arguments.kept.mkdir(parents=True, exist_ok=True)
    where = torch.cuda.get_device_name() if arguments.device == "cuda" else "CPU"
    peer = "" if arguments.train_only else f", cleanlab {peer_version()}"
    versions = f"torch {version('torch')}, transformers {version('transformers')}, {where}{peer}"
    print(f"{versions}; at most {arguments.rows:,} rows, {SHARE:.0%} wrong")
    every: dict[str, list[Found]] = {}
    for name in arguments.sets:
        for kind in arguments.kinds:
            for seed in arguments.seeds:
                found = cell(name, kind, seed, arguments)
                if found is None:
                    continue
                every.setdefault(kind, []).append(found)
                for way, (precision, length, right) in found.items():
                    print(f"    {way:<24}{precision:6.3f}   list {right:5,} of {length:5,}", flush=True)
    for kind, cells in every.items():
        means = {way: np.mean([one[way][0] for one in cells]) for way in (*OURS, *THEIRS)}
        print(f"mean, {kind:<10}" + "  ".join(f"{way} {value:.3f}" for way, value in means.items()))


if __name__ == "__main__":
    main()

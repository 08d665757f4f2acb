"""A small audit on disk, as the steps before the report leave it: for the tests of the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.compare.versions import Comparison, EvaluationSet, compare_versions
from cartograph.dynamics.epoch_files import dynamics_table
from cartograph.maps.measures import compute_measures
from cartograph.maps.regions import assign_regions
from cartograph.maps.table import map_metrics, map_table
from cartograph.schema import COORDINATES, HISTORY, QUARANTINE, DatasetInfo, examples_schema
from cartograph.suspects.detector import choose_detector
from cartograph.suspects.figures import EXPERIMENT
from cartograph.suspects.flips import choose_flips
from cartograph.suspects.listing import Evidence, assumed_measures, choose_suggestions, map_measures, mean_probabilities, suspects_table
from cartograph.suspects.record import noise_metrics, noise_record

LABELS = ("contradiction", "entailment", "neutral")
HOSTILE = '</script><script>window.pwned = 1</script><img src=x onerror="window.pwned = 2">'
_SUBJECTS = ("A young man", "Two children", "The old woman", "A dog", "Three musicians", "Somebody in a red coat", "The chef", "A cyclist")
_VERBS = ("is waiting for", "walks past", "looks at", "paints", "carries", "stands beside", "photographs", "repairs")
_OBJECTS = ("a yellow bus", "the closed bakery", "an empty fountain", "a wooden boat", "the tall ladder", "a street lamp", "the last train")
_PLACES = ("in the rain", "near the harbour", "before sunrise", "on a crowded square", "under the bridge", "behind the school")


def write_audit(
    folder: Path, *, rows: int = 300, epochs: int = 6, seed: int = 7, hostile: bool = True, imported: bool = False
) -> dict[str, Path]:
    """Write the inputs of the report step under ``folder``; return declared name -> path, but for the page's assets."""
    rng = np.random.default_rng(seed)
    (folder / "reports" / "figures").mkdir(parents=True)
    for name in ("ingest", "train", "measure", "noise", "score", "evaluate"):
        (folder / "data" / name).mkdir(parents=True)
    examples = _examples(rng, rows, hostile)
    kinds = rng.choice(["plain", "flipped", "ambiguous"], rows, p=[0.87, 0.05, 0.08])
    kinds[0] = "flipped"
    logits = _logits(rng, examples, kinds, epochs)
    pq.write_table(examples, folder / "data/ingest/train.parquet")
    _write_ingest(folder, rows, examples)
    measures = _write_measures(folder, examples, logits)
    _write_training(folder, examples, logits, measures, imported)
    noise = write_noise(folder, measures, logits, imported=imported)
    _write_score(folder, measures, kinds, examples, noise)
    _write_evaluation(folder, rng)
    _write_experiment(folder)
    _write_still(folder, measures)
    (folder / "params.yaml").write_text("measure: {max_points: 25000}\n")
    names = ["params.yaml", "reports/figures/data_map.png"]
    names += [f"data/{name}" for name in ("ingest", "train", "measure", "noise", "score", "evaluate", "ablate/seeds")]
    names += [f"reports/{name}.metrics.json" for name in ("ingest", "train", "measure", "noise", "score", "evaluate")]
    return {name: folder / name for name in names}


def _examples(rng: np.random.Generator, rows: int, hostile: bool) -> pa.Table:
    def sentence() -> str:
        return f"{rng.choice(_SUBJECTS)} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)} {rng.choice(_PLACES)}"

    premises = [f"{sentence()} while {sentence().lower()}." for _ in range(rows)]
    hypotheses = [f"{sentence()}." for _ in range(rows)]
    if hostile:
        premises[0], hypotheses[0] = HOSTILE, "plain & simple <b>bold</b> 日本語 \u2028 end"
    info = DatasetInfo("train", "train", "pair", ("premise", "hypothesis"), (), LABELS)
    uids = [f"{index:016x}" for index in range(rows)]
    label = pa.array(rng.integers(0, 3, rows), pa.int32())
    columns = [uids, premises, hypotheses, label, ["planted.jsonl"] * rows, list(range(1, rows + 1))]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=examples_schema(info))


def _logits(rng: np.random.Generator, examples: pa.Table, kinds: np.ndarray, epochs: int) -> np.ndarray:
    gold = examples["label"].to_numpy()
    rows = len(gold)
    truth = np.where(kinds == "flipped", (gold + 1) % 3, gold)
    steps = np.arange(1, epochs + 1)
    learnt = rng.gamma(4.0, 0.28, rows)[:, None] * steps[None, :] ** 0.8
    learnt += np.where(kinds == "ambiguous", 1.6, 0.45)[:, None] * rng.normal(size=(rows, epochs))
    learnt *= np.where(kinds == "ambiguous", 0.25, 1.0)[:, None]
    logits = rng.normal(scale=0.3, size=(rows, epochs, 3))
    logits[np.arange(rows)[:, None], np.arange(epochs)[None, :], truth[:, None]] += learnt
    return logits.astype(np.float32)


def _write_ingest(folder: Path, rows: int, examples: pa.Table) -> None:
    names = examples["label"].to_pylist()
    classes = {label: names.count(index) for index, label in enumerate(LABELS)}

    def check(name: str, **values: Any) -> dict[str, Any]:
        plain = {"severity": "critical", "passed": True, "expected": "none", "found": "none", "unexpected": 0, "share": 0.0, "examples": []}
        return {"check": name, **plain, **values}

    train_checks = [
        check("every text has at least one word"),
        check("uids are unique"),
        check("labels are known", expected="contradiction, entailment or neutral", found="contradiction, entailment, neutral"),
        check(
            "no text has two different labels",
            severity="warning",
            passed=False,
            found="4 rows in 2 groups",
            unexpected=4,
            share=0.01,
            examples=["0000000000000003", "0000000000000007", HOSTILE],
        ),
    ]
    sets = [
        {
            "set": "train",
            "domain": "train",
            "files": ["planted.jsonl"],
            "rows_read": rows + 4,
            "rows_used": rows,
            "quarantined": 4,
            "checks": train_checks,
        }
    ]
    for name, domain in (("challenge", "ood"), ("validation", "id")):
        entry = {"set": name, "domain": domain, "files": [f"{name}.jsonl"], "rows_read": 100, "rows_used": 100, "quarantined": 0}
        sets.append(entry | {"checks": [check("every text has at least one word"), check("no row is also in the train set")]})
    for entry in sets:
        entry["classes"] = classes if entry["set"] == "train" else dict(zip(LABELS, (33, 33, 34), strict=True))
    validation = {"passed": True, "sets": sets, "quarantine": {"empty text": 3, "unknown label": 1}}
    (folder / "data/ingest/validation.json").write_text(json.dumps(validation))
    bad = [("premise", "", "empty text")] * 3 + [("label", "entailmnt <i>", "unknown label")]
    records = [
        {
            "set": "train",
            "file": "planted.jsonl",
            "row": rows + 1 + index,
            "column": column,
            "value": value,
            "reason": reason,
            "record": "{}",
        }
        for index, (column, value, reason) in enumerate(bad)
    ]
    pq.write_table(pa.Table.from_pylist(records, schema=QUARANTINE), folder / "data/ingest/quarantine.parquet")
    metrics = {"rows.train": rows, "quarantined": 4, "validation.passed": 1, "validation.failed": 1}
    (folder / "reports/ingest.metrics.json").write_text(json.dumps(metrics))


def _write_measures(folder: Path, examples: pa.Table, logits: np.ndarray) -> pa.Table:
    uids = examples["uid"].to_pylist()
    gold = examples["label"].to_numpy()
    measured = compute_measures(uids, logits, gold)
    regions = assign_regions(
        uids, measured.confidence, measured.variability, easy=0.33, ambiguous=0.33, hard=0.10, rng=np.random.default_rng(13)
    )
    table = map_table(uids, gold, measured, regions)
    pq.write_table(table, folder / "data/measure/measures.parquet")
    (folder / "reports/measure.metrics.json").write_text(json.dumps(map_metrics(measured, regions)))
    return table


def _write_training(folder: Path, examples: pa.Table, logits: np.ndarray, measures: pa.Table, imported: bool) -> None:
    train = folder / "data/train"
    epochs = logits.shape[1]
    if imported:
        pq.write_table(measures.select(COORDINATES.names).cast(COORDINATES), train / "coordinates.parquet")
        pq.write_table(HISTORY.empty_table(), train / "history.parquet")
        training = {"model": "imported", "record": None, "epochs": epochs, "source": "imported", "parameters": 0, "device": None}
        unknown = ("predicted", "forgetting", "never_learnt", "aum", "el2n", "loss")
        for name in unknown:
            place = measures.schema.get_field_index(name)
            measures = measures.set_column(
                place, measures.schema.field(name), pa.nulls(measures.num_rows, measures.schema.field(name).type)
            )
        pq.write_table(measures, folder / "data/measure/measures.parquet")
    else:
        (train / "dynamics").mkdir()
        for epoch in range(epochs):
            table = dynamics_table(examples["uid"].combine_chunks(), examples["label"].to_numpy(), logits[:, epoch])
            pq.write_table(table, train / f"dynamics/epoch={epoch}.parquet")
        history = [
            {"epoch": epoch, "set": name, "loss": floor + 0.9 * 0.6**epoch, "accuracy": best - 0.5 * 0.55**epoch}
            for epoch in range(epochs)
            for name, best, floor in (("train", 0.95, 0.15), ("validation", 0.86, 0.4), ("challenge", 0.71, 0.75))
        ]
        pq.write_table(pa.Table.from_pylist(history, schema=HISTORY), train / "history.parquet")
        training = {"model": "bow", "record": "train_pass", "epochs": epochs, "source": "trained", "parameters": 123456, "device": "cpu"}
    (train / "training.json").write_text(json.dumps(training))
    metrics = {
        "train.accuracy": 0.93,
        "train.loss": 0.2,
        "validation.accuracy": 0.83,
        "validation.macro_f1": 0.82,
        "challenge.accuracy": 0.68,
        "epochs": epochs,
    }
    (folder / "reports/train.metrics.json").write_text(
        json.dumps({"epochs": epochs} if imported else metrics | {"challenge.macro_f1": 0.66})
    )


def write_noise(folder: Path, measures: pa.Table, logits: np.ndarray, *, imported: bool) -> pa.Table:
    """Flip labels on the map that is there, look for suspects with the paper's detector, and write what the step `noise` does."""
    known = map_measures(measures)
    gold = measures["gold"].to_numpy()
    easy = measures["region"].to_numpy(zero_copy_only=False) == "easy-to-learn"
    flips = choose_flips(easy, gold, 3, max(0.01, 16 / len(gold)), np.random.default_rng(3))
    original = Evidence(gold, LABELS, known, None if imported else mean_probabilities(logits), logits.shape[1], None)
    noised = replace(original, labels=flips.labels, measures=assumed_measures(known, flips.planted, 3))
    rng = np.random.default_rng(5)
    choice = choose_detector(noised.columns, original.columns, flips.planted, rng, asked="confidence", assumed=imported)
    suggestions = choose_suggestions(original, noised, flips)
    assumption = "by assumption, not learnt: that so and so" if imported else None
    uids = measures["uid"].to_numpy(zero_copy_only=False)
    suspects = suspects_table(uids, choice.chosen, original, suggestions.probabilities, assumption=assumption or "")
    asked = {"detector": "auto", "threshold": 0.5}
    record = noise_record(flips, choice, suggestions, suspects, None, asked=asked, assumption=assumption)
    experiment = {"uid": measures["uid"], "flipped": flips.planted}
    for when, side in (("before", known), ("after", noised.measures)):
        experiment |= {f"{name}_{when}": getattr(side, name) for name in ("confidence", "variability")}
    pq.write_table(suspects, folder / "data/noise/noise.parquet")
    pq.write_table(pa.table(experiment, schema=EXPERIMENT), folder / "data/noise/experiment.parquet")
    (folder / "data/noise/noise.json").write_text(json.dumps(record))
    (folder / "reports/noise.metrics.json").write_text(json.dumps(noise_metrics(record)))
    return suspects


def _write_score(folder: Path, measures: pa.Table, kinds: np.ndarray, examples: pa.Table, suspects: pa.Table) -> None:
    confidence = measures["confidence"].to_numpy()
    rank = np.empty(len(confidence), dtype=np.int64)
    rank[np.argsort(confidence, kind="stable")] = np.arange(1, len(confidence) + 1)
    gold = examples["label"].to_numpy()
    true_label = [
        None if kind == "ambiguous" else LABELS[(label + (kind == "flipped")) % 3] for kind, label in zip(kinds, gold, strict=True)
    ]
    table = pa.table(
        {
            "uid": examples["uid"],
            "kind": kinds.tolist(),
            "true_label": true_label,
            "error": [("slip", "one-way", "careless")[index % 3] if kind == "flipped" else None for index, kind in enumerate(kinds)],
            "give_away": [index % 4 != 0 for index in range(len(gold))],
            "rank": rank,
            "flipped": [kind == "flipped" for kind in kinds],
            "suspect_rank": suspects["rank"].cast(pa.int64()),
            "flagged": suspects["flagged"],
        }
    )
    pq.write_table(table, folder / "data/score/score.parquet")
    metrics = {"average_precision": 0.912, "precision": 0.87, "recall": 0.83, "low_confidence.average_precision": 0.873}
    (folder / "reports/score.metrics.json").write_text(json.dumps(metrics))


def retrained(rng: np.random.Generator, *, fails: bool = True) -> Comparison:
    """Models of three seeds on three versions of a train set: cleaned is better on ``challenge``; one training on random failed."""
    right = {"original": (0.86, 0.68), "cleaned": (0.865, 0.74), "random": (0.857, 0.675)}
    runs = [(subset, seed) for subset in right for seed in (1, 2, 3)]
    sets = []
    for place, (name, domain) in enumerate((("validation", "id"), ("challenge", "ood"))):
        gold = rng.integers(0, 3, 800)
        luck = rng.random(800)
        predicted = {}
        for subset, seed in runs:
            lucky = np.where(rng.random(800) < 0.9, luck, rng.random(800))
            predicted[subset, seed] = np.where(lucky < right[subset][place], gold, (gold + 1) % 3)
        if fails:
            predicted["random", 3] = np.zeros(800, dtype=np.int64)
        sets.append(EvaluationSet(name, domain, gold, predicted))
    failed = {run: fails and run == ("random", 3) for run in runs}
    return compare_versions(sets, failed, ("accuracy", "macro_f1"), resamples=500, seed=13)


def _write_evaluation(folder: Path, rng: np.random.Generator) -> None:
    comparison = retrained(rng)
    for name in ("evaluation", "summary", "differences"):
        pq.write_table(getattr(comparison, name), folder / f"data/evaluate/{name}.parquet")
    (folder / "data/evaluate/broken.json").write_text("[]")
    metrics = {"original.rows": 300, "cleaned.rows": 291, "random.rows": 291}
    (folder / "reports/evaluate.metrics.json").write_text(json.dumps(metrics))


def _write_experiment(folder: Path) -> None:
    from cartograph.experiments.figures import line_figure
    from cartograph.figures.saving import save_figure

    target = folder / "data/ablate/seeds"
    target.mkdir(parents=True)
    said = {"name": "seeds", "question": "do maps agree?", "source": "footnote 6", "answer": f"on {HOSTILE} they do", "tables": ["pairs"]}
    (target / "finding.json").write_text(json.dumps(said))
    pq.write_table(pa.table({"seed": [1], "set": [HOSTILE]}), target / "pairs.parquet")
    save_figure(line_figure("Maps", "seed", {"r": {"all": ([1.0, 2.0], [0.5, 0.6])}}), target / "seeds.png")


def _write_still(folder: Path, measures: pa.Table) -> None:
    from cartograph.figures.saving import save_figure
    from cartograph.figures.still_map import data_map

    save_figure(data_map(measures, max_points=25_000, seed=13, title="default"), folder / "reports/figures/data_map.png")

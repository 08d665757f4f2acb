"""Small audits in memory, one for each part of the page, for the tests of its sections."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.bias.accuracies import ACCURACIES
from cartograph.bias.neighbours import NEIGHBOURS
from cartograph.bias.words import REVEALING
from cartograph.compare.selections import TrainedSelections
from cartograph.compare.versions import EvaluationSet, compare_versions
from cartograph.data.images import png_of
from cartograph.data.subsets import rows_of
from cartograph.page.audit import Audit, Limits
from cartograph.page.blocks import Facts
from cartograph.page.step_results import (
    Aflite,
    Bias,
    Cleaning,
    EvaluationLabels,
    ExperimentAnswer,
    HowMade,
    LabelFound,
    Selections,
    SinceLastAudit,
    Suspects,
)
from cartograph.schema import (
    AFLITE,
    AFLITE_HISTORY,
    CHANGES,
    HISTORY,
    MEASURES,
    NOISE,
    QUARANTINE,
    REGIONS,
    ROW_CHANGES,
    DatasetInfo,
    examples_schema,
)
from cartograph.suspects.figures import EXPERIMENT
from tests.report_audit import retrained
from tests.training_sets import Task, small_set

HOSTILE = '"><script>window.pwned = 1</script>'
TYPE_CODES = {"u8": "<u1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4", "f32": "<f4"}
CONFIDENCE = (0.05, 0.10, 0.50, 0.52, 0.90, 0.95, 0.97, 0.99)
VARIABILITY = (0.02, 0.05, 0.40, 0.45, 0.10, 0.05, 0.03, 0.01)
GOLD = (0, 0, 1, 0, 1, 1, 0, 1)
PREDICTED = (1, 1, 1, 0, 1, 1, 0, 1)
REGION = ("hard-to-learn",) * 2 + ("ambiguous",) * 2 + ("unassigned",) * 2 + ("easy-to-learn",) * 2


def check_of(name: str, passed: bool = True, severity: str = "critical", **more: object) -> dict[str, object]:
    plain = {"expected": "none", "found": "none", "unexpected": 0, "share": 0.0, "examples": []}
    return {"check": name, "severity": severity, "passed": passed, **plain, **more}


def set_entry(name: str, domain: str, checks: list[dict[str, object]], quarantined: int = 0) -> dict[str, object]:
    counts = {"rows_read": 8 + quarantined, "rows_used": 8, "quarantined": quarantined, "classes": {"no": 4, "yes": 4}}
    return {"set": name, "domain": domain, "files": [f"{name}.csv"], **counts, "checks": checks}


def small_audit() -> Audit:
    """Eight rows of two labels: two hard, two ambiguous, two easy; nothing but a map and one check."""
    info = DatasetInfo("train", "train", "single", ("text",), (), ("no", "yes"))
    uids = [f"u{index}" for index in range(8)]
    texts = ["same", "same", "c", "d", "e", "f", "g", "h"]
    arrays = [uids, texts, pa.array(GOLD, pa.int32()), ["train.csv"] * 8, list(range(1, 9))]
    examples = pa.Table.from_arrays([pa.array(values) for values in arrays], schema=examples_schema(info))
    columns = {"uid": uids, "gold": GOLD, "predicted": PREDICTED, "confidence": CONFIDENCE, "variability": VARIABILITY, "region": REGION}
    columns |= {"correctness": [0.0, 0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0], "threshold_closeness": [0.1] * 8}
    measures = pa.Table.from_arrays([pa.array(columns.get(field.name, [None] * 8), field.type) for field in MEASURES], schema=MEASURES)
    history = [
        {"epoch": epoch, "set": name, "loss": 1.0 - epoch / 4, "accuracy": 0.5 + epoch / 4} for epoch in (0, 1) for name in ("train", "dev")
    ]
    return Audit(
        examples=examples,
        measures=measures,
        probabilities=np.repeat(np.array(CONFIDENCE)[:, None], 2, axis=1),
        history=pa.Table.from_pylist(history, schema=HISTORY),
        validation={"passed": True, "sets": [set_entry("train", "train", [check_of("uids are unique")])], "quarantine": {}},
        quarantine=QUARANTINE.empty_table(),
        training={"model": "bow", "record": "train_pass", "epochs": 2, "source": "trained", "parameters": 10, "device": "cpu"},
        metrics={"train": {"train.accuracy": 0.75, "dev.accuracy": 0.625, "dev.macro_f1": float("nan")}},
        score=None,
        window=(0, 2),
        still=None,
        how_made=HowMade(
            "default",
            "make audit",
            {"ingest": {"seed": 13, "text": ["text"], "labels": []}, "publish": {"experiment": None}},
            {"numpy": "2"},
            {"data/ingest/train.parquet": "ab"},
        ),
        limits=Limits(examples=2, listed=3),
    )


def with_planted_truth(audit: Audit) -> Audit:
    kinds = ["flipped", "plain", "ambiguous", "flipped", "plain", "plain", "plain", "plain"]
    flipped = [kind == "flipped" for kind in kinds]
    table = {
        "uid": audit.measures["uid"],
        "kind": kinds,
        "true_label": ["yes"] * 8,
        "error": ["slip", None, None, "careless", None, None, None, None],
        "give_away": [False] * 4 + [True] * 4,
        "rank": range(1, 9),
        "flipped": flipped,
    }
    metrics = {**audit.metrics, "score": {"average_precision": 0.75, "precision": 0.5, "recall": 0.5}}
    return replace(
        audit,
        score=pa.table({name: pa.array(list(values)) if isinstance(values, range) else values for name, values in table.items()}),
        metrics=metrics,
    )


def with_versions(audit: Audit, **options: bool) -> Audit:
    metrics = {**audit.metrics, "evaluate": {"original.rows": 8, "cleaned.rows": 7, "random.rows": 7}}
    return replace(audit, comparison=retrained(np.random.default_rng(7), **options), metrics=metrics)


def with_suspects(audit: Audit, *, flagged: tuple[int, ...] = (1, 0), assumption: str | None = None, **changes: object) -> Audit:
    """Rows flagged in this order; two flips found by the committee."""
    uids, count = audit.measures["uid"].to_pylist(), audit.rows
    order = [*flagged, *(row for row in range(count) if row not in flagged)]
    rows = [
        {
            "uid": uids[row],
            "probability": 0.99 - 0.8 * order.index(row) / count,
            "flagged": row in flagged,
            "suggested": 1 - int(audit.gold[row]),
            "suggested_probability": 0.7 if row in flagged else 0.2,
            "rank": order.index(row) + 1,
            "reason": f"because {row}",
        }
        for row in range(count)
    ]
    experiment = {"uid": uids, "flipped": [row > 5 for row in range(count)]}
    experiment |= {
        "confidence_before": [0.96] * count,
        "variability_before": [0.02] * count,
        "confidence_after": [0.12] * count,
        "variability_after": [0.3] * count,
    }
    record = {
        "rows": count,
        "suspects": len(flagged),
        "threshold": 0.5,
        "flips": 2,
        "asked": "auto",
        "detector": "committee",
        "reason": "So it is.",
        "assumption": assumption,
        "detectors": {"confidence": {"f1": 0.95, "average_precision": 0.75}, "committee": {"f1": 1.0, "average_precision": 0.875}},
        "f1_variability": 0.6,
        "tested_on": 2,
        "left_out": 1,
        "suggestions": {"from": "in-sample", "right": {"in-sample": 0.5, "out-of-fold": 0.5}},
    }
    found = Suspects(pa.Table.from_pylist(rows, schema=NOISE), record | changes, pa.table(experiment, schema=EXPERIMENT))
    return replace(audit, suspects=found)


LABELS = (
    LabelFound("war", 3, 1, 0, (2.2, 1.0, 4.0)),
    LabelFound("sea", 2, 1, 1),
    LabelFound("typo", 1, note="yes in 1 row, of 5 that are needed"),
)


def with_several_labels(audit: Audit) -> Audit:
    """The eight rows as two labels each of four rows, and a third that could not be audited."""
    return replace(audit, several=LABELS)


def with_cleaning(audit: Audit) -> Audit:
    """Row 0 dropped by the recipe, row 1 by Ann, row 2 relabelled by Ann."""
    changes = [
        {"uid": "u0", "what": "drop", "from": "no", "to": None, "why": "suspect 2", "by": "recipe drop-flagged"},
        {"uid": "u1", "what": "drop", "from": "no", "to": None, "why": "<b>gibberish</b>", "by": "Ann"},
        {"uid": "u2", "what": "relabel", "from": "yes", "to": "no", "why": "read it", "by": "Ann"},
    ]
    version = {"version": "abc", "parent": "def", "rows": 6, "parent_rows": 8, "dropped": 2, "relabelled": 1, "changes": 3}
    return replace(with_suspects(audit), cleaning=Cleaning(pa.Table.from_pylist(changes, schema=CHANGES), version))


def with_aflite(audit: Audit) -> Audit:
    """Of rows 1 to 7 the last two went, one a round; row 0 was held back."""
    kept = [True] * 5 + [False] * 2
    rows = {
        "uid": [f"u{row}" for row in range(1, 8)],
        "kept": kept,
        "removed_in_round": [None] * 5 + [2, 1],
        "predictability_first": [0.5, None, 0.25, 0.5, 0.5, 0.8, 1.0],
        "predictability_last": [0.5, None, 0.25, 0.5, 0.5, 0.9, 1.0],
        "n_predictions": [4, 0, 4, 4, 4, 5, 5],
    }
    history = {
        "round": [1, 2, 3],
        "size": [7, 6, 5],
        "bias": [0.7, 0.6, 0.44],
        "accuracy": [0.7, 0.6, 0.44],
        "eligible": [2, 1, 0],
        "removed": [1, 1, 0],
        "never_held_out": [1, 1, 1],
    }
    record = {
        "features": {"source": "finetuned", "width": 4, "pool": 7, "held_back": 1, "sets": ["dev", "train"]},
        "variant": "slicing",
        "n_partitions": 5,
        "train_size": 2,
        "slice_size": 1,
        "threshold": 0.75,
        "rows": 7,
        "kept": 5,
        "removed": 2,
        "rounds": 2,
        "bias_before": 0.7,
        "bias_after": 0.44,
        "stop_reason": "target size reached",
        "evaluation": {"dev": {"rows": 4, "kept": 3}},
    }
    return replace(audit, aflite=Aflite(pa.table(rows, schema=AFLITE), pa.table(history, schema=AFLITE_HISTORY), record))


def with_bias(audit: Audit) -> Audit:
    """A linear model that is right on 8 of 10 rows before and on 5 of 10 after, and the hypothesis alone."""
    right = {
        ("full", "full"): 0.8,
        ("random", "full"): 0.75,
        ("filtered", "filtered"): 0.5,
        ("full", "filtered"): 0.55,
        ("filtered", "full"): 0.7,
    }
    first = {"train_rows": 8, "seed": 1, "set": "dev", "test_rows": 10, "majority": 0.5}
    accuracies = [
        {**first, "model": "linear", "input": given, "trained_on": trained, "tested_on": tested, "accuracy": value}
        for given in ("whole input", "text alone")
        for (trained, tested), value in right.items()
    ]
    word = {"listed": "before", "label": 1, "rank": 1, "word": "<i>nobody</i>", "rows_before": 5, "share_before": 0.9, "pmi_before": 0.7}
    word |= {"rows_after": 0, "share_after": None, "pmi_after": None}
    distance = {"version": "before", "set": "dev", "label": 0, "against": "same", "top": 1, "rows": 3, "distance": 0.25}
    tables = ((accuracies, ACCURACIES), ([word], REVEALING), ([distance, {**distance, "version": "after", "distance": None}], NEIGHBOURS))
    return replace(audit, bias=Bias(*(pa.Table.from_pylist(rows, schema=schema) for rows, schema in tables)))


def with_earlier_audit(audit: Audit) -> Audit:
    """The second audit: row 7 is new, row 2 has another label, row 1 became suspect; one gate failed, one warned."""
    rows = [
        {"uid": "u7", "what": "added", "from": None, "to": "yes"},
        {"uid": "gone", "what": "removed", "from": "no", "to": None},
        {"uid": "u2", "what": "relabelled", "from": "<b>yes</b>", "to": "no"},
        {"uid": "u1", "what": "new suspect", "from": None, "to": None},
        {"uid": "u3", "what": "no longer suspect", "from": None, "to": None},
        {"uid": "u4", "what": "moved", "from": "ambiguous", "to": "hard-to-learn"},
    ]
    counts = {"before": 8, "now": 8, "added": 1, "removed": 1, "edited": 0, "relabelled": 1, "moved": 1}
    suspects = {"new": 1, "new.among_added": 0, "gone": 1, "removed": 0, "still": 1}
    numbers: dict[str, float] = {f"rows.{name}": value for name, value in counts.items()}
    numbers |= {f"suspects.{name}": value for name, value in suspects.items()}
    numbers |= {"class_shift": 0.1, "map.distance": 0.0421, "map.p": 0.005}
    trend = [(4, {"rows": 8, "dev.accuracy": 0.7}), (5, {"rows": 8, "dev.accuracy": 0.6, "suspects.share": 0.25})]
    changes = SinceLastAudit(
        audits=(4, 5),
        rows=pa.Table.from_pylist(rows, schema=ROW_CHANGES),
        numbers=numbers,
        regions={before: {now: int(before != now) for now in REGIONS} for before in REGIONS},
        classes={"no": (0.5, 0.4), "yes": (0.5, 0.6)},
        trend=trend,
        embedded={"train": {"kept": 7, "made": 1}, "dev": {"kept": 4, "made": 0}},
    )
    gate = {"warn": 0.1, "fail": 0.2, "value": 0.25}
    gates = [
        {**gate, "gate": "class_shift", "outcome": "passed", "sentence": "shifted by 10 %."},
        {**gate, "gate": "new_suspects", "outcome": "warned", "fail": None, "sentence": "1 of 8 became suspect."},
        {**gate, "gate": "suspects", "outcome": "failed", "sentence": "2 of 8 labels look wrong: <i>u1</i>."},
    ]
    return replace(with_suspects(audit), since_last_audit=changes, gates=gates)


def with_selections(audit: Audit, failed: tuple[str, ...] = ()) -> Audit:
    """The audit with models trained on selections, of 100 rows each so many right; trainings by the strategies ``failed`` have failed."""
    right = {"original": 90, "random-0.25": 60, "ambiguous-0.25": 75, "random-0.5": 70, "ambiguous-0.5": 71}
    gold = np.arange(100) % 2
    predicted = {(name, seed): np.where(np.arange(100) < number, gold, 1 - gold) for name, number in right.items() for seed in (1, 2)}
    named = {name: (name.rpartition("-")[0], float(name.rpartition("-")[2])) for name in right if name != "original"}
    chosen = TrainedSelections(named, dict.fromkeys(right, 10))
    sets = [EvaluationSet("far", "ood", gold, predicted)]
    ended = {(name, seed): name.partition("-")[0] in failed for name, seed in predicted}
    found = compare_versions(sets, ended, ["accuracy"], resamples=400, seed=1, pairs=chosen.pairs())
    return replace(audit, selections=Selections(found, chosen))


def with_experiment(audit: Audit) -> Audit:
    return replace(audit, experiments=[experiment_answer()])


def experiment_answer(**more: object) -> ExperimentAnswer:
    table = pa.table({"seed": [1, 2], "r": [0.51234567, None], "uid": ["<b>u</b>", "x" * 200]})
    values = {"name": "seeds", "question": "do maps agree?", "source": "footnote 6", "answer": "mean r 0.51", "tables": {"pairs": table}}
    return ExperimentAnswer(**values | {"picture": b"png"} | more)  # type: ignore[arg-type]


def said_of(section: object) -> str:
    """Return the lead of a section and its names with their values, as one text."""
    facts = [fact for block in section.blocks if isinstance(block, Facts) for fact in block.facts]
    return " ".join([section.lead, *(f"{name}: {value}" for name, value in facts)])


def block_of(section: object, kind: type) -> object:
    return next(item for item in section.blocks if isinstance(item, kind))  # type: ignore[attr-defined]


def audit_of_texts(rows: int, text: str = "word " * 100, **limits: Any) -> Audit:
    """An audit of as many rows, their places on the map drawn at random."""
    rng = np.random.default_rng(5)
    uids = [f"u{index:07d}" for index in range(rows)]
    info = DatasetInfo("train", "train", "pair", ("a", "b"), (), ("no", "yes"))
    gold = pa.array(rng.integers(0, 2, rows), pa.int32())
    columns = [
        uids,
        [f"{index} {text}" for index in range(rows)],
        [text] * rows,
        gold,
        [["yes", "no", "yes"]] * rows,
        ["f.csv"] * rows,
        range(rows),
    ]
    examples = pa.Table.from_arrays(
        [pa.array(list(column)) if not isinstance(column, pa.Array) else column for column in columns],
        schema=examples_schema(info, annotators=True),
    )
    confidence = rng.uniform(size=rows)
    known = {
        "uid": uids,
        "gold": gold,
        "confidence": confidence,
        "variability": rng.uniform(0, 0.5, rows),
        "correctness": confidence.round(),
    }
    known |= {"threshold_closeness": confidence, "region": ["ambiguous"] * rows, "predicted": gold}
    measures = pa.Table.from_arrays([pa.array(known.get(field.name, [None] * rows), field.type) for field in MEASURES], schema=MEASURES)
    return Audit(
        examples=rows_of(examples, measures["uid"], "the map"),
        measures=measures,
        probabilities=rng.uniform(size=(rows, 3)),
        history=HISTORY.empty_table(),
        validation={},
        quarantine=QUARANTINE.empty_table(),
        training={},
        metrics={},
        score=None,
        window=(0, 3),
        still=None,
        how_made=HowMade("default", "make audit"),
        limits=Limits(**limits),
    )


def audit_of_images(rows: int, side: int = 8, **limits: Any) -> Audit:
    """An audit of texts with noisy pictures in their place; its labels try to be markup."""
    rng = np.random.default_rng(2)
    info = DatasetInfo("train", "train", "image", (), (), (HOSTILE, "yes"), ("picture <b>",))
    audit = audit_of_texts(rows, "x", **limits)
    shape = (side, side) if side < 20 else (side, side, 3)
    pngs = [png_of(rng.integers(0, 255, shape, dtype=np.uint8), 999) for _ in range(min(rows, 40))]
    columns = {name: audit.examples[name] for name in ("uid", "label", "source", "row")}
    columns["picture <b>"] = pa.array([pngs[row % len(pngs)] for row in range(rows)], pa.binary())
    schema = examples_schema(info)
    return replace(audit, examples=pa.table({name: columns[name] for name in schema.names}, schema=schema))


def decoded(column: dict[str, str]) -> np.ndarray:
    """Return the numbers of a column that the page carries."""
    return np.frombuffer(base64.b64decode(column["data"]), dtype=TYPE_CODES[column["type"]])


def looked_at(name: str = "test", task: Task = "single", rows: int = 3, **record: object) -> EvaluationLabels:
    """An evaluation set of which so many labels are suspects."""
    examples = small_set(task, rows=max(rows, 2), name=name, domain="id").slice(0, rows)
    found = [
        {
            "uid": uid,
            "probability": 0.9,
            "flagged": True,
            "suggested": 0,
            "suggested_probability": 0.8,
            "rank": place,
            "reason": "<b>why</b>",
        }
        for place, uid in enumerate(examples["uid"].to_pylist(), start=1)
    ]
    found = [row | {"reason": "<b>why</b>"} for row in found]
    known = {"rows": 500, "suspects": rows, "wrong": None, "unknown": None, "explained": 0.5} | record
    return EvaluationLabels(name, known, examples, pa.Table.from_pylist(found, NOISE))


def with_evaluation_labels(audit: Audit) -> Audit:
    """One evaluation set with three suspects."""
    return replace(audit, evaluation_labels=[looked_at()])

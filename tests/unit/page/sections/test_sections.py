from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cartograph.bias.neighbours import NEIGHBOURS
from cartograph.bias.versions import ACCURACIES
from cartograph.bias.words import REVEALING
from cartograph.compare.selections import Chosen
from cartograph.compare.versions import DIFFERENCES, Comparison, EvaluationSet, compare
from cartograph.errors import InputError
from cartograph.page.audit import Aflite, Answer, Audit, Bias, Cleaned, Limits, Noise, Origin, Selections, Since, align
from cartograph.page.blocks import Charts, Checks, Dots, Facts, Map, Picture, Planes, Regions, RowTables, SuspectTable, Table
from cartograph.page.document import page
from cartograph.page.sections.aflite import aflite_section
from cartograph.page.sections.audit_changes import since_section
from cartograph.page.sections.bias import bias_section
from cartograph.page.sections.cleaning_changes import changes_section
from cartograph.page.sections.cleaning_worth import worth_section, worth_sentence
from cartograph.page.sections.edges import extremes_section
from cartograph.page.sections.experiments import LARGEST_PICTURE, experiments_section
from cartograph.page.sections.how_made import origin_section
from cartograph.page.sections.order import SECTIONS
from cartograph.page.sections.planted_truth import found_among_hardest, found_among_suspects, planted_section
from cartograph.page.sections.regions import regions_section
from cartograph.page.sections.selections import selections_section
from cartograph.page.sections.suspects import suspects_section
from cartograph.page.sections.thresholds import thresholds_section
from cartograph.page.sections.training import training_section
from cartograph.page.sections.validation import validation_section
from cartograph.page.verdict import verdict
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

CONFIDENCE = (0.05, 0.10, 0.50, 0.52, 0.90, 0.95, 0.97, 0.99)
VARIABILITY = (0.02, 0.05, 0.40, 0.45, 0.10, 0.05, 0.03, 0.01)
GOLD = (0, 0, 1, 0, 1, 1, 0, 1)
PREDICTED = (1, 1, 1, 0, 1, 1, 0, 1)
REGION = ("hard-to-learn",) * 2 + ("ambiguous",) * 2 + ("unassigned",) * 2 + ("easy-to-learn",) * 2


def check(name: str, passed: bool = True, severity: str = "critical", **more: object) -> dict[str, object]:
    plain = {"expected": "none", "found": "none", "unexpected": 0, "share": 0.0, "examples": []}
    return {"check": name, "severity": severity, "passed": passed, **plain, **more}


def entry(name: str, domain: str, checks: list[dict[str, object]], quarantined: int = 0) -> dict[str, object]:
    counts = {"rows_read": 8 + quarantined, "rows_used": 8, "quarantined": quarantined, "classes": {"no": 4, "yes": 4}}
    return {"set": name, "domain": domain, "files": [f"{name}.csv"], **counts, "checks": checks}


@pytest.fixture
def audit() -> Audit:
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
        validation={"passed": True, "sets": [entry("train", "train", [check("uids are unique")])], "quarantine": {}},
        quarantine=QUARANTINE.empty_table(),
        training={"model": "bow", "record": "train_pass", "epochs": 2, "source": "trained", "parameters": 10, "device": "cpu"},
        metrics={"train": {"train.accuracy": 0.75, "dev.accuracy": 0.625, "dev.macro_f1": float("nan")}},
        score=None,
        window=(0, 2),
        still=None,
        origin=Origin(
            "default",
            "make audit",
            {"ingest": {"seed": 13, "text": ["text"], "labels": []}, "publish": {"experiment": None}},
            {"numpy": "2"},
            {"data/ingest/train.parquet": "ab"},
        ),
        limits=Limits(examples=2, listed=3),
    )


def planted(audit: Audit) -> Audit:
    kinds = ["flipped", "plain", "ambiguous", "flipped", "plain", "plain", "plain", "plain"]
    flipped = [kind == "flipped" for kind in kinds]
    table = {
        "uid": audit.measures["uid"],
        "kind": kinds,
        "true_label": ["yes"] * 8,
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


def compared(audit: Audit, **options: bool) -> Audit:
    metrics = {**audit.metrics, "evaluate": {"original.rows": 8, "cleaned.rows": 7, "random.rows": 7}}
    return replace(audit, comparison=retrained(np.random.default_rng(7), **options), metrics=metrics)


def suspected(audit: Audit, *, flagged: tuple[int, ...] = (1, 0), assumption: str | None = None, **changes: object) -> Audit:
    """Rows flagged in this order; two flips found by the committee."""
    order = [*flagged, *(row for row in range(8) if row not in flagged)]
    rows = [
        {
            "uid": f"u{row}",
            "probability": 0.99 - 0.1 * order.index(row),
            "flagged": row in flagged,
            "suggested": 1 - GOLD[row],
            "suggested_probability": 0.7,
            "rank": order.index(row) + 1,
            "reason": f"because {row}",
        }
        for row in range(8)
    ]
    experiment = {"uid": [f"u{row}" for row in range(8)], "flipped": [row > 5 for row in range(8)]}
    experiment |= {
        "confidence_before": [0.96] * 8,
        "variability_before": [0.02] * 8,
        "confidence_after": [0.12] * 8,
        "variability_after": [0.3] * 8,
    }
    record = {
        "rows": 8,
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
    noise = Noise(pa.Table.from_pylist(rows, schema=NOISE), record | changes, pa.table(experiment, schema=EXPERIMENT))
    return replace(audit, noise=noise)


def cleaned(audit: Audit) -> Audit:
    """Row 0 dropped by the recipe, row 1 by Ann, row 2 relabelled by Ann."""
    changes = [
        {"uid": "u0", "what": "drop", "from": "no", "to": None, "why": "suspect 2", "by": "recipe drop-flagged"},
        {"uid": "u1", "what": "drop", "from": "no", "to": None, "why": "<b>gibberish</b>", "by": "Ann"},
        {"uid": "u2", "what": "relabel", "from": "yes", "to": "no", "why": "read it", "by": "Ann"},
    ]
    version = {"version": "abc", "parent": "def", "rows": 6, "parent_rows": 8, "dropped": 2, "relabelled": 1, "changes": 3}
    return replace(suspected(audit), cleaned=Cleaned(pa.Table.from_pylist(changes, schema=CHANGES), version))


def filtered(audit: Audit) -> Audit:
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


def biased(audit: Audit) -> Audit:
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


def followed(audit: Audit) -> Audit:
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
    since = Since(
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
    return replace(suspected(audit), since=since, gates=gates)


def block(section: object, kind: type) -> object:
    return next(item for item in section.blocks if isinstance(item, kind))  # type: ignore[attr-defined]


@pytest.mark.parametrize("build", SECTIONS, ids=lambda build: build.__name__)
@pytest.mark.parametrize(
    "change",
    [lambda audit: audit, planted, compared, suspected, cleaned, filtered, biased, followed],
    ids=["plain", "planted", "compared", "suspected", "cleaned", "filtered", "biased", "followed"],
)
def test_every_section_has_an_anchor_and_blocks_or_a_reason(
    audit: Audit, build: Callable[..., object], change: Callable[[Audit], Audit]
) -> None:
    section = build(change(audit))
    if section is not None:
        assert section.id.isidentifier()
        assert section.title
        assert bool(section.blocks) != bool(section.why)
        assert section.listed() <= set(range(audit.rows))
        for item in section.content()["blocks"]:
            assert item["kind"]


def test_section_ids_are_distinct(audit: Audit) -> None:
    whole = asked(biased(filtered(selected(followed(cleaned(compared(planted(audit))))))))
    ids = [section.id for build in SECTIONS if (section := build(whole)) is not None]
    assert len(set(ids)) == len(ids) == len(SECTIONS)


def test_what_changed_is_told_with_the_rows_and_the_trend(audit: Audit) -> None:
    assert since_section(audit) is None
    section = since_section(followed(audit))
    assert section is not None
    assert " ".join(section.lead.split()) == (
        "This is audit 5 of this workspace; it is held against audit 4. 1 row was added, 1 row was removed and 1 row was relabelled. "
        "1 label became suspect, 1 still is, 1 no longer is. 1 row of the 7 that both audits have (14 %) changed region. "
        "The energy distance of the two maps is 0.042 (0 = the same; p = 0.005 in a permutation test that takes rows for independent). "
        "The frozen encoder's vectors of 11 rows with the same texts were kept, those of 1 were made anew; "
        "every model was trained anew, on all rows. The first table has the labels that became suspect."
    )
    suspects = block(section, SuspectTable)
    assert [suspect.place for suspect in suspects.suspects] == [1]  # type: ignore[attr-defined]
    lists = block(section, RowTables)
    assert [(found.name, list(found.rows)) for found in lists.lists] == [("Added", [7]), ("No longer suspect", [3])]  # type: ignore[attr-defined]
    charts = block(section, Charts)
    accuracy = next(chart for chart in charts.charts if chart.title == "Accuracy")  # type: ignore[attr-defined]
    assert (list(accuracy.x), list(accuracy.series[0].values)) == ([4.0, 5.0], [0.7, 0.6])


def test_gates_that_went_off_come_first_and_are_in_the_verdict(audit: Audit) -> None:
    assert thresholds_section(audit) is None
    section = thresholds_section(followed(audit))
    assert section is not None
    assert section.lead.startswith("2 gates of 3 went off.")
    table = block(section, Table)
    assert [row[:4] for row in table.cells] == [  # type: ignore[attr-defined]
        ("suspects", "FAILED", "0.1", "0.2"),
        ("new_suspects", "WARNED", "0.1", "never"),
        ("class_shift", "passed", "0.1", "0.2"),
    ]
    lines = verdict(followed(audit)).lines
    assert "This fails the audit: 2 of 8 labels look wrong: <i>u1</i>." in lines
    assert "Since the audit before, 1 label became suspect." in lines


def test_the_filter_says_what_was_guessed_and_what_withstood(audit: Audit) -> None:
    section = aflite_section(filtered(audit))
    assert section is not None
    lead = section.lead.replace("\u00a0", " ")
    assert "nothing but a model trained on 1 of the rows, which left the pool guess 70 % of the labels" in lead
    assert "29 % of 7; of the 5 that stayed they guess 44 %" in lead
    first, stayed = block(section, RowTables).lists  # type: ignore[attr-defined]
    assert (first.name, list(first.rows)) == ("Went first", [7, 6])
    assert (stayed.name, list(stayed.rows)[:2]) == ("Withstood", [2, 3])
    assert 0 not in section.listed()
    facts = dict(block(section, Facts).facts)  # type: ignore[attr-defined]
    assert facts["dev"].replace("\u00a0", " ") == "filtered alike: 3 of 4 rows stay (75 %)"


def test_the_filters_preference_for_give_away_words_is_told(audit: Audit) -> None:
    told = planted(audit)
    numbers = {"give_away.odds_ratio": 4.2, "give_away.odds_ratio.low": 3.1, "give_away.odds_ratio.high": 5.6}
    numbers |= {"give_away.filtered": 0.7, "no_give_away.filtered": 0.3}
    section = planted_section(replace(told, metrics={**told.metrics, "score": {**told.metrics["score"], **numbers}}))
    facts = [fact for item in section.blocks if isinstance(item, Facts) for fact in item.facts]  # type: ignore[union-attr]
    assert any(name == "Odds ratio" and value.startswith("4.2 (95\u00a0% interval 3.1 to 5.6)") for name, value in facts)
    assert ("Taken out", "70\u00a0% of the rows with a give-away word, 30\u00a0% of the others") in facts


def test_before_and_after_are_told_where_each_was_trained(audit: Audit) -> None:
    section = bias_section(biased(audit))
    assert section is not None
    lead = section.lead.replace("\u00a0", " ")
    assert "On dev a linear model on words is right on 80.0 % of the rows when it learns from all, on 75.0 %" in lead
    assert "and on 50.0 % when it learns from what the filter kept" in lead
    table = block(section, Table)
    assert table.cells[0][3:10] == [80.0, 75.0, 50.0, 50.0, 70.0, pytest.approx(55.0), 10]  # type: ignore[attr-defined]
    assert table.cells[1][1] == "text alone"  # type: ignore[attr-defined]


def test_the_sentence_says_what_was_found(audit: Audit) -> None:
    found = verdict(audit)
    assert found.sentence == (
        "Over its training the model preferred another label for 2 of 8 rows (25\u00a0%); the one check of the data passed, "
        "and every row could be used."
    )
    assert found.lines == (
        "Start with the 2 hard-to-learn rows: the model gave their labels a probability of 0.08 on average, "
        "and it preferred another for 2 of them.",
    )
    assert [(figure.label, figure.value) for figure in found.figures] == [
        ("Rows", "8"),
        ("Quarantined", "0"),
        ("Hard to learn", "2"),
        ("Validation", "1 of 1"),
    ]


def test_a_failed_critical_check_is_at_the_top(audit: Audit) -> None:
    failed = [
        check("labels are known", passed=False, found="3 rows with other labels"),
        check("texts differ", passed=False, severity="warning"),
        check("x"),
    ]
    found = verdict(replace(audit, validation={"passed": False, "sets": [entry("train", "train", failed)], "quarantine": {}}))
    assert "2 of 3 checks of the data failed (1 critical)" in found.sentence
    assert found.lines[0] == "Critical, in train: labels are known: 3 rows with other labels."
    assert (found.figures[3].value, found.figures[3].state) == ("1 of 3", "bad")


def test_without_logits_the_sentence_speaks_of_confidence(audit: Audit) -> None:
    place = audit.measures.schema.get_field_index("predicted")
    unknown = audit.measures.set_column(place, audit.measures.schema.field("predicted"), pa.nulls(8, pa.int32()))
    found = verdict(replace(audit, measures=unknown, probabilities=None))
    assert found.sentence.startswith("The 2 hardest of 8 rows have a confidence of 0.10 or less;")
    assert found.figures[2].note == "confidence at most 0.10"


def test_extremes_are_ranked(audit: Audit) -> None:
    tables = block(extremes_section(audit), RowTables)
    assert [(rows.name, list(rows.rows)) for rows in tables.lists] == [
        ("Hardest", [0, 1, 2]),
        ("Most ambiguous", [3, 2, 4]),
        ("Easiest", [7, 6, 5]),
    ]


def test_regions_have_their_bounds_and_distinct_examples(audit: Audit) -> None:
    cards = {region.name: region for region in block(regions_section(audit), Regions).regions}
    assert list(cards) == ["hard-to-learn", "ambiguous", "easy-to-learn", "unassigned"]
    hard = cards["hard-to-learn"]
    assert (hard.rows, hard.share) == (2, "25\u00a0%")
    assert list(hard.bounds) == [
        ("Confidence", "0.05 to 0.10"),
        ("Variability", "0.02 to 0.05"),
        ("Model prefers another label", "2 (100\u00a0%)"),
    ]
    assert hard.examples == [0], "the second row has the same text"
    assert cards["ambiguous"].examples == [3, 2]
    assert cards["unassigned"].examples == []


def test_an_empty_region_has_no_card(audit: Audit) -> None:
    place = audit.measures.schema.get_field_index("region")
    moved = audit.measures.set_column(place, MEASURES.field("region"), pa.array(["easy-to-learn"] * 8))
    assert [region.name for region in block(regions_section(replace(audit, measures=moved)), Regions).regions] == ["easy-to-learn"]


def test_failed_checks_come_first(audit: Audit) -> None:
    examples = [f"row {number}" for number in range(1, 8)]
    checks = [
        check("fine"),
        check("warned", passed=False, severity="warning"),
        check("broken", passed=False, unexpected=9, examples=examples),
    ]
    section = validation_section(replace(audit, validation={"passed": False, "sets": [entry("train", "train", checks)], "quarantine": {}}))
    assert section is not None
    assert [item.check for item in block(section, Checks).checks] == ["broken", "warned", "fine"]
    assert block(section, Checks).checks[0].where == "row 1, row 2, row 3, row 4 and row 5, and 4 more"
    assert section.lead == "2 of 3 checks failed. Every row that was read could be used."


def test_quarantine_is_counted_by_reason_and_shows_each(audit: Audit) -> None:
    reasons = ["empty text"] * 4 + ["unknown label"]
    rows = [
        {"set": "train", "file": "a.csv", "row": number, "column": "text", "value": "v" * 200, "reason": reason, "record": "{}"}
        for number, reason in enumerate(reasons)
    ]
    sets = [entry("train", "train", [check("x")], quarantined=5)]
    changed = replace(
        audit,
        quarantine=pa.Table.from_pylist(rows, schema=QUARANTINE),
        validation={"passed": True, "sets": sets, "quarantine": {"empty text": 4}},
    )
    section = validation_section(changed)
    assert section is not None
    tables = {item.caption: item for item in section.blocks if isinstance(item, Table)}
    assert tables["Quarantined rows by reason"].cells == [("empty text", 4), ("unknown label", 1)]
    shown = tables["Examples of each reason"].cells
    assert [(cells[0], cells[3]) for cells in shown] == [("empty text", 0), ("empty text", 1), ("unknown label", 4)]
    assert max(len(cells[5]) for cells in shown) == 80
    assert "5 rows of 13 (38\u00a0%) could not be used and were set aside." in section.lead


def test_nothing_validated_is_no_section(audit: Audit) -> None:
    assert validation_section(replace(audit, validation={"passed": True, "sets": [], "quarantine": {}})) is None


def test_accuracy_has_an_interval_on_sets_of_known_size(audit: Audit) -> None:
    sets = [entry("train", "train", []), entry("dev", "id", [])]
    table = block(training_section(replace(audit, validation={"sets": sets, "quarantine": {}})), Table)
    assert table.cells == [("train", "train", 8, 0.75, None, None), ("dev", "in distribution", 8, 0.625, "0.31 to 0.86", None)]


def test_an_imported_map_says_why_there_is_no_curve(audit: Audit) -> None:
    section = training_section(replace(audit, training={"source": "imported"}, history=HISTORY.empty_table()))
    assert not section.blocks
    assert section.why.startswith("The map was imported from a training run elsewhere")


def test_planted_kinds_and_flips(audit: Audit) -> None:
    scored = planted(audit)
    assert found_among_hardest(scored.score) == (1, 2)
    section = planted_section(scored)
    assert section is not None
    assert "Of the 2 labels flipped on purpose, 1 is among the 2 least confident rows (50\u00a0%)." in section.lead
    assert [plane.title for plane in block(section, Planes).planes] == ["Flipped", "Ambiguous", "Plain"]
    assert block(section, Facts).facts[0] == (
        "Average precision",
        "0.75: of the ranking by low confidence; 1 = every flip before every other row",
    )
    flipped = block(section, Table).cells[0]
    assert flipped == ("Flipped", 2, pytest.approx(0.285), pytest.approx(0.235), 0.0, 0.5, 0.5, 0.0)
    gain = section.blocks[1].charts[0]
    assert gain.series[0].values[-1] == 2
    assert "flipped labels" in verdict(scored).lines[-1]
    assert planted_section(audit) is None


def test_suspects_are_listed_in_their_order_with_suggestion_and_reason(audit: Audit) -> None:
    section = suspects_section(suspected(audit))
    assert section is not None
    assert section.lead.startswith("2 labels of 8 look wrong (25\u00a0%). Suspects are not errors until somebody has read them")
    assert "2 labels of easy rows were flipped and the model trained again" in section.lead
    listed = block(section, SuspectTable).suspects
    assert [(item.place, item.rank, item.suggested, item.reason) for item in listed] == [(1, 1, 1, "because 1"), (0, 2, 1, "because 0")]
    assert section.listed() == {0, 1}
    assert suspects_section(audit) is None


def test_the_noise_experiment_is_shown_with_its_numbers(audit: Audit) -> None:
    section = suspects_section(suspected(audit))
    facts = dict(block(section, Facts).facts)
    assert facts["Detector"] == "So it is."
    assert facts["F1"].startswith("0.95 by confidence alone, 0.60 by variability alone, on 2 rows kept aside, half of them flipped")
    assert facts["Suggested labels"].endswith("; of the flips, 1 of 2 were named right so")
    assert facts["Left out"].startswith("1 row that every detector suspects")
    confidence, variability = block(section, Charts).charts
    assert [series.name for series in confidence.series] == ["right label", "flipped label"]
    assert [sum(series.values) for series in (*confidence.series, *variability.series)] == [1.0] * 4
    assert confidence.series[0].values[19] == 1.0 and confidence.series[1].values[2] == 1.0
    cells = block(section, Table).cells
    assert [(cell[0], cell[2], cell[3], cell[4]) for cell in cells] == [("committee", 1.0, 0.875, "used"), ("confidence", 0.95, 0.75, "")]


def test_what_was_assumed_is_said_wherever_suspects_are_counted(audit: Audit) -> None:
    assumed = suspected(
        audit,
        assumption="by assumption, not learnt: that so and so",
        detectors={"committee": {"f1": 1.0, "average_precision": 1.0}, "confidence": {"f1": 1.0, "average_precision": 1.0}},
    )
    section = suspects_section(assumed)
    assert "They were found by assumption, not learnt: that so and so: nothing could be retrained" in section.lead
    assert not [item for item in section.blocks if isinstance(item, Table)], "assumptions are not compared"
    found = verdict(assumed)
    assert found.sentence.startswith("2 of 8 labels look wrong (25\u00a0%), by an assumption that is stated below; ")
    assert found.figures[2].note == "25\u00a0% of the labels; by assumption, not learnt"


def test_the_verdict_counts_suspects(audit: Audit) -> None:
    found = verdict(suspected(audit))
    assert found.sentence == "2 of 8 labels look wrong (25\u00a0%); the one check of the data passed, and every row could be used."
    assert found.lines == ("Start with the 2 suspects: each has a suggested label and a reason.",)
    assert (found.figures[2].label, found.figures[2].value) == ("Suspects", "2")
    assert "F1 of 1.00" in found.figures[2].note
    one = verdict(suspected(audit, flagged=(3,)))
    assert one.sentence.startswith("1 of 8 labels looks wrong (12\u00a0%);")
    assert one.lines == ("Start with the suspect: it has a suggested label and a reason.",)


def test_no_suspects_is_said_so_and_the_experiment_still_shown(audit: Audit) -> None:
    none = suspected(audit, flagged=())
    assert verdict(none).sentence.startswith("None of 8 labels looks wrong; ")
    assert verdict(none).lines[0].startswith("Start with the 2 hard-to-learn rows")
    section = suspects_section(none)
    assert section.lead.startswith("0 labels of 8 look wrong (0\u00a0%). To learn")
    assert [item.kind for item in section.blocks] == ["charts", "facts", "table"]


def test_what_cleaning_is_worth_stands_at_the_top(audit: Audit) -> None:
    assert verdict(suspected(compared(audit))).lines[0].startswith("Cleaned beats original by ")


def test_suspects_against_the_planted_truth(audit: Audit) -> None:
    scored = suspected(planted(audit))
    table = scored.score.append_column("suspect_rank", scored.noise.suspects["rank"].cast(pa.int64()))
    scored = replace(scored, score=table.append_column("flagged", scored.noise.suspects["flagged"]))
    metrics = {
        **scored.metrics,
        "score": {"average_precision": 0.7, "precision": 0.5, "recall": 0.5, "low_confidence.average_precision": 0.6},
    }
    scored = replace(scored, metrics=metrics)
    assert found_among_suspects(scored.score) == (1, 2)
    section = planted_section(scored)
    assert "Of the 2 labels flipped on purpose, 1 (50\u00a0%) is among the 2 suspects. Low confidence alone: 1 among" in section.lead
    gain = block(section, Charts).charts[0]
    assert [series.name for series in gain.series] == ["most suspect first", "least confident first", "perfect", "at random"]
    assert gain.series[0].values[:3] == [0, 0, 1], "the flipped row 0 is the second suspect"
    assert block(section, Facts).facts[0] == (
        "Average precision",
        "0.70: of the suspects' ranking; 1 = every flip before every other row (low confidence alone: 0.60)",
    )
    assert (
        verdict(scored)
        .lines[-1]
        .endswith("1 of its 2 flipped labels is among the 2 suspects (average precision 0.70, where 1 is a perfect ranking).")
    )


def test_suspects_are_always_drawn(audit: Audit) -> None:
    few = replace(suspected(audit, flagged=(6, 2)), limits=Limits(examples=1, listed=1, max_points=5))
    content = json.loads(re.search(r'id="data-rows">(.*?)</script>', page(few), re.DOTALL)[1])
    places = np.frombuffer(base64.b64decode(content["place"]["data"]), dtype="<u4").tolist()
    suspect = np.frombuffer(base64.b64decode(content["suspect"]["data"]), dtype=np.uint8).tolist()
    assert [place for place, flag in zip(places, suspect, strict=True) if flag] == [2, 6]
    assert "suspect" not in json.loads(re.search(r'id="data-rows">(.*?)</script>', page(audit), re.DOTALL)[1])


def difference(**values: object) -> dict[str, object]:
    row = {"subset": "cleaned", "against": "original", "set": "challenge", "domain": "ood", "rows": 900, "metric": "accuracy", "seeds": 3}
    return row | values


@pytest.mark.parametrize(
    ("low", "middle", "high", "sentence"),
    [
        (0.0061, 0.0139, 0.0223, "Cleaned beats original by 1.4 points of accuracy out of distribution (0.6 to 2.2)."),
        (-0.0223, -0.0139, -0.0061, "Cleaned falls behind original by 1.4 points of accuracy out of distribution (0.6 to 2.2)."),
        (0.0003, 0.0139, 0.03, "Cleaned beats original by 1.39 points of accuracy out of distribution (0.03 to 3.00)."),
        (
            -0.0041,
            0.0049,
            0.0132,
            "Out of distribution cleaned does not measurably differ from original (+0.5 points of accuracy, 95 % interval −0.4 to +1.3).",
        ),
        (0.02, 0.09, 0.16, "Cleaned beats original by 9 points of accuracy out of distribution (2 to 16)."),
    ],
)
def test_what_cleaning_is_worth_is_said_plainly(low: float, middle: float, high: float, sentence: str) -> None:
    table = pa.Table.from_pylist([difference(low=low, difference=middle, high=high)], schema=DIFFERENCES)
    assert worth_sentence(table) == sentence
    assert worth_sentence(table, metric="macro_f1") == worth_sentence(table, against="random") == ""


def test_sets_of_one_domain_are_named_and_those_from_elsewhere_come_first() -> None:
    gain, none = {"low": 0.01, "difference": 0.02, "high": 0.03}, {"low": -0.01, "difference": 0.0, "high": 0.01}
    rows = [difference(set="dev", domain="id", **none), difference(**gain), difference(set="hard", **none)]
    assert worth_sentence(pa.Table.from_pylist(rows, schema=DIFFERENCES)) == (
        "Cleaned beats original by 2.0 points of accuracy on challenge, out of distribution (1.0 to 3.0); "
        "on hard, out of distribution, cleaned does not measurably differ from original (+0.0 points, 95 % interval −1.0 to +1.0); "
        "in distribution cleaned does not measurably differ from original (+0.0 points, 95 % interval −1.0 to +1.0)."
    )


def test_retrained_models_are_dots_with_intervals_on_one_scale(audit: Audit) -> None:
    section = worth_section(compared(audit))
    assert section is not None
    assert section.lead.startswith("Cleaned beats original by ")
    assert "cleaned (without the rows that were dropped, under the new labels)" in block(section, Dots).note
    assert "1 of 3 trainings on random ended no better than always naming the largest class: failed" in section.lead
    challenge, validation, differences = block(section, Dots).plots
    assert (challenge.title, validation.title) == ("challenge", "validation")
    assert challenge.meaning.startswith("out of distribution") and validation.meaning.startswith("in distribution")
    assert [dot.name for dot in challenge.dots] == ["original", "cleaned", "random"]
    assert [len(dot.marks) for dot in challenge.dots] == [3, 3, 2]
    for plot in (challenge, validation, differences):
        for dot in plot.dots:
            assert plot.x_range[0] < dot.low <= dot.value <= dot.high < plot.x_range[1]
    assert challenge.x_range[1] - challenge.x_range[0] == pytest.approx(validation.x_range[1] - validation.x_range[0])
    assert [dot.name for dot in differences.dots[:3]] == ["cleaned − original", "cleaned − random", "random − original"]
    assert differences.zero


def test_retrained_models_are_numbers_in_tables(audit: Audit) -> None:
    tables = {item.caption: item for item in worth_section(compared(audit)).blocks if isinstance(item, Table)}
    assert list(tables) == ["Trained on each version", "Differences in points", "Every model, in per cent"]
    first = tables["Trained on each version"].cells[0]
    assert first[:7] == ["challenge", "out of distribution", 800, "original", 8, 3, 0]
    assert 60 < first[7] < 76
    assert len(tables["Every model, in per cent"].cells) == 18
    assert [cells[-1] for cells in tables["Every model, in per cent"].cells].count("failed") == 2


def test_where_every_training_failed_the_section_says_so(audit: Audit) -> None:
    rng = np.random.default_rng(0)
    whole = retrained(rng)
    summary = whole.summary.to_pandas().assign(seeds=0, failed=3)
    summary[["mean", "sd", "low", "high"]] = None
    nothing = Comparison(whole.evaluation, pa.Table.from_pandas(summary, whole.summary.schema), DIFFERENCES.empty_table())
    section = worth_section(replace(audit, comparison=nothing))
    assert section is not None
    assert "3 of 3 trainings on cleaned ended no better" in section.lead
    assert not [item for item in section.blocks if isinstance(item, Dots)]


def test_nothing_retrained_is_no_section(audit: Audit) -> None:
    assert worth_section(audit) is None


def test_origin_carries_what_it_takes_to_make_it_again(audit: Audit) -> None:
    tables = {item.caption: list(item.cells) for item in origin_section(audit).blocks if isinstance(item, Table)}
    assert tables["Parameters of ingest"] == [("seed", "13"), ("text", '["text"]')]
    assert "Parameters of publish" not in tables, "nothing in it is set"
    assert tables["Content digests (SHA-256)"] == [("data/ingest/train.parquet", "ab")]


def test_the_map_has_words(audit: Audit) -> None:
    words = block(SECTIONS[0](audit), Map).alternative
    assert words.startswith("Scatter plot of 8 rows: variability across, confidence upwards")
    assert "2 hard-to-learn" in words


def test_rows_of_another_run_are_refused() -> None:
    table = pa.table({"uid": ["a", "c"]})
    assert align(table, pa.chunked_array([["c", "a"]]), "train.parquet")["uid"].to_pylist() == ["c", "a"]
    with pytest.raises(InputError, match=r"train\.parquet has no row with uid 'b', which the data map has \(1 such rows\)"):
        align(table, pa.chunked_array([["a", "b"]]), "train.parquet")


def test_sections_are_listed_once() -> None:
    folder = Path(__file__).parents[4] / "src/cartograph/page/sections"
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "order"}
    assert {build.__module__.rsplit(".", 1)[1] for build in SECTIONS} == modules


def test_a_tiny_audit_makes_a_page(audit: Audit) -> None:
    document = page(compared(planted(audit)))
    assert document.startswith("<!doctype html>")
    assert "<title>default: data audit</title>" in document


def test_what_changed_is_counted_by_class_and_listed_people_first(audit: Audit) -> None:
    section = changes_section(cleaned(audit))
    assert section is not None
    assert section.lead == "2 rows dropped and 1 row relabelled: 8 rows became 6, version abc."
    by_class, listed = (item for item in section.blocks if isinstance(item, Table))
    assert by_class.cells == [("no", 4, "50\u00a0%", 2, 0, 1, 3, "50\u00a0%"), ("yes", 4, "50\u00a0%", 0, 1, 0, 3, "50\u00a0%")]
    assert listed.cells == [
        ("u1", "same", "no", "dropped", "<b>gibberish</b>", "Ann"),
        ("u2", "c", "yes", "no", "read it", "Ann"),
        ("u0", "same", "no", "dropped", "suspect 2", "recipe drop-flagged"),
    ]
    assert dict(block(section, Facts).facts)["Decided by"] == "Ann (2), recipe drop-flagged (1)"  # type: ignore[attr-defined]


def test_a_version_without_changes_says_so_and_no_cleaning_has_no_section(audit: Audit) -> None:
    assert changes_section(audit) is None
    version = {"version": "def", "parent": "def", "rows": 8, "parent_rows": 8, "dropped": 0, "relabelled": 0, "changes": 0}
    section = changes_section(replace(audit, cleaned=Cleaned(CHANGES.empty_table(), version)))
    assert section is not None
    assert section.lead == "Nothing: the cleaned version def has the 8 rows of the original, with their labels."
    assert not [item for item in section.blocks if isinstance(item, Table)]


def selected(audit: Audit, failed: tuple[str, ...] = ()) -> Audit:
    """The audit with models trained on selections, of 100 rows each so many right; trainings by the strategies ``failed`` have failed."""
    right = {"original": 90, "random-0.25": 60, "ambiguous-0.25": 75, "random-0.5": 70, "ambiguous-0.5": 71}
    gold = np.arange(100) % 2
    predicted = {(name, seed): np.where(np.arange(100) < number, gold, 1 - gold) for name, number in right.items() for seed in (1, 2)}
    named = {name: (name.rpartition("-")[0], float(name.rpartition("-")[2])) for name in right if name != "original"}
    chosen = Chosen(named, dict.fromkeys(right, 10))
    sets = [EvaluationSet("far", "ood", gold, predicted)]
    ended = {(name, seed): name.partition("-")[0] in failed for name, seed in predicted}
    found = compare(sets, ended, ["accuracy"], resamples=400, seed=1, pairs=chosen.pairs())
    return replace(audit, selections=Selections(found, chosen))


def test_selections_stand_in_a_table_dots_and_curves(audit: Audit) -> None:
    assert selections_section(audit) is None
    section = selections_section(selected(audit))
    assert section is not None
    assert [block.kind for block in section.blocks] == ["table", "dots", "charts", "table"]
    assert "On far (out of distribution), ambiguous-0.25 beats as many rows at random." in section.lead
    rows = section.content()["blocks"][0]["cells"]
    assert [row[0] for row in rows] == ["100 % train", "random", "ambiguous", "random", "ambiguous"]
    assert rows[4] == ["ambiguous", "the rows of highest variability", 0.25, 10, "75.0 ± 0.0 ▲"]


def test_without_random_rows_that_taught_something_no_selection_is_said_to_beat_them_or_not(audit: Audit) -> None:
    section = selections_section(selected(audit, failed=("random",)))
    assert section is not None
    assert "No selection stands beside as many random rows that taught something" in section.lead
    assert "measurably beats" not in section.lead
    assert [block.kind for block in section.blocks] == ["table", "charts", "table"]


def asked(audit: Audit) -> Audit:
    return replace(audit, experiments=[answer()])


def answer(**more: object) -> Answer:
    table = pa.table({"seed": [1, 2], "r": [0.51234567, None], "uid": ["<b>u</b>", "x" * 200]})
    values = {"name": "seeds", "question": "do maps agree?", "source": "footnote 6", "told": "mean r 0.51", "tables": {"pairs": table}}
    return Answer(**values | {"picture": b"png"} | more)  # type: ignore[arg-type]


def test_experiments_show_question_answer_picture_and_tables(audit: Audit) -> None:
    assert experiments_section(audit) is None
    failed = Answer("steps", "", "", "RuntimeError: no memory", failed=True)
    section = experiments_section(replace(audit, experiments=[answer(), failed]))
    assert section is not None
    assert section.lead.startswith("1 experiment of Swayamdipta et al. 2020 on this train set: seeds. steps failed; ")
    shown, table, other = section.blocks
    assert isinstance(shown, Picture) and isinstance(table, Table) and isinstance(other, Picture)
    assert (shown.title, shown.text, shown.note) == ("seeds: do maps agree?", "Mean r 0.51.", "(footnote 6)")
    assert base64.b64decode(shown.source.removeprefix("data:image/png;base64,")) == b"png"
    assert table.folded and table.cells[0] == ["1", "0.5123", "<b>u</b>"]
    assert table.cells[1][1] is None and len(str(table.cells[1][2])) == 80
    assert (other.title, other.text, other.source) == ("steps", "Failed. RuntimeError: no memory", "")


def test_experiments_stay_within_bounds(audit: Audit) -> None:
    many = pa.table({"row": list(range(1000))})
    section = experiments_section(replace(audit, experiments=[answer(picture=b"x" * (LARGEST_PICTURE + 1), tables={"all": many})]))
    assert section is not None
    shown, table = section.blocks
    assert isinstance(shown, Picture) and isinstance(table, Table)
    assert shown.source == "" and shown.note.endswith("the figure is too large for the page)")
    assert len(table.cells) == 25 and table.caption == "seeds, all, the first 25 of 1,000 rows"


def test_trainings_that_broke_off_are_told_with_their_reasons(audit: Audit) -> None:
    sets = [EvaluationSet("held", "id", np.array([0, 1, 1, 0]), {("original", 1): np.array([0, 1, 1, 0])})]
    runs = {("original", 1): False, ("original", 2): True, ("cleaned", 1): True}
    comparison = compare(sets, runs, ["accuracy"], resamples=100, seed=1)
    broken = [{"subset": "original", "seed": 2, "reason": "RuntimeError: no memory."}]
    section = worth_section(replace(audit, comparison=comparison, broken=broken))
    assert section is not None
    assert "1 of 1 training on cleaned ended no better than always naming the largest class" in section.lead
    assert "The training on original with seed 2 broke off and is in no mean: RuntimeError: no memory." in section.lead
    assert "of 2 trainings on original" not in section.lead

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from cartograph.page.audit import Audit
from cartograph.page.blocks import Table
from cartograph.page.chart_blocks import Charts, Heat
from cartograph.page.row_blocks import SuspectTable
from cartograph.page.sections.suspects import suspects_section
from cartograph.schema import MEASURES, NOISE, DatasetInfo, examples_schema
from tests.page_audits import block_of, said_of, small_audit, with_suspects


def test_suspects_are_listed_in_their_order_with_suggestion_and_reason(audit: Audit) -> None:
    section = suspects_section(with_suspects(audit))
    assert section is not None
    assert section.lead.startswith("2 labels of 8 look wrong (25\u00a0%). A suspect is not an error until somebody has checked it")
    assert "2 labels of easy rows were flipped and the model trained again" in said_of(section)
    listed = block_of(section, SuspectTable).suspects
    assert [(item.place, item.rank, item.suggested, item.reason) for item in listed] == [(1, 1, 1, "because 1"), (0, 2, 1, "because 0")]
    assert section.listed() == {0, 1}
    assert suspects_section(audit) is None


def test_what_only_ranks_is_called_a_score_and_no_label_is_said_to_be_wrong(audit: Audit) -> None:
    ranked = suspects_section(with_suspects(audit, calibrated=False, wrong=None, unknown="hard rows"))
    assert ranked is not None and not block_of(ranked, SuspectTable).calibrated
    assert ranked.lead.startswith("2 labels of 8 are worth a second look (25\u00a0%).")
    assert "The scores assume that at most 10\u00a0% of the labels are wrong" in said_of(ranked)
    assert "CI" not in said_of(ranked)
    ends = {"between": {"low": 0.3, "high": 5.0, "scattered": 3.0, "most": 8.0}}
    between = suspects_section(with_suspects(audit, calibrated=False, wrong=None, unknown="hard rows", **ends))
    assert between is not None
    assert (
        "How many are wrong: Of all labels, 0 to 5 (95\u00a0% CI; to 3 unless errors gather on hard rows), up to 8 if nearly all hard rows"
        in said_of(between)
    )
    rough = suspects_section(with_suspects(audit, calibrated=False, wrong=None, unknown="roughly known", explained=0.1))
    assert (
        rough is not None
        and "scores lie between what these rows show and what 10\u00a0% of wrong labels would mean, and no row is" in said_of(rough)
    )
    wrong = {"expected": 3.0, "low": 1.0, "high": 5.0, "most": 9.0}
    counted = suspects_section(with_suspects(audit, calibrated=True, wrong=wrong))
    assert counted is not None and block_of(counted, SuspectTable).calibrated
    assert "It is up to 9 if nearly all hard rows are wrong. Not in the number: Errors that follow" in said_of(counted)
    quarter = {"expected": 1.0, "low": 0.5, "high": 2.0, "most": 9.0}
    ends = "Of 8 labels, the interval ends at a quarter of them, the most that errors on hard rows are assumed to be. It is up to 9 if"
    assert ends in said_of(suspects_section(with_suspects(audit, calibrated=True, wrong=quarter)))
    for section in (ranked, counted):
        assert "How to measure it: `python -m tasks review --blind`: people read rows drawn at random, also " in said_of(section)
    library = replace(audit, how_made=replace(audit.how_made, command="cartograph audit rows.csv"))
    alone = suspects_section(with_suspects(library, calibrated=True, wrong=wrong))
    assert alone is not None and "--blind" not in said_of(alone)


def test_what_the_page_has_no_room_for_is_where_the_audit_left_it(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cartograph.page.sections.suspects.MOST_LISTED", 1)
    found = with_suspects(audit)
    for made, place in ((found.how_made, "data/noise/noise.parquet"), (replace(found.how_made, suspects="suspects.csv"), "suspects.csv")):
        section = suspects_section(replace(found, how_made=made))
        assert section is not None and f"The table has the first 1; all are in {place}." in section.lead


def test_the_experiment_with_flipped_labels_is_shown_with_its_numbers(audit: Audit) -> None:
    section = suspects_section(with_suspects(audit))
    facts = dict(section.blocks[-2].facts)
    assert facts["Detector"] == "So it is."
    assert facts["F1"].startswith("0.95 (0.29 to 1.00) by confidence alone, 0.60 (0.08 to 0.96) by variability alone, on 2 held-out rows")
    assert "right for" not in facts["Suggested labels"], "of two classes there is one other label"
    of_ten = suspects_section(many_classes())
    assert dict(of_ten.blocks[-2].facts)["Suggested labels"].endswith("; right for 1 of 2 flips")
    assert facts["Left out"] == "1 row that a detector flags is excluded from the score, since it may be a real error"
    confidence, variability = block_of(section, Charts).charts
    assert [series.name for series in confidence.series] == ["right label", "flipped label"]
    assert [sum(series.values) for series in (*confidence.series, *variability.series)] == [1.0] * 4
    assert confidence.series[0].values[19] == 1.0 and confidence.series[1].values[2] == 1.0
    cells = block_of(section, Table).cells
    assert [(cell[0], cell[2], cell[3], cell[4]) for cell in cells] == [("committee", 1.0, 0.875, "used"), ("confidence", 0.95, 0.75, "")]


def many_classes() -> Audit:
    """Thirty rows of ten classes, all suspects: twenty of them say the next class, ten the one after it."""
    names = tuple(f"=class {number}" for number in range(10))
    info = DatasetInfo("train", "train", "single", ("text",), (), names)
    labels, uids = [row % 10 for row in range(30)], [f"{row:03d}" for row in range(30)]
    examples = pa.table(
        [uids, ["t"] * 30, pa.array(labels, pa.int32()), ["f"] * 30, list(range(30))],
        schema=examples_schema(info),
    )
    audit = with_suspects(small_audit())
    assert audit.suspects is not None
    known = {"uid": uids, "gold": labels, "confidence": [0.1] * 30, "variability": [0.1] * 30, "correctness": [0.0] * 30}
    measures = pa.Table.from_arrays([pa.array(known.get(field.name, [None] * 30), field.type) for field in MEASURES], schema=MEASURES)
    rows = [
        {"uid": uid, "probability": 0.9, "flagged": True, "suggested": (row % 10 + (1 if row < 20 else 2)) % 10}
        for row, uid in enumerate(uids)
    ]
    rows = [{**one, "suggested_probability": 0.8, "rank": rank, "reason": "so"} for rank, one in enumerate(rows, start=1)]
    return replace(audit, examples=examples, measures=measures, suspects=replace(audit.suspects, rows=pa.Table.from_pylist(rows, NOISE)))


def test_pairs_of_given_and_suggested_labels_are_counted() -> None:
    heat = block_of(suspects_section(many_classes()), Heat)
    counted = {(heat.labels[given], heat.labels[other]): number for given, other, number in heat.pairs}
    assert len(counted) == 20 and sum(counted.values()) == 30
    assert (counted["=class 3", "=class 4"], counted["=class 9", "=class 1"]) == (2, 1)
    assert heat.alternative.startswith("The most frequent: =class ")


def test_what_a_reader_may_decide_is_guarded_and_belongs_to_these_suspects(audit: Audit) -> None:
    many = many_classes()
    table = block_of(suspects_section(many), SuspectTable)
    assert table.suspects[0].uid == "'000"
    assert table.answers.labels[0] == "'=class 0"
    assert (table.answers.total, table.answers.command) == (30, "python -m tasks review --import decisions.csv")
    other = block_of(suspects_section(with_suspects(audit)), SuspectTable)
    assert table.answers.version == block_of(suspects_section(many_classes()), SuspectTable).answers.version != other.answers.version
    assert not any(isinstance(block, Heat) for block in suspects_section(with_suspects(audit)).blocks)

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from cartograph.page.audit import Audit
from cartograph.page.blocks import Facts, Table
from cartograph.page.chart_blocks import Charts, Planes
from cartograph.page.sections import planted_truth as module
from cartograph.page.sections.planted_truth import found_among_hardest, found_among_suspects, planted_truth_section
from cartograph.page.verdict import verdict
from tests.page_audits import block_of, with_planted_truth, with_suspects


def test_the_odds_ratio_of_give_away_words_is_shown_where_aflite_ran(audit: Audit) -> None:
    known = with_planted_truth(audit)
    numbers = {"give_away.odds_ratio": 4.2, "give_away.odds_ratio.low": 3.1, "give_away.odds_ratio.high": 5.6}
    numbers |= {"give_away.filtered": 0.7, "no_give_away.filtered": 0.3}
    section = planted_truth_section(replace(known, metrics={**known.metrics, "score": {**known.metrics["score"], **numbers}}))
    facts = [fact for item in section.blocks if isinstance(item, Facts) for fact in item.facts]  # type: ignore[union-attr]
    assert any(name == "Odds ratio" and value.startswith("4.2 (95\u00a0% interval 3.1 to 5.6)") for name, value in facts)
    assert ("Removed", "70\u00a0% of the rows with a give-away word, 30\u00a0% of the others") in facts


def test_the_section_shows_planted_kinds_and_flipped_labels(audit: Audit) -> None:
    scored = with_planted_truth(audit)
    assert found_among_hardest(scored.score) == (1, 2)
    section = planted_truth_section(scored)
    assert section is not None
    assert "Of the 2 labels flipped on purpose, 1 is among the 2 least confident rows (50\u00a0%)." in section.lead
    assert [plane.title for plane in block_of(section, Planes).planes] == ["Flipped", "Ambiguous", "Plain"]
    assert block_of(section, Facts).facts[0] == (
        "Average precision",
        "0.75: of the ranking by low confidence; 1 = every flip before every other row",
    )
    flipped = block_of(section, Table).cells[0]
    assert flipped == ("Flipped", 2, pytest.approx(0.285), pytest.approx(0.235), 0.0, 0.5, 0.5, 0.0)
    gain = section.blocks[1].charts[0]
    assert gain.series[0].values[-1] == 2
    assert "flipped labels" in verdict(scored).lines[0]
    assert planted_truth_section(audit) is None


def test_suspects_are_scored_against_the_planted_truth(audit: Audit) -> None:
    scored = with_suspects(with_planted_truth(audit))
    table = scored.score.append_column("suspect_rank", scored.suspects.rows["rank"].cast(pa.int64()))
    scored = replace(scored, score=table.append_column("flagged", scored.suspects.rows["flagged"]))
    metrics = {
        **scored.metrics,
        "score": {"average_precision": 0.7, "precision": 0.5, "recall": 0.5, "low_confidence.average_precision": 0.6},
    }
    scored = replace(scored, metrics=metrics)
    assert found_among_suspects(scored.score) == (1, 2)
    section = planted_truth_section(scored)
    assert "Of the 2 labels flipped on purpose, 1 (50\u00a0%) is among the 2 suspects. Low confidence alone: 1 among" in section.lead
    errors = block_of(section, Table)
    assert errors.caption == "Errors of each kind"
    assert [(row[0], *row[2:]) for row in errors.cells] == [("Slip", 1, 1.0, 2), ("Careless", 1, 0.0, 4)]
    gain = block_of(section, Charts).charts[0]
    assert [series.name for series in gain.series] == ["most suspect first", "least confident first", "perfect", "at random"]
    assert gain.series[0].values[:3] == [0, 0, 1], "the flipped row 0 is the second suspect"
    assert block_of(section, Facts).facts[0] == (
        "Average precision",
        "0.70: of the suspects' ranking; 1 = every flip before every other row (low confidence alone: 0.60)",
    )
    assert (
        verdict(scored)
        .lines[0]
        .endswith("1 of its 2 flipped labels is among the 2 suspects (average precision 0.70, where 1 is a perfect ranking).")
    )


def test_probabilities_that_were_estimated_are_held_beside_what_was_flipped(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEWEST", 1)
    scored = with_suspects(with_planted_truth(audit))
    table = scored.score.append_column("suspect_rank", scored.suspects.rows["rank"].cast(pa.int64()))
    scored = replace(scored, score=table.append_column("flagged", scored.suspects.rows["flagged"]))
    assert len(block_of(planted_truth_section(scored), Charts).charts) == 1
    calibrated = replace(scored, suspects=replace(scored.suspects, record={**scored.suspects.record, "calibrated": True}))
    chart = block_of(planted_truth_section(calibrated), Charts).charts[1]
    places = [calibrated.measures["uid"].to_pylist().index(uid) for uid in calibrated.score["uid"].to_pylist()]
    said = calibrated.suspects.rows["probability"].to_numpy()[places]
    flipped = calibrated.score["flipped"].to_numpy(zero_copy_only=False)
    for place in range(10):
        own = (said >= place / 10) & ((said < (place + 1) / 10) | (place == 9))
        expected = (flipped[own].mean(), said[own].mean()) if own.any() else (None, None)
        assert [series.values[place] for series in chart.series] == [
            pytest.approx(value, abs=1e-4) if value is not None else None for value in expected
        ]

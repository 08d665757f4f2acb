from __future__ import annotations

from cartograph.page.audit import Audit
from cartograph.page.blocks import Facts, Table
from cartograph.page.chart_blocks import Charts
from cartograph.page.row_blocks import SuspectTable
from cartograph.page.sections.suspects import suspects_section
from tests.page_audits import block_of, with_suspects


def test_suspects_are_listed_in_their_order_with_suggestion_and_reason(audit: Audit) -> None:
    section = suspects_section(with_suspects(audit))
    assert section is not None
    assert section.lead.startswith("2 labels of 8 look wrong (25\u00a0%). Suspects are not errors until somebody has read them")
    assert "2 labels of easy rows were flipped and the model trained again" in section.lead
    listed = block_of(section, SuspectTable).suspects
    assert [(item.place, item.rank, item.suggested, item.reason) for item in listed] == [(1, 1, 1, "because 1"), (0, 2, 1, "because 0")]
    assert section.listed() == {0, 1}
    assert suspects_section(audit) is None


def test_the_experiment_with_flipped_labels_is_shown_with_its_numbers(audit: Audit) -> None:
    section = suspects_section(with_suspects(audit))
    facts = dict(block_of(section, Facts).facts)
    assert facts["Detector"] == "So it is."
    assert facts["F1"].startswith("0.95 by confidence alone, 0.60 by variability alone, on 2 held-out rows, half of them flipped")
    assert facts["Suggested labels"].endswith("; right for 1 of 2 flips")
    assert facts["Left out"] == "1 row that a detector flags is excluded from the score, since it may be a real error"
    confidence, variability = block_of(section, Charts).charts
    assert [series.name for series in confidence.series] == ["right label", "flipped label"]
    assert [sum(series.values) for series in (*confidence.series, *variability.series)] == [1.0] * 4
    assert confidence.series[0].values[19] == 1.0 and confidence.series[1].values[2] == 1.0
    cells = block_of(section, Table).cells
    assert [(cell[0], cell[2], cell[3], cell[4]) for cell in cells] == [("committee", 1.0, 0.875, "used"), ("confidence", 0.95, 0.75, "")]

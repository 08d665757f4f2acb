from __future__ import annotations

import pytest

from cartograph.page.audit import Audit
from cartograph.page.blocks import Table
from cartograph.page.sections.bias import bias_section
from tests.page_audits import block_of, with_bias


def test_accuracies_before_and_after_the_filter_are_named_by_their_training_rows(audit: Audit) -> None:
    section = bias_section(with_bias(audit))
    assert section is not None
    lead = section.lead.replace("\u00a0", " ")
    assert "On dev a linear model on words is right on 80.0 % of the rows when it learns from all, on 75.0 %" in lead
    assert "and on 50.0 % when it learns from what the filter kept" in lead
    table = block_of(section, Table)
    assert table.cells[0][3:10] == [80.0, 75.0, 50.0, 50.0, 70.0, pytest.approx(55.0), 10]  # type: ignore[attr-defined]
    assert table.cells[1][1] == "text alone"  # type: ignore[attr-defined]

from __future__ import annotations

from cartograph.page.audit import Audit
from cartograph.page.sections.selections import selections_section
from tests.page_audits import with_selections


def test_selections_are_shown_in_a_table_dots_and_curves(audit: Audit) -> None:
    assert selections_section(audit) is None
    section = selections_section(with_selections(audit))
    assert section is not None
    assert [block.kind for block in section.blocks] == ["table", "dots", "charts", "table"]
    assert "On far (out of distribution), ambiguous-0.25 beats a random sample of the same size." in section.lead
    rows = section.content()["blocks"][0]["cells"]
    assert [row[0] for row in rows] == ["100 % train", "random", "ambiguous", "random", "ambiguous"]
    assert rows[4] == ["ambiguous", "the rows of highest variability", 0.25, 10, "75.0 ± 0.0 ▲"]


def test_no_selection_is_compared_with_chance_where_every_random_training_failed(audit: Audit) -> None:
    section = selections_section(with_selections(audit, failed=("random",)))
    assert section is not None
    assert "No training on a random sample of the same size learnt anything, so no selection can be compared with chance." in section.lead
    assert "measurably beats" not in section.lead
    assert [block.kind for block in section.blocks] == ["table", "charts", "table"]

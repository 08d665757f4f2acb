from __future__ import annotations

from dataclasses import replace

from cartograph.page.audit import Audit
from cartograph.page.blocks import Facts
from cartograph.page.row_blocks import RowTables
from cartograph.page.sections.aflite import aflite_section
from tests.page_audits import block_of, with_aflite, with_suspects


def test_the_section_says_what_was_guessed_and_lists_what_remains(audit: Audit) -> None:
    section = aflite_section(with_aflite(audit))
    assert section is not None
    lead = section.lead.replace("\u00a0", " ")
    assert "only the vectors of a model trained on 1 held-back rows guess 70 % of the labels" in lead
    assert "29 % of 7; of the 5 that remain they guess 44 %" in lead
    assert "Decide on the suspects first; then test a model on the rows that remain" in lead
    assert "held out together" not in lead
    assert "On the map the rows that remain have a mean confidence of 0.59, those removed of 0.98. Decide on the suspects" in lead
    flagged = aflite_section(with_suspects(with_aflite(audit), flagged=(1, 0, 7)))
    assert flagged is not None and "1 of the 2 suspects in the pool remains. Decide" in flagged.lead, "row 0 was held back"
    first, remaining = block_of(section, RowTables).lists  # type: ignore[attr-defined]
    assert (first.name, list(first.rows)) == ("Removed first", [7, 6])
    assert (remaining.name, list(remaining.rows)[:2]) == ("Remaining", [2, 3])
    assert 0 not in section.listed()
    facts = dict(block_of(section, Facts).facts)  # type: ignore[attr-defined]
    assert facts["dev"].replace("\u00a0", " ") == "filtered the same way: 3 of 4 rows remain (75 %)"


def test_it_is_said_where_linked_rows_were_held_out_together(audit: Audit) -> None:
    filtered = with_aflite(audit)
    assert filtered.aflite is not None
    linked = replace(filtered, aflite=replace(filtered.aflite, record=filtered.aflite.record | {"linked": True}))
    section = aflite_section(linked)
    assert section is not None and "Linked rows were held out together. On the map the rows that remain have " in section.lead

from __future__ import annotations

from dataclasses import replace

from cartograph.page.audit import Audit
from cartograph.page.blocks import Table
from cartograph.page.sections.training import training_section
from cartograph.schema import (
    HISTORY,
)
from tests.page_audits import block_of, set_entry


def test_accuracy_has_an_interval_on_sets_of_known_size(audit: Audit) -> None:
    sets = [set_entry("train", "train", []), set_entry("dev", "id", [])]
    table = block_of(training_section(replace(audit, validation={"sets": sets, "quarantine": {}})), Table)
    assert table.cells == [("train", "train", 8, 0.75, None, None), ("dev", "in distribution", 8, 0.625, "0.31 to 0.86", None)]


def test_an_imported_map_says_why_there_is_no_curve(audit: Audit) -> None:
    section = training_section(replace(audit, training={"source": "imported"}, history=HISTORY.empty_table()))
    assert not section.blocks
    assert section.why.startswith("The map was imported from a training run elsewhere")

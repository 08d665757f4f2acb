from __future__ import annotations

from cartograph.page.audit import Audit
from cartograph.page.blocks import Map
from cartograph.page.sections.order import SECTIONS
from tests.page_audits import block_of


def test_the_map_has_a_description_in_words(audit: Audit) -> None:
    words = block_of(SECTIONS[0](audit), Map).alternative
    assert words.startswith("Scatter plot of 8 rows: variability across, confidence upwards")
    assert "2 hard-to-learn" in words

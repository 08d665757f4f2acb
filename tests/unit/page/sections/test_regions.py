from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cartograph.page.audit import Audit
from cartograph.page.row_blocks import Regions
from cartograph.page.sections.regions import regions_section
from cartograph.schema import (
    MEASURES,
)
from tests.page_audits import block_of


def test_regions_have_their_bounds_and_distinct_examples(audit: Audit) -> None:
    cards = {region.name: region for region in block_of(regions_section(audit), Regions).regions}
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
    assert [region.name for region in block_of(regions_section(replace(audit, measures=moved)), Regions).regions] == ["easy-to-learn"]

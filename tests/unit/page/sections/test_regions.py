from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cartograph.page.audit import Audit
from cartograph.page.row_blocks import Regions
from cartograph.page.sections.regions import regions_section
from cartograph.schema import (
    MEASURES,
)
from tests.page_audits import block_of, with_suspects


def test_regions_have_their_bounds_and_distinct_examples(audit: Audit) -> None:
    cards = {region.name: region for region in block_of(regions_section(audit), Regions).regions}
    assert list(cards) == ["hard-to-learn", "ambiguous", "easy-to-learn", "unassigned"]
    hard = cards["hard-to-learn"]
    assert (hard.rows, hard.share) == (2, "25\u00a0%")
    assert list(hard.bounds) == [
        ("Confidence", "0.05 to 0.10"),
        ("Variability", "0.02 to 0.05"),
        ("Right in every epoch", "0 (0\u00a0%)"),
        ("Right in none", "2 (100\u00a0%)"),
        ("Model prefers another label", "2 (100\u00a0%)"),
    ]
    assert hard.examples == [0], "the second row has the same text"
    assert cards["ambiguous"].examples == [3, 2]
    assert cards["unassigned"].examples == []


def test_the_lead_says_what_became_of_each_list_and_how_many_suspects_a_region_has(audit: Audit) -> None:
    lists = {"hard-to-learn": (3, 2, 1), "easy-to-learn": (2, 2, 0), "ambiguous": (2, 2, 0)}
    metrics = {
        f"region.{name}.{key}": value
        for name, values in lists.items()
        for key, value in zip(("listed", "count", "elsewhere"), values, strict=True)
    }
    section = regions_section(replace(with_suspects(audit), metrics={**audit.metrics, "measure": metrics}))
    assert "Of the 3 least confident rows, 2 are hard-to-learn and 1 ambiguous. Of the 2 most confident rows, 2 are" in section.lead
    assert "No row is" not in section.lead
    suspects = {region.name: dict(region.bounds)["Suspects"] for region in block_of(section, Regions).regions}
    assert suspects["easy-to-learn"] == "0 (0\u00a0%)"
    assert sum(int(text.split()[0]) for text in suspects.values()) == len(with_suspects(audit).flagged)


def test_an_empty_region_has_no_card(audit: Audit) -> None:
    place = audit.measures.schema.get_field_index("region")
    moved = audit.measures.set_column(place, MEASURES.field("region"), pa.array(["easy-to-learn"] * 8))
    section = regions_section(replace(audit, measures=moved))
    assert [region.name for region in block_of(section, Regions).regions] == ["easy-to-learn"]
    assert "No row is hard-to-learn or ambiguous." in section.lead

from __future__ import annotations

from dataclasses import replace

from cartograph.page.audit import Audit, Limits
from cartograph.page.blocks import Map
from cartograph.page.sections.order import SECTIONS
from tests.page_audits import audit_of_texts, block_of, with_suspects


def test_the_map_has_a_description_in_words(audit: Audit) -> None:
    words = block_of(SECTIONS[0](audit), Map).alternative
    assert words.startswith("Scatter plot of 8 rows: variability across, confidence upwards")
    assert "2 hard-to-learn" in words


def test_the_map_of_many_rows_says_what_is_drawn_besides_the_sample() -> None:
    limits = Limits(examples=1, listed=1, max_points=20)
    plain = replace(audit_of_texts(400, text="t"), limits=limits)
    assert "of which 20 are drawn, picked at random; rows that this page lists are always among them" in SECTIONS[0](plain).lead
    assert "picked at random but for all suspects and the rows" in SECTIONS[0](with_suspects(plain, flagged=(3, 4))).lead
    many = SECTIONS[0](with_suspects(plain, flagged=(5, 4, 3, 2, 1, 0))).lead
    assert "picked at random but for the 4 most suspect of 6 suspects and the rows that this page lists" in many

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path

import pytest

from cartograph.page.audit import Audit
from cartograph.page.sections.order import SECTIONS
from tests.page_audits import (
    with_aflite,
    with_bias,
    with_cleaning,
    with_earlier_audit,
    with_evaluation_labels,
    with_experiment,
    with_planted_truth,
    with_selections,
    with_several_labels,
    with_suspects,
    with_versions,
)


@pytest.mark.parametrize("build", SECTIONS, ids=lambda build: build.__name__)
@pytest.mark.parametrize(
    "change",
    [
        lambda audit: audit,
        with_planted_truth,
        with_versions,
        with_suspects,
        with_cleaning,
        with_aflite,
        with_bias,
        with_earlier_audit,
        with_several_labels,
        with_evaluation_labels,
    ],
    ids=lambda change: change.__name__.removeprefix("with_"),
)
def test_every_section_has_an_anchor_and_blocks_or_a_reason(
    audit: Audit, build: Callable[..., object], change: Callable[[Audit], Audit]
) -> None:
    section = build(change(audit))
    if section is not None:
        assert section.id.isidentifier()
        assert section.title
        assert bool(section.blocks) != bool(section.why)
        assert section.listed() <= set(range(audit.rows))
        for item in section.content()["blocks"]:
            assert item["kind"]


def test_section_ids_are_distinct(audit: Audit) -> None:
    parts = (
        with_versions,
        with_cleaning,
        with_earlier_audit,
        with_selections,
        with_aflite,
        with_bias,
        with_experiment,
        with_several_labels,
        with_evaluation_labels,
    )
    whole = reduce(lambda built, build: build(built), parts, with_planted_truth(audit))
    ids = [section.id for build in SECTIONS if (section := build(whole)) is not None]
    assert len(set(ids)) == len(ids) == len(SECTIONS)


def test_sections_are_listed_once() -> None:
    folder = Path(__file__).parents[4] / "src/cartograph/page/sections"
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "order"}
    assert {build.__module__.rsplit(".", 1)[1] for build in SECTIONS} == modules

from __future__ import annotations

from cartograph.page.audit import Audit
from cartograph.page.blocks import Table
from cartograph.page.sections.how_made import how_made_section


def test_the_section_has_what_it_takes_to_repeat_the_audit(audit: Audit) -> None:
    tables = {item.caption: list(item.cells) for item in how_made_section(audit).blocks if isinstance(item, Table)}
    assert tables["Parameters of ingest"] == [("seed", "13"), ("text", '["text"]')]
    assert "Parameters of publish" not in tables, "nothing in it is set"
    assert tables["Content digests (SHA-256)"] == [("data/ingest/train.parquet", "ab")]

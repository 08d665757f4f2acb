from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from cartograph.audits.changes import audit_changes
from cartograph.audits.record import Record
from cartograph.schema import RECORD
from tasks.audit.comparison_markdown import comparison_markdown


def record(rows: list[tuple[str, str, str, bool]], **numbers: float) -> Record:
    columns = dict(zip(("uid", "content", "label", "suspect"), zip(*rows, strict=True), strict=True))
    size = len(rows)
    columns |= {"confidence": [0.5] * size, "variability": [0.1] * size, "region": ["ambiguous"] * size}
    columns |= {"probability": [None] * size, "suggested": [None] * size}
    return Record(pa.table({name: columns[name] for name in RECORD.names}, schema=RECORD), {"rows": size, **numbers})


def test_two_audits_side_by_side() -> None:
    before = record([("a", "1", "cat", False), ("b", "2", "d*g", False)], **{"dev.accuracy": 0.75})
    now = record([("a", "1", "d*g", True), ("b", "2", "d*g", False), ("<c>", "3", "cat", True)], **{"suspects.share": 2 / 3})
    text = comparison_markdown("first", "workspaces/second", before, now, audit_changes(before, now, np.random.default_rng(1)))
    assert text.startswith("# first and workspaces/second\n\n1 added, 1 relabelled; suspects +2 -0.\n")
    assert (
        "| rows | 2 | 3 |\n| dev.accuracy | 0.7500 | – |\n| suspects.share | – | 0.6667 |\n| class cat | 50\u00a0% | 33\u00a0% |\n" in text
    )
    assert "Suspects: 2 new (1 on added rows), 0 still, 0 gone, 0 went with their rows. 0 rows changed region." in text
    assert "New suspect: &lt;c&gt;, a." in text
    assert "Relabelled: a (cat → d\\*g)." in text


def test_long_lists_are_cut() -> None:
    before = record([(f"u{number:03}", str(number), "cat", False) for number in range(50)])
    now = record([(f"u{number:03}", str(number), "dog", False) for number in range(50)])
    text = comparison_markdown("a", "b", before, now, audit_changes(before, now, np.random.default_rng(1)))
    assert "u019 (cat → dog), and 30 more." in text and "u020" not in text


def test_columns_that_drifted_are_named_as_text() -> None:
    sides = [record([("a", "1", "cat", False)]), record([("a", "1", "cat", False)])]
    summary = {"name": "a*b*", "kind": "number", "rows": 900, "missing": 0}
    known = [{**summary, "values": [0.0, number], "shares": [0.2, 1.0]} for number in (1.0, 2.0)]
    before, now = (replace(side, columns=(column,)) for side, column in zip(sides, known, strict=True))
    changes = audit_changes(before, now, np.random.default_rng(1))
    text = comparison_markdown("a", "b", before, now, changes)
    assert "the same rows; suspects +0 -0; 1 column drifted." in text
    assert "The only column drifted: a\\*b\\* (1 in the middle, now 2)." in text
    assert (changes.numbers()["columns.drifted"], changes.numbers()["columns.distance"]) == (1, 0.8)
    assert "columns.drifted" not in audit_changes(*sides, np.random.default_rng(1)).numbers()

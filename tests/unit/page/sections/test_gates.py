from __future__ import annotations

from dataclasses import replace

from cartograph.page.audit import Audit
from cartograph.page.blocks import Table
from cartograph.page.sections.gates import gates_section
from cartograph.page.verdict import verdict
from tests.page_audits import block_of, with_earlier_audit


def test_gates_that_failed_or_warned_come_first_and_are_in_the_verdict(audit: Audit) -> None:
    assert gates_section(audit) is None
    section = gates_section(with_earlier_audit(audit))
    assert section is not None
    assert section.lead.startswith("1 gate failed; 1 warned; 1 passed. They are set in")
    table = block_of(section, Table)
    assert [row[:4] for row in table.cells] == [  # type: ignore[attr-defined]
        ("suspects", "FAILED", "0.1", "0.2"),
        ("new_suspects", "WARNED", "0.1", "never"),
        ("class_shift", "passed", "0.1", "0.2"),
    ]
    lines = verdict(with_earlier_audit(audit)).lines
    assert "This fails the audit: 2 of 8 labels look wrong: <i>u1</i>." in lines
    assert "Since the last audit, 1 label became suspect." in lines


def test_gates_that_need_an_earlier_audit_are_counted_as_such(audit: Audit) -> None:
    gate = {"warn": 0.1, "fail": None, "value": 0.0, "sentence": "fine."}
    first = [{**gate, "gate": f"gate {place}", "outcome": "unknown" if place > 3 else "passed"} for place in range(8)]
    section = gates_section(replace(audit, gates=first))
    assert section is not None
    assert section.lead.startswith("4 gates passed; 4 need a second audit. They are set in")
    assert gates_section(replace(audit, gates=first[4:5])).lead.startswith("1 gate needs a second audit.")  # type: ignore[union-attr]
    later = gates_section(replace(with_earlier_audit(audit), gates=first))
    assert later is not None
    assert later.lead.startswith("4 gates passed; 4 could not be compared with the last audit.")

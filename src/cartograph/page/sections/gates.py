"""The gates: each number, its bounds, and whether it passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cartograph.page.audit import Audit
from cartograph.page.blocks import Cell, Column, Section, Table
from cartograph.wording import count, counted, cut

_LONGEST = 600
_OUTCOMES = {"failed": "FAILED", "warned": "WARNED", "passed": "passed", "unknown": "not known yet"}


def gates_section(audit: Audit) -> Section | None:
    """Return the gates; None where params.yaml sets none."""
    if not audit.gates:
        return None
    ordered = sorted(audit.gates, key=lambda gate: list(_OUTCOMES).index(gate["outcome"]))
    cells: list[Sequence[Cell]] = [
        (gate["gate"], _OUTCOMES[gate["outcome"]], _bound(gate["warn"]), _bound(gate["fail"]), cut(gate["sentence"], _LONGEST))
        for gate in ordered
    ]
    columns = (
        Column("Gate", "code"),
        Column("Outcome"),
        Column("Warns from", "code", "a share, or a number"),
        Column("Fails from", "code", "a share, or a number"),
        Column("Found"),
    )
    lead = f"{_summary(audit)} They are set in the section `gates` of params.yaml."
    return Section("gates", "Gates", lead, (Table("Each gate", columns, cells),))


def _summary(audit: Audit) -> str:
    """Return how many gates came to each outcome: ``1 gate failed; 3 passed; 4 need a second audit.``"""
    numbers = Counter(gate["outcome"] for gate in audit.gates)
    unknown = "needs a second audit" if numbers["unknown"] == 1 else "need a second audit"
    if audit.since_last_audit is not None:
        unknown = "could not be compared with the last audit"
    verbs = {"failed": "failed", "warned": "warned", "passed": "passed", "unknown": unknown}
    (number, verb), *others = [(numbers[outcome], verb) for outcome, verb in verbs.items() if numbers[outcome]]
    return "; ".join([f"{counted(number, 'gate')} {verb}", *(f"{count(number)} {verb}" for number, verb in others)]) + "."


def _bound(value: float | None) -> str:
    return "never" if value is None else f"{value:g}"

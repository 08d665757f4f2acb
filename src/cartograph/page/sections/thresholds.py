"""The gates: which number was held against which bound, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from cartograph.page.audit import Audit
from cartograph.page.blocks import Cell, Column, Section, Table
from cartograph.wording import counted, cut

_LONGEST = 600
_OUTCOMES = {"failed": "FAILED", "warned": "WARNED", "passed": "passed", "unknown": "not known yet"}


def thresholds_section(audit: Audit) -> Section | None:
    """Return the gates; None where none is set."""
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
    beyond = [gate for gate in audit.gates if gate["outcome"] in ("warned", "failed")]
    lead = (
        f"{counted(len(beyond), 'gate')} of {len(audit.gates)} went off."
        if beyond
        else f"None of {counted(len(audit.gates), 'gate')} went off."
    )
    return Section("gates", "Thresholds", f"{lead} They are set in the section `gates` of params.yaml.", (Table("Gates", columns, cells),))


def _bound(value: float | None) -> str:
    return "never" if value is None else f"{value:g}"

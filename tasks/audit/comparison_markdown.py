"""Two audits side by side, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartograph.wording import markdown_table, percent, plain_markdown
from tasks.audit.compare import summary_line

if TYPE_CHECKING:
    from cartograph.audits.changes import AuditChanges
    from cartograph.audits.record import Record

_LISTED = 20


def comparison_markdown(name_before: str, name_now: str, before: Record, now: Record, changes: AuditChanges) -> str:
    """Return the numbers of both audits, what changed, and the rows that are new suspects or have another label."""
    counts = changes.counts
    parts = [f"# {plain_markdown(name_before)} and {plain_markdown(name_now)}", f"{summary_line(changes)}."]
    names = list(dict.fromkeys([*before.numbers, *now.numbers]))
    cells = [(plain_markdown(name), _number(before.numbers.get(name)), _number(now.numbers.get(name))) for name in names]
    cells += [(f"class {plain_markdown(name)}", f"{percent(one)}", f"{percent(other)}") for name, (one, other) in changes.classes.items()]
    parts.append(markdown_table(["", "before", "now"], cells, "lrr"))
    new, among, still, gone, away = (counts[f"suspects.{name}"] for name in ("new", "new.among_added", "still", "gone", "removed"))
    parts.append(
        f"Suspects: {new:,} new ({among:,} on added rows), {still:,} still, {gone:,} gone, {away:,} went with their rows. "
        f"{counts['rows.moved']:,} rows changed region. The classes shifted by {percent(changes.class_shift)}. "
        f"The maps are {changes.map.distance:.3f} apart (energy distance, 0 = the same; p = {changes.map.p:.3f})."
    )
    if changes.columns:
        from cartograph.audits.columns import drift_sentence

        parts.append(drift_sentence(changes.columns, plain_markdown))
    rows = changes.rows.to_pylist()
    for what in ("new suspect", "relabelled"):
        found = [row for row in rows if row["what"] == what]
        if found:
            shown = [plain_markdown(row["uid"]) + _labels(row) for row in found[:_LISTED]]
            more = f", and {len(found) - _LISTED:,} more" if len(found) > _LISTED else ""
            parts.append(f"{what.capitalize()}: {', '.join(shown)}{more}.")
    return "\n\n".join(parts) + "\n"


def _labels(row: dict[str, str | None]) -> str:
    return f" ({plain_markdown(row['from'])} → {plain_markdown(row['to'] or '')})" if row["from"] else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if float(value).is_integer() else f"{value:.4f}"

"""What was checked before anything was trained, what failed, and which rows could not be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.compute as pc

from cartograph.compare.markdown import DOMAINS
from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Cell, Check, Checks, Column, Section, Table
from cartograph.schema import QUARANTINE
from cartograph.wording import count, counted, cut, listing, share

_LONGEST = 200
_MOST_CLASSES = 6
_MOST_COLUMNS = 20


def validation_section(audit: Audit) -> Section | None:
    """Return the checks, the sets, and the quarantined rows by reason; None where nothing was validated."""
    sets = audit.validation.get("sets", [])
    if not sets:
        return None
    checks = [_check(entry["set"], check) for entry in sets for check in entry["checks"]]
    checks.sort(key=lambda check: (check.passed, not check.critical))
    blocks: list[Block] = [Checks(checks)] if checks else []
    blocks += _sets(sets)
    blocks += [found for found in (_leaked(sets), _contradicted(sets)) if found is not None]
    if audit.quarantine.num_rows:
        blocks += [_reasons(audit), _quarantined(audit)]
    failed = sum(not check.passed for check in checks)
    lead = f"{_outcome(failed, len(checks))} {_unusable(audit)}{_left_out(sets)}{_linked(sets)}"
    return Section("validation", "Validation", lead, blocks)


def _outcome(failed: int, total: int) -> str:
    if not total:
        return "No check was run."
    if total == 1:
        return "The one check failed." if failed else "The one check passed."
    return f"All {count(total)} checks passed." if not failed else f"{count(failed)} of {counted(total, 'check')} failed."


def _unusable(audit: Audit) -> str:
    number = audit.quarantine.num_rows
    if not number:
        return "Every row that was read could be used."
    read = sum(int(entry["rows_read"]) for entry in audit.validation["sets"])
    were = "was" if number == 1 else "were"
    return f"{counted(number, 'row')} of {count(read)} ({share(number, read)}) could not be used and {were} set aside."


def _left_out(sets: Sequence[Mapping[str, Any]]) -> str:
    """Return which columns of a table were not read as features, as a sentence behind another; empty where all were."""
    names: list[Any] = next((entry["left_out"] for entry in sets if entry.get("left_out")), [])
    if not names:
        return ""
    shown = listing([f"“{cut(str(name), 60)}”" for name in names[:_MOST_COLUMNS]])
    more = f", and {count(len(names) - _MOST_COLUMNS)} more" if len(names) > _MOST_COLUMNS else ""
    return f" Columns that were not read (names that hardly repeat, row numbers, who labelled, empty, marked so): {shown}{more}."


def _linked(sets: Sequence[Mapping[str, Any]]) -> str:
    """Return which rows are held out together, as a sentence behind another; empty where none were asked for."""
    sentences = [str(entry["linked"]) for entry in sets if entry.get("linked")]
    return f" {sentences[0]}" if sentences else ""


def _check(name: str, check: Mapping[str, Any]) -> Check:
    where = listing([cut(str(item), 60) for item in check.get("examples", [])[:5]])
    more = int(check.get("unexpected") or 0) - min(len(check.get("examples", [])), 5)
    if where and more > 0:
        where += f", and {count(more)} more"
    return Check(
        set=str(name),
        check=cut(str(check["check"]), _LONGEST),
        passed=bool(check["passed"]),
        critical=check.get("severity") == "critical",
        expected=cut(str(check.get("expected", "")), _LONGEST),
        found=cut(str(check.get("found", "")), _LONGEST),
        where=where,
    )


def _sets(sets: list[Mapping[str, Any]]) -> list[Table]:
    """Return the sets with the rows of each class: in the same table where that leaves it legible, else in one of their own."""
    classes = list(dict.fromkeys(name for entry in sets for name in entry["classes"]))
    beside = classes if len(classes) <= _MOST_CLASSES else []
    columns = [
        Column("Set"),
        Column("Domain", meaning="in distribution: drawn like the train set; out of distribution: from somewhere else"),
        Column("Files"),
        Column("Read", "count", "rows read from the files"),
        Column("Used", "count", "rows that could be used"),
        Column("Quarantined", "count", "rows set aside, with the reason"),
        *(Column(cut(str(name), 40), "count", "rows with this label") for name in beside),
    ]
    cells: list[Sequence[Cell]] = [
        (
            str(entry["set"]),
            DOMAINS.get(entry["domain"], str(entry["domain"])),
            cut(", ".join(map(str, entry["files"])), _LONGEST),
            int(entry["rows_read"]),
            int(entry["rows_used"]),
            int(entry["quarantined"]),
            *(int(entry["classes"].get(name, 0)) for name in beside),
        )
        for entry in sets
    ]
    tables = [Table("The sets and their labels" if beside else "The sets", columns, cells)]
    if not beside and classes:
        by_class: list[Sequence[Cell]] = [
            (cut(str(name), _LONGEST), *(int(entry["classes"].get(name, 0)) for entry in sets)) for name in classes
        ]
        columns = [Column("Label"), *(Column(cut(str(entry["set"]), 40), "count", "rows with this label") for entry in sets)]
        tables.append(Table("Rows of each label", columns, by_class))
    return tables


def _leaked(sets: list[Mapping[str, Any]]) -> Table | None:
    """Return how many rows of the evaluation sets are in the train set too; None where none does."""
    found = [(entry, entry["in_train"]) for entry in sets if entry.get("in_train")]
    if not any(sum(counts.values()) for _, counts in found):
        return None
    columns = (
        Column("Set"),
        Column("Used", "count", "rows that could be used"),
        Column("Equal", "count", "rows with the same text, character by character, as a row of the train set"),
        Column("Ignoring case and spaces", "count", "rows whose text is the same, ignoring case and white space"),
        Column("Nearly", "count", "rows with a similarity of 0.8 or more to one of the train set (Jaccard, of 5 characters)"),
        Column("Other label", "count", "of all these, rows that have another label in the train set"),
    )
    names = ("exact", "normalised", "near", "other label")
    cells: list[Sequence[Cell]] = [
        (str(entry["set"]), int(entry["rows_used"]), *(int(counts.get(name, 0)) for name in names)) for entry, counts in found
    ]
    return Table("Rows of evaluation sets that are in the train set too", columns, cells)


def _contradicted(sets: list[Mapping[str, Any]]) -> Table | None:
    """Return how many rows stand with another label too; None where none does."""
    found = [(entry, int(entry.get("contradicted") or 0)) for entry in sets]
    if not any(number for _, number in found):
        return None
    columns = (
        Column("Set"),
        Column("Used", "count", "rows that could be used"),
        Column(
            "Contradicted",
            "count",
            "rows whose text, ignoring case and white space, also appears with another label in the same set or in the train set",
        ),
        Column("Share", "share", "of the rows that could be used"),
    )
    cells: list[Sequence[Cell]] = [
        (str(entry["set"]), int(entry["rows_used"]), number, number / max(int(entry["rows_used"]), 1)) for entry, number in found
    ]
    return Table("Equal rows with different labels", columns, cells)


def _reasons(audit: Audit) -> Table:
    counts = pc.value_counts(audit.quarantine["reason"]).to_pylist()
    counts.sort(key=lambda entry: (-entry["counts"], entry["values"]))
    cells = [(cut(entry["values"], _LONGEST), entry["counts"]) for entry in counts]
    return Table("Quarantined rows by reason", (Column("Reason"), Column("Rows", "count")), cells)


def _quarantined(audit: Audit) -> Table:
    """Return the first rows of each reason, so that no frequent reason hides a rare one."""
    seen: dict[str, int] = {}
    cells: list[Sequence[Cell]] = []
    for record in audit.quarantine.select([name for name in QUARANTINE.names if name != "record"]).to_pylist():
        seen[record["reason"]] = seen.get(record["reason"], 0) + 1
        if seen[record["reason"]] <= audit.limits.examples and len(cells) < audit.limits.listed:
            value = "" if record["value"] is None else cut(record["value"], 80)
            cells.append(
                (cut(record["reason"], _LONGEST), record["set"], cut(record["file"], 80), record["row"], record["column"] or "", value)
            )
    columns = (Column("Reason"), Column("Set"), Column("File"), Column("Row", "count"), Column("Column"), Column("Value", "code"))
    return Table("Examples of each reason", columns, cells, folded=True)

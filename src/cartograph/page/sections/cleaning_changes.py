"""What cleaning changed: rows dropped and relabelled by class, by whom, and every change with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cartograph.clean.cleaning import RECIPE
from cartograph.data.images import shown_fields
from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Cell, Column, Facts, Section, Table
from cartograph.page.step_results import Cleaning
from cartograph.schema import UID
from cartograph.wording import count, counted, cut, share

MOST_LISTED = 200
"""Changes in the table; the others are in the file."""

_LONGEST_TEXT = 160
_LONGEST_REASON = 300
_LONGEST_NAME = 40
_PICTURE_SIDE = 32


def cleaning_changes_section(audit: Audit) -> Section | None:
    """Return what cleaning changed; None where the audit did not clean."""
    if audit.cleaning is None:
        return None
    changes = audit.cleaning.changes.to_pylist()
    blocks: list[Block] = [Facts(_facts(audit.cleaning))]
    if audit.cleaning.arms is not None and audit.cleaning.arms["arms"]:
        blocks.append(_arms(audit.cleaning.arms, trees=bool(audit.info.features)))
    if changes:
        blocks += [_by_class(audit, changes), _listed(audit, changes)]
    lead = _lead_of_labels if audit.several else _lead
    return Section("changes", "What changed", lead(audit.cleaning.version, changes), blocks)


def _lead(version: Mapping[str, Any], changes: Sequence[Mapping[str, Any]]) -> str:
    weighted = version.get("weighted", False)
    if not changes and weighted:
        return (
            f"No row was dropped or relabelled: each of the {counted(version['rows'], 'row')} counts by how likely its label is right, "
            f"1 on average; the weights are a column of the cleaned version {version['version']}."
        )
    if not changes:
        rows = counted(version["rows"], "row")
        return f"Nothing: the cleaned version {version['version']} has the {rows} of the original, with their labels."
    done = [
        f"{counted(version[what], 'row')} {verb}" for what, verb in (("dropped", "dropped"), ("relabelled", "relabelled")) if version[what]
    ]
    summary = f"{' and '.join(done)}: {count(version['parent_rows'])} rows became {count(version['rows'])}, version {version['version']}."
    more = " Each row counts by how likely its label is right." if weighted else ""
    return f"{summary}{more}{_of_more(changes)}"


def _lead_of_labels(version: Mapping[str, Any], changes: Sequence[Mapping[str, Any]]) -> str:
    """Return what changed where rows have several labels, and what such an audit leaves out."""
    done = [f"{counted(version['relabelled'], 'label')} changed between yes and no"] * bool(version["relabelled"])
    done += [f"{counted(version['dropped'], 'row')} dropped by people"] * bool(version["dropped"])
    rows, named = counted(version["rows"], "row"), f"the cleaned version {version['version']} has"
    summary = f"{', '.join(done)}: {named} {rows}." if done else f"Nothing: {named} the {rows} of the original, with their labels."
    left_out = "Selections, filters and models retrained on them are for rows with one label, so there are none here."
    return f"{summary} {left_out}{_of_more(changes)}"


def _of_more(changes: Sequence[Mapping[str, Any]]) -> str:
    if len(changes) <= MOST_LISTED:
        return ""
    return f" The table has the first {count(MOST_LISTED)} changes, those by people first, then the most suspect."


def _facts(cleaning: Cleaning) -> list[tuple[str, str]]:
    version = cleaning.version
    by = Counter(cleaning.changes["by"].to_pylist())
    facts = [
        ("Version", f"{version['version']}: the same content always gives the same version"),
        ("Made from", f"version {version['parent']}, {counted(version['parent_rows'], 'row')}"),
        ("Files", "data/clean/cleaned.parquet, in the original's columns; every change in data/clean/changes.parquet"),
    ]
    if by:
        facts.append(("Decided by", ", ".join(f"{cut(name, _LONGEST_NAME)} ({count(number)})" for name, number in by.most_common())))
    return facts


def _arms(arms: Mapping[str, Any], *, trees: bool) -> Table:
    """Return the ways of cleaning side by side, as cross-validation on the train set sees them."""
    used = {"decisions-only": "original", "drop-flagged": "drop"}.get(arms["used"], arms["used"])
    cells: list[tuple[Cell, ...]] = [
        (
            arm,
            score["changed"],
            100 * score["accuracy"],
            100 * score["difference"],
            100 * score["error"],
            ", ".join(word for word, meant in (("chosen", arms["recommended"]), ("used", used)) if arm == meant),
        )
        for arm, score in arms["arms"].items()
    ]
    models = "linear models, forests or boosted trees, the best on the original rows," if trees else "linear models,"
    columns = (
        Column("Way of cleaning"),
        Column("Rows changed", "count", "dropped, relabelled, or counting less than half"),
        Column("Accuracy", "points", f"of {models} cross-validated on the train set, each row weighted by how likely its label is right"),
        Column(
            "\u2212 original",
            "points",
            "points above the original rows; suspects found without the rows scored on",
        ),
        Column("Standard error", "points", "of that difference, paired by rows"),
        Column(
            "Choice",
            meaning="chosen: the best; where it is not certain that labels are wrong, if better than the original by over "
            "two standard errors and a row; the top of the page says by evaluation whether to use its rows or the original",
        ),
    )
    return Table(f"Ways of cleaning compared. {arms['reason']}", columns, cells)


def _by_class(audit: Audit, changes: Sequence[Mapping[str, Any]]) -> Table:
    labels = audit.info.labels
    before = Counter(labels[label] for label in audit.gold.tolist())
    dropped = Counter(row["from"] for row in changes if row["to"] is None)
    left = Counter(row["from"] for row in changes if row["to"] is not None)
    joined = Counter(row["to"] for row in changes if row["to"] is not None)
    after = {name: before[name] - dropped[name] - left[name] + joined[name] for name in labels}
    whole, rest = (sum(counts.values()) // audit.labels_a_row for counts in (before, after))
    cells: list[tuple[Cell, ...]] = [
        (name, before[name], share(before[name], whole), dropped[name], left[name], joined[name], after[name], share(after[name], rest))
        for name in labels
    ]
    columns = (
        Column("Class"),
        Column("Before", "count"),
        Column("Share before"),
        Column("Dropped", "count"),
        Column("Relabelled away", "count"),
        Column("Relabelled to it", "count"),
        Column("After", "count"),
        Column("Share after"),
    )
    return Table("By class", columns, cells)


def _listed(audit: Audit, changes: Sequence[Mapping[str, Any]]) -> Table:
    place = {uid: index for index, uid in enumerate(audit.measures[UID].to_pylist())}
    ranks = audit.suspects.rows["rank"].to_pylist() if audit.suspects is not None else list(range(audit.rows))
    shown = sorted(changes, key=lambda row: (row["by"].startswith(RECIPE), ranks[place[row[UID]]]))[:MOST_LISTED]
    rows = shown_fields(audit.examples.take([place[row[UID]] for row in shown]), audit.info, _PICTURE_SIDE)
    pictures = bool(audit.info.images)
    cells: list[tuple[Cell, ...]] = [
        (
            row[UID],
            texts[0] if pictures else cut(" / ".join(texts), _LONGEST_TEXT),
            row["from"],
            row["to"] or "dropped",
            cut(row["why"], _LONGEST_REASON),
            cut(row["by"], _LONGEST_NAME),
        )
        for row, texts in zip(shown, zip(*rows, strict=True), strict=True)
    ]
    columns = (
        Column("uid", "code"),
        Column("Image", "picture") if pictures else Column("Text"),
        Column("Label"),
        Column("Became"),
        Column("Why"),
        Column("By"),
    )
    return Table(f"The changes ({count(len(cells))})", columns, cells, folded=True)

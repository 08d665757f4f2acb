"""What changed since the last audit: rows, labels, suspects, regions, and the numbers of all audits so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.audits.columns import FAR, MISSING, UNSEEN, drift_sentence
from cartograph.data.images import shown_fields
from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Cell, Column, Section, Table
from cartograph.page.chart_blocks import Chart, Charts, Series
from cartograph.page.row_blocks import RowList, RowTables
from cartograph.page.sections.suspects import suspect_table
from cartograph.page.step_results import SinceLastAudit
from cartograph.schema import REGIONS, UID
from cartograph.wording import count, counted, cut, listing, percent, probability, share

_LONGEST = 200
_PICTURE_SIDE = 32


def audit_changes_section(audit: Audit) -> Section | None:
    """Return what changed; None for a workspace's first audit."""
    if audit.since_last_audit is None:
        return None
    since = audit.since_last_audit
    blocks: list[Block] = []
    suspected = set(_places(audit, since, "new suspect"))
    new = [place for place in audit.listed.tolist() if place in suspected]
    if new and audit.suspects is not None:
        blocks.append(suspect_table("New suspects", audit, new))
    lists = _lists(audit, since)
    if lists:
        blocks.append(RowTables(lists))
    blocks += [table for table in (_relabelled(audit, since), _columns(since), _regions(since), _classes(since)) if table is not None]
    charts = _trend(since.trend)
    if charts:
        blocks.append(Charts(charts))
    return Section(
        "since", "What changed since the last audit", " ".join(_lead(since, several=bool(audit.several))), blocks, short="Since last audit"
    )


def _lead(since: SinceLastAudit, *, several: bool) -> list[str]:
    counts = since.numbers
    parts = [(int(counts[f"rows.{what}"]), what) for what in ("added", "removed", "edited", "relabelled")]
    changes = [f"{counted(number, 'row')} {'was' if number == 1 else 'were'} {what}" for number, what in parts if number]
    before, now = since.audits
    lines = [f"This is audit {now} of this workspace; it is compared with audit {before}."]
    lines += ["A row counts once for each of its labels."] * several
    lines.append(f"{_capital(listing(changes))}." if changes else "The rows and their labels are the same.")
    new, gone, still, away = (int(counts[f"suspects.{name}"]) for name in ("new", "gone", "still", "removed"))
    among = int(counts["suspects.new.among_added"])
    lines.append(
        f"{counted(new, 'label')} became suspect"
        + (f" ({count(among)} of them on added rows)" if among else "")
        + f", {count(still)} still {'is' if still == 1 else 'are'}, {count(gone)} no longer {'is' if gone == 1 else 'are'}"
        + (f", and {count(away)} went with their rows." if away else ".")
    )
    if since.columns:
        lines.append(drift_sentence(since.columns))
    moved, kept = int(counts["rows.moved"]), int(counts["rows.now"] - counts["rows.added"])
    if kept:
        lines.append(f"{counted(moved, 'row')} of the {count(kept)} that both audits have ({share(moved, kept)}) changed region.")
    apart = f"the energy distance of the two maps is {counts['map.distance']:.3f}"
    chance = f"p = {probability(counts['map.p'], 3)} in a permutation test that takes rows as independent"
    lines.append(f"{_capital(apart)} (0 = the same; {chance}).")
    lines.append(_reused(since))
    if new:
        lines.append("The first table lists the labels that became suspect.")
    return lines


def _reused(since: SinceLastAudit) -> str:
    """Return which vectors of the last audit were used again."""
    if not since.embedded:
        return "No model starts from an earlier audit's: each is trained from scratch, on all rows."
    kept, made = (sum(counts[name] for counts in since.embedded.values()) for name in ("kept", "made"))
    return (
        f"The frozen encoder's vectors of {counted(kept, 'row')} with the same texts were reused, those of {count(made)} were computed; "
        "no model starts from an earlier audit's: each is trained from scratch, on all rows."
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _places(audit: Audit, since: SinceLastAudit, what: str) -> list[int]:
    uids = since.rows.filter(pc.equal(since.rows["what"], what))[UID]
    places = pc.index_in(uids, value_set=audit.measures[UID].combine_chunks())
    return [int(place) for place in places.drop_null().to_pylist()]


def _lists(audit: Audit, since: SinceLastAudit) -> list[RowList]:
    meanings = {
        "added": "rows that are new since the last audit, least confident first",
        "edited": "rows whose text changed, least confident first",
        "no longer suspect": "rows that looked wrong in the last audit but no longer do",
    }
    lists = []
    for what, meaning in meanings.items():
        places = np.array(_places(audit, since, what), dtype=np.int64)
        if len(places):
            order = places[np.argsort(audit.confidence[places], kind="stable")][: audit.limits.listed]
            lists.append(RowList(_capital(what), f"{meaning}; {count(len(order))} of {count(len(places))}", order.tolist()))
    return lists


def _relabelled(audit: Audit, since: SinceLastAudit) -> Table | None:
    rows = since.rows.filter(pc.equal(since.rows["what"], "relabelled")).slice(0, audit.limits.listed)
    if not rows.num_rows:
        return None
    texts = _texts(audit, rows[UID].to_pylist())
    cells: list[Sequence[Cell]] = [
        (texts.get(row[UID], ""), cut(row["from"], 60), cut(row["to"], 60), row[UID]) for row in rows.to_pylist()
    ]
    total = int(since.numbers["rows.relabelled"])
    shown = Column("Image", "picture") if audit.info.images else Column("Text")
    columns = (shown, Column("Label before"), Column("Label now"), Column("uid", "code"))
    caption = "Relabelled rows" if total <= len(cells) else f"Relabelled rows, the first {count(len(cells))} of {count(total)}"
    return Table(caption, columns, cells)


def _texts(audit: Audit, uids: Sequence[str]) -> dict[str, str]:
    rows = audit.examples.filter(pc.is_in(audit.examples[UID], value_set=pa.array(uids, pa.string())))
    shown = zip(rows[UID].to_pylist(), *shown_fields(rows, audit.info, _PICTURE_SIDE), strict=True)
    return {uid: fields[0] if audit.info.images else cut(" | ".join(fields), _LONGEST) for uid, *fields in shown}


def _columns(since: SinceLastAudit) -> Table | None:
    """Return every column of a table of features, those that drifted first; folded where none did."""
    if not since.columns:
        return None
    cells: list[Sequence[Cell]] = [
        (cut(column.name, 60), ", ".join(column.why), column.distance, *column.usual, *column.missing, column.unseen)
        for column in since.columns
    ]
    far = f"values {FAR:g} apart, {percent(MISSING)} of the rows more or fewer missing, or {percent(UNSEEN)} in new categories"
    drifted = f"what moved far ({far}), and farther than by chance in one of a hundred audits"
    apart = "0 = the same values: Kolmogorov-Smirnov distance of numbers and dates, total variation of categories"
    columns = (
        Column("Column"),
        Column("Drifted", meaning=drifted),
        Column("Distance", "probability", apart),
        Column("Usual before", meaning="the middle number or date, or the most frequent category"),
        Column("Usual now"),
        Column("Missing before", "share"),
        Column("Missing now", "share"),
        Column("New categories", "share", "rows with a category that was not there before"),
    )
    return Table("Columns before and now", columns, cells, folded=not any(column.why for column in since.columns))


def _regions(since: SinceLastAudit) -> Table:
    cells: list[Sequence[Cell]] = [(before, *(since.regions[before][now] for now in REGIONS)) for before in REGIONS]
    columns = (Column("Before, of the rows that both have"), *(Column(f"now {region}", "count") for region in REGIONS))
    return Table("Regions before and now", columns, cells, folded=True)


def _classes(since: SinceLastAudit) -> Table:
    cells: list[Sequence[Cell]] = [(cut(name, 60), before, now) for name, (before, now) in since.classes.items()]
    return Table("Classes before and now", (Column("Class"), Column("Before", "share"), Column("Now", "share")), cells, folded=True)


def _trend(trend: Sequence[tuple[int, Mapping[str, float]]]) -> list[Chart]:
    """Return charts over all audits on record; empty where there are fewer than two."""
    if len(trend) < 2:
        return []
    x = [float(number) for number, _ in trend]

    def series(names: Mapping[str, str]) -> list[Series]:
        return [Series(shown, [numbers.get(name) for _, numbers in trend]) for name, shown in names.items()]

    charts = [Chart("Rows", "train rows, audit by audit", "audit", x, series({"rows": "rows"}), whole_x=True)]
    names = sorted({name for _, numbers in trend for name in numbers})
    shares = {name: shown for name, shown in (("suspects.share", "suspects"), ("quarantined.share", "quarantined")) if name in names}
    if shares:
        charts.append(Chart("Shares", "of the train rows; of all rows read", "audit", x, series(shares), whole_x=True))
    accuracies = {name: cut(name.removesuffix(".accuracy"), 40) for name in names if name.endswith(".accuracy")}
    if accuracies:
        charts.append(Chart("Accuracy", "of the model behind the map", "audit", x, series(accuracies), whole_x=True))
    return charts

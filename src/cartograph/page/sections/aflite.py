"""AFLite: its rounds, the rows it removed first, and the rows that remain."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cartograph.adversarial_filter.result import hardest_first
from cartograph.data.arrays import Integers
from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Cell, Column, Facts, Section, Table
from cartograph.page.chart_blocks import Chart, Charts, Series
from cartograph.page.row_blocks import RowList, RowTables
from cartograph.page.step_results import Aflite
from cartograph.schema import UID
from cartograph.wording import count, counted, cut, percent, probability, share

_SOURCES = {
    "bow": "a bag of words (TF-IDF and SVD)",
    "pixels": "plain pixels (and SVD)",
    "columns": "the scaled columns",
    "frozen": "a frozen encoder",
    "finetuned": "the vectors of a model trained on {held_back} held-back rows",
    "file": "your own file",
}
_LONGEST_NAME = 60


def aflite_section(audit: Audit) -> Section | None:
    """Return the filter's rounds and rows; None where the audit did not filter."""
    if audit.aflite is None:
        return None
    blocks: list[Block] = [Charts(_charts(audit.aflite)), Facts(_facts(audit.aflite)), _by_class(audit, audit.aflite)]
    lists = _lists(audit, audit.aflite)
    if lists:
        blocks.append(RowTables(lists))
    return Section("aflite", "What the features give away", _lead(audit, audit.aflite), blocks, short="AFLite")


def _lead(audit: Audit, filtered: Aflite) -> str:
    record = filtered.record
    source = _SOURCES[record["features"]["source"]].format(held_back=count(record["features"]["held_back"]))
    before, after = (percent(record[name], 0) for name in ("bias_before", "bias_after"))
    text = (
        f"Linear models that see only {source} guess {before} of the labels of rows they never saw. AFLite removed the rows that "
        f"they guess most confidently, {share(record['removed'], record['rows'])} of {count(record['rows'])}; of the "
        f"{count(record['kept'])} that remain they guess {after}."
    )
    if record.get("linked"):
        text = f"{text} Linked rows were held out together."
    return (
        f"{text} {_remaining(audit, filtered)} Decide on the suspects first; then test a model on the rows that remain, to see what it "
        "knows beyond such hints."
    )


def _remaining(audit: Audit, filtered: Aflite) -> str:
    """Return how hard the rows that remain are on this map beside those removed, and how many suspects are among them."""
    places, table = _placed(audit, filtered.rows)
    kept = table["kept"].to_numpy(zero_copy_only=False).astype(bool)
    means = [probability(float(audit.confidence[rows].mean())) if len(rows) else "" for rows in (places[kept], places[~kept])]
    besides = f", those removed of {means[1]}" if means[1] else ""
    sentence = f"On the map the rows that remain have a mean confidence of {means[0]}{besides}." if means[0] else ""
    suspects = np.isin(places, audit.flagged)
    if number := int(np.count_nonzero(suspects)):
        left = int(np.count_nonzero(suspects & kept))
        sentence = f"{sentence} {count(left)} of the {counted(number, 'suspect')} in the pool {'remains' if left == 1 else 'remain'}."
    return sentence.strip()


def _charts(filtered: Aflite) -> tuple[Chart, Chart]:
    rounds = [float(value) for value in filtered.history["round"].to_pylist()]
    bias = [round(value, 4) for value in filtered.history["bias"].to_pylist()]
    shown = "share of correct guesses on rows that a model did not train on, averaged over the remaining rows (R)"
    return (
        Chart("Representation bias", shown, "Round", rounds, [Series("R", bias)], y_range=(0.0, 1.0), whole_x=True),
        Chart(
            "Rows in play",
            "before the round removed any; at the threshold: rows that enough models guess correctly",
            "Round",
            rounds,
            [Series("in play", filtered.history["size"].to_pylist()), Series("at the threshold", filtered.history["eligible"].to_pylist())],
            whole_x=True,
        ),
    )


def _facts(filtered: Aflite) -> list[tuple[str, str]]:
    record = filtered.record
    facts = [
        ("Filter", f"{record['variant']}, {record['n_partitions']} models a round, each trained on {counted(record['train_size'], 'row')}"),
        (
            "A round removes",
            f"at most {counted(record['slice_size'], 'row')} that at least {percent(record['threshold'], 0)} of the models guess right",
        ),
        ("Ended", f"after {counted(record['rounds'], 'round')}: {record['stop_reason']}"),
        ("Files", "data/aflite/filtered.parquet; every row's round and predictability in data/aflite/aflite.parquet"),
    ]
    for name, theirs in record["evaluation"].items():
        kept = f"{count(theirs['kept'])} of {counted(theirs['rows'], 'row')} remain ({share(theirs['kept'], theirs['rows'])})"
        facts.append((cut(name, _LONGEST_NAME), f"filtered the same way: {kept}"))
    return facts


def _by_class(audit: Audit, filtered: Aflite) -> Table:
    places, table = _placed(audit, filtered.rows)
    kept = table["kept"].to_numpy(zero_copy_only=False).astype(bool)
    first = table["predictability_first"].to_numpy(zero_copy_only=False)
    cells: list[list[Cell]] = []
    for label, name in enumerate(audit.info.labels):
        own = audit.gold[places] == label
        if own.any():
            known = first[own & ~np.isnan(first)]
            mean = float(known.mean()) if len(known) else None
            cells.append([cut(name, _LONGEST_NAME), int(own.sum()), int((own & kept).sum()), float((own & kept).sum() / own.sum()), mean])
    columns = (
        Column("Label"),
        Column("Rows", "count", "in the filter's pool"),
        Column("Kept", "count"),
        Column("Share kept", "share"),
        Column("Predictability", "probability", "mean share of correct guesses for a row in its first round"),
    )
    return Table("By label", columns, cells)


def _lists(audit: Audit, filtered: Aflite) -> list[RowList]:
    places, table = _placed(audit, filtered.rows)
    removed = np.nan_to_num(table["removed_in_round"].to_numpy(zero_copy_only=False).astype(float)).astype(np.int32)
    last = table["predictability_last"].to_numpy(zero_copy_only=False).astype(float)
    order = hardest_first(removed, last, np.random.default_rng(audit.limits.seed))
    number = min(audit.limits.listed, len(order))
    removed_first = order[::-1][: min(number, int((removed > 0).sum()))]
    remaining = order[: min(number, int((removed == 0).sum()))]
    lists = []
    if len(removed_first):
        most = percent(float(np.nanmax(last[removed_first])), 0)
        lists.append(
            RowList("Removed first", f"most predictable first: up to {most} of the models guess them right", places[removed_first].tolist())
        )
    if len(remaining):
        lists.append(RowList("Remaining", "kept to the end, least predictable first", places[remaining].tolist()))
    return lists


def _placed(audit: Audit, rows: pa.Table) -> tuple[Integers, pa.Table]:
    """Return the filter's rows that the map has: their places on it, and their table."""
    where = {uid: place for place, uid in enumerate(audit.measures[UID].to_pylist())}
    known = [uid in where for uid in rows[UID].to_pylist()]
    table = rows.filter(pa.array(known))
    return np.asarray([where[uid] for uid in table[UID].to_pylist()], dtype=np.int64), table

"""What can be guessed from the features alone: the filter, round by round, what it took first and what withstood it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cartograph.adversarial_filter.result import hardest_first
from cartograph.data.arrays import Integers
from cartograph.page.audit import Aflite, Audit
from cartograph.page.blocks import Block, Cell, Chart, Charts, Column, Facts, RowList, RowTables, Section, Series, Table
from cartograph.schema import UID
from cartograph.wording import count, counted, cut, percent, probability, share

_SOURCES = {
    "bow": "a bag of words (TF-IDF and SVD)",
    "pixels": "plain pixels (and SVD)",
    "frozen": "a frozen encoder",
    "finetuned": "a model trained on {held_back} of the rows, which left the pool",
    "file": "a file of the user's",
}
_LONGEST_NAME = 40


def aflite_section(audit: Audit) -> Section | None:
    """Return the filter's rounds and rows; None where nothing was filtered."""
    if audit.aflite is None:
        return None
    blocks: list[Block] = [Charts(_charts(audit.aflite)), Facts(_facts(audit.aflite)), _by_class(audit, audit.aflite)]
    lists = _lists(audit, audit.aflite)
    if lists:
        blocks.append(RowTables(lists))
    return Section("aflite", "What the features give away", _lead(audit.aflite), blocks, short="AFLite")


def _lead(filtered: Aflite) -> str:
    record = filtered.record
    source = _SOURCES[record["features"]["source"]].format(held_back=count(record["features"]["held_back"]))
    before, after = (percent(record[name], 0) for name in ("bias_before", "bias_after"))
    text = (
        f"Linear models that see nothing but {source} guess {before} of the labels of rows they never saw. AFLite took out the rows that "
        f"they guess most surely, {share(record['removed'], record['rows'])} of {count(record['rows'])}; of the {count(record['kept'])} "
        f"that stayed they guess {after}."
    )
    return f"{text} What withstands is harder, not cleaner: wrong labels withstand too."


def _charts(filtered: Aflite) -> tuple[Chart, Chart]:
    rounds = [float(value) for value in filtered.history["round"].to_pylist()]
    bias = [round(value, 4) for value in filtered.history["bias"].to_pylist()]
    shown = "share of right guesses of rows that a model did not train on, mean over the rows in play (R)"
    return (
        Chart("Representation bias", shown, "Round", rounds, [Series("R", bias)], y_range=(0.0, 1.0), whole_x=True),
        Chart(
            "Rows in play",
            "before the round took any out; at the threshold: rows that enough models guess right",
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
            "A round took",
            f"at most {counted(record['slice_size'], 'row')} that {percent(record['threshold'], 0)} of the models guess right",
        ),
        ("Ended", f"after {counted(record['rounds'], 'round')}: {record['stop_reason']}"),
        ("Files", "data/aflite/filtered.parquet; every row's round and predictability in data/aflite/aflite.parquet"),
    ]
    for name, theirs in record["evaluation"].items():
        kept = f"{count(theirs['kept'])} of {counted(theirs['rows'], 'row')} stay ({share(theirs['kept'], theirs['rows'])})"
        facts.append((cut(name, _LONGEST_NAME), f"filtered alike: {kept}"))
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
        Column("Predictability", "probability", "mean share of right guesses of a row in its first round"),
    )
    return Table("By label", columns, cells)


def _lists(audit: Audit, filtered: Aflite) -> list[RowList]:
    places, table = _placed(audit, filtered.rows)
    removed = np.nan_to_num(table["removed_in_round"].to_numpy(zero_copy_only=False).astype(float)).astype(np.int32)
    last = table["predictability_last"].to_numpy(zero_copy_only=False).astype(float)
    order = hardest_first(removed, last, np.random.default_rng(audit.limits.seed))
    number = min(audit.limits.listed, len(order))
    gone = order[::-1][: min(number, int((removed > 0).sum()))]
    stayed = order[: min(number, int((removed == 0).sum()))]
    lists = []
    if len(gone):
        most = f"guessed by {probability(float(np.nanmax(last[gone])))} of the models or nearly as many"
        lists.append(RowList("Went first", f"taken out in the first rounds, {most}", places[gone].tolist()))
    if len(stayed):
        lists.append(RowList("Withstood", "stayed to the end, least guessed first: hard, ambiguous or wrong", places[stayed].tolist()))
    return lists


def _placed(audit: Audit, rows: pa.Table) -> tuple[Integers, pa.Table]:
    """Return the places on the map of the filter's rows, and these; rows that the map does not have are left out."""
    where = {uid: place for place, uid in enumerate(audit.measures[UID].to_pylist())}
    known = [uid in where for uid in rows[UID].to_pylist()]
    table = rows.filter(pa.array(known))
    return np.asarray([where[uid] for uid in table[UID].to_pylist()], dtype=np.int64), table

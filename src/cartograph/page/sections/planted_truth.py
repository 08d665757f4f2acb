"""The built-in corpus, whose planted errors are known: where each kind lies on the map, and how the flipped labels rank."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Bools, Integers
from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Column, Facts, Section, Table
from cartograph.page.chart_blocks import Chart, Charts, Plane, Planes, Series
from cartograph.schema import REGIONS, UID
from cartograph.wording import count, counted, percent, probability, share

_KINDS = {
    "flipped": ("Flipped", "labels changed to a wrong one on purpose"),
    "ambiguous": ("Ambiguous", "no single label is right"),
    "plain": ("Plain", "the label is right"),
}
_ERRORS = {
    "slip": ("Slip", "any row, any other label"),
    "one-way": ("One-way", "one class mistaken for its neighbour"),
    "careless": ("Careless", "an annotator who gave one label to most rows without reading"),
}
_PLANE_POINTS = 400
_BINS, _FEWEST = 10, 10


def planted_truth_section(audit: Audit) -> Section | None:
    """Return the score against the planted truth; None for data whose truth is not known."""
    score = audit.score
    if score is None or not score.num_rows:
        return None
    places = _places(audit, score)
    kinds = np.asarray(score["kind"].to_pylist(), dtype=object)
    groups = {kind: places[kinds == kind] for kind in dict.fromkeys([*_KINDS, *sorted(set(kinds.tolist()))]) if np.any(kinds == kind)}
    blocks: list[Block] = [_planes(audit, groups)]
    flipped = groups.get("flipped", np.empty(0, dtype=np.int64))
    if len(flipped):
        blocks += [Charts((_gain(score), *_reliability(audit, score, places))), Facts(_facts(audit, score)), *_errors(score)]
    if "give_away.odds_ratio" in audit.metrics.get("score", {}):
        blocks.append(Facts(_filter_facts(audit.metrics["score"])))
    blocks.append(_table(audit, groups, places[_flags(score, "give_away")], places[~_flags(score, "give_away")]))
    return Section("planted", "Against the planted truth", _lead(score), blocks, short="Planted truth")


def found_among_hardest(score: pa.Table) -> tuple[int, int]:
    """Return how many flipped rows are among as many least confident rows, and how many flipped rows there are."""
    flipped = _flags(score, "flipped")
    total = int(flipped.sum())
    return int(np.count_nonzero(flipped & (score["rank"].to_numpy() <= total))), total


def found_among_suspects(score: pa.Table) -> tuple[int, int] | None:
    """Return how many flipped rows are among the suspects, and how many suspects there are; None where the audit did not look for them."""
    if "flagged" not in score.column_names or score["flagged"].null_count:
        return None
    flagged = _flags(score, "flagged")
    return int(np.count_nonzero(flagged & _flags(score, "flipped"))), int(flagged.sum())


def _lead(score: pa.Table) -> str:
    text = "The errors planted in the built-in data are known, but only the step `score` and this page use them."
    hits, total = found_among_hardest(score)
    if not total:
        return text
    suspects = found_among_suspects(score)
    if suspects is not None:
        text = (
            f"{text} Of the {count(total)} labels flipped on purpose, {count(suspects[0])} ({share(suspects[0], total)}) "
            f"{'is' if suspects[0] == 1 else 'are'} among the {counted(suspects[1], 'suspect')}."
        )
        return f"{text} Low confidence alone: {count(hits)} among the {count(total)} least confident rows."
    among = f"{count(hits)} {'is' if hits == 1 else 'are'} among the {count(total)} least confident rows ({share(hits, total)})"
    return f"{text} Of the {count(total)} labels flipped on purpose, {among}."


def _flags(score: pa.Table, name: str) -> Bools:
    return np.asarray(score[name].to_numpy(zero_copy_only=False), dtype=np.bool_)


def _places(audit: Audit, score: pa.Table) -> Integers:
    where = {uid: place for place, uid in enumerate(audit.measures[UID].to_pylist())}
    return np.asarray([where[uid] for uid in score[UID].to_pylist()], dtype=np.int64)


def _planes(audit: Audit, groups: dict[str, Integers]) -> Planes:
    rng = np.random.default_rng(audit.limits.seed)
    planes = []
    for kind, rows in groups.items():
        title, meaning = _KINDS.get(kind, (kind.capitalize(), ""))
        drawn = np.sort(rng.choice(rows, min(len(rows), _PLANE_POINTS), replace=False))
        sample = f"; {count(len(drawn))} of them drawn" if len(drawn) < len(rows) else ""
        coordinates = ([round(float(value), 3) for value in values[drawn]] for values in (audit.variability, audit.confidence))
        planes.append(Plane(title, f"{counted(len(rows), 'row')}: {meaning}{sample}", *coordinates))
    return Planes(planes)


def _gain(score: pa.Table) -> Chart:
    """Return how many flips are found in the first k rows, up to five times as many rows as there are flips."""
    flipped = _flags(score, "flipped")
    total = int(flipped.sum())
    last = min(len(flipped), 5 * total)
    read = sorted({0, total, last, *np.linspace(0, last, 101).round().astype(int).tolist()})
    ranks = {"least confident first": "rank"}
    if found_among_suspects(score) is not None:
        ranks = {"most suspect first": "suspect_rank", **ranks}
    series = []
    for title, name in ranks.items():
        hits = np.concatenate(([0], np.cumsum(flipped[np.argsort(score[name].to_numpy(), kind="stable")])))
        series.append(Series(title, [int(hits[k]) for k in read]))
    series += [Series("perfect", [min(k, total) for k in read]), Series("at random", [round(total * k / len(flipped), 1) for k in read])]
    meaning = "how many of the flipped labels a person reading the rows in this order would find"
    return Chart("Flips found", meaning, "Rows read", read, series, y_range=(0, float(total)), whole_x=True)


def _reliability(audit: Audit, score: pa.Table, places: Integers) -> tuple[Chart, ...]:
    """Return how many of the rows of about one probability are flipped; nothing where probabilities are not estimated from this data."""
    if audit.suspects is None or not audit.suspects.record.get("calibrated"):
        return ()
    given, flipped = audit.suspects.rows["probability"].to_numpy()[places], _flags(score, "flipped")
    bins = np.minimum((given * _BINS).astype(np.int64), _BINS - 1)
    rows = [np.flatnonzero(bins == place) for place in range(_BINS)]
    middles = [(place + 0.5) / _BINS for place in range(_BINS)]
    found = [round(float(flipped[own].mean()), 4) if len(own) >= _FEWEST else None for own in rows]
    said = [round(float(given[own].mean()), 4) if len(own) >= _FEWEST else None for own in rows]
    meaning = f"share of flipped labels among the rows with about that probability of a wrong label; points of {_FEWEST} rows or more"
    series = [Series("flipped", found), Series("probability given", said)]
    return (Chart("Reliability", meaning, "probability of a wrong label", middles, series, (0.0, 1.0)),)


def _facts(audit: Audit, score: pa.Table) -> list[tuple[str, str]]:
    metrics = audit.metrics.get("score", {})
    digits = 2 if int(_flags(score, "flipped").sum()) < 1000 else 3
    low = (
        ("average_precision", "Average precision", "of the ranking by low confidence; 1 = every flip before every other row"),
        ("precision", "Precision", "share of flips among the least confident rows, taking as many rows as there are flips"),
        ("recall", "Recall", "share of the flips that are among those rows"),
    )
    meanings = low
    if found_among_suspects(score) is not None:
        beside = metrics.get("low_confidence.average_precision")
        alone = "" if beside is None else f" (low confidence alone: {probability(beside, digits)})"
        meanings = (
            ("average_precision", "Average precision", f"of the suspects' ranking; 1 = every flip before every other row{alone}"),
            ("precision", "Precision", "share of flips among the suspects"),
            ("recall", "Recall", "share of the flips that are among the suspects"),
        )
    return [(title, f"{probability(metrics[name], digits)}: {meaning}") for name, title, meaning in meanings if name in metrics]


def _errors(score: pa.Table) -> list[Table]:
    """Return how many labels of each kind of error are among the suspects; nothing where all are of one kind."""
    made_by = np.asarray(score["error"].to_pylist(), dtype=object)
    present = [error for error in _ERRORS if np.any(made_by == error)]
    if len(present) < 2 or found_among_suspects(score) is None:
        return []
    flagged, rank = _flags(score, "flagged"), score["suspect_rank"].to_numpy()
    columns = [
        Column("Error"),
        Column("Meaning"),
        Column("Labels", "count"),
        Column("Found", "share", "share of these labels that are among the suspects"),
        Column("Median rank", "count", "half of them rank higher; 1 = the most suspect row"),
    ]
    cells: list[tuple[str | float, ...]] = []
    for error in present:
        rows = made_by == error
        cells.append((*_ERRORS[error], int(rows.sum()), float(flagged[rows].mean()), round(float(np.median(rank[rows])))))
    return [Table("Errors of each kind", columns, cells)]


def _filter_facts(metrics: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return how much more often AFLite removed rows with a planted give-away word."""
    ratio, low, high = (metrics[f"give_away.odds_ratio{part}"] for part in ("", ".low", ".high"))
    shares = [percent(metrics[f"{name}.filtered"], 0) for name in ("give_away", "no_give_away")]
    meaning = "odds that AFLite removes a row with a give-away word, over those of a row without one; 1 = no preference"
    return [
        ("Odds ratio", f"{ratio:.1f} (95\u00a0% interval {low:.1f} to {high:.1f}): {meaning}"),
        ("Removed", f"{shares[0]} of the rows with a give-away word, {shares[1]} of the others"),
    ]


def _table(audit: Audit, groups: dict[str, Integers], with_word: Integers, without_word: Integers) -> Table:
    columns = [
        Column("Planted"),
        Column("Rows", "count"),
        Column("Confidence", "probability", "mean"),
        Column("Variability", "probability", "mean"),
        *(Column(name, "share", "share of these rows in this region") for name in REGIONS),
    ]
    named = {_KINDS.get(kind, (kind.capitalize(), ""))[0]: rows for kind, rows in groups.items()}
    if len(with_word):
        named |= {"With a give-away word": with_word, "Without one": without_word}
    cells: list[tuple[str | float, ...]] = []
    for title, rows in named.items():
        if len(rows):
            shares = (float(np.mean(audit.region[rows] == index)) for index in range(len(REGIONS)))
            cells.append((title, len(rows), float(audit.confidence[rows].mean()), float(audit.variability[rows].mean()), *shares))
    return Table("Where each planted kind lies", columns, cells)

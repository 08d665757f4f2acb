"""The suspects, each with a suggested label and a reason, and the experiment with flipped labels that chose their detector."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.compute as pc

from cartograph.data.spreadsheet import guarded
from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Cell, Column, Facts, Section, Table
from cartograph.page.chart_blocks import Chart, Charts, Heat, Series
from cartograph.page.gathered import gathered_table, labellers_table
from cartograph.page.row_blocks import Answers, Suspect, SuspectTable
from cartograph.page.rows import LONGEST_NAME
from cartograph.page.step_results import Suspects
from cartograph.page.suspects_number import number_facts
from cartograph.page.wrong_by_class import wrong_by_class
from cartograph.schema import UID
from cartograph.statistics.proportion import f1_interval
from cartograph.suspects.figures import RANGES, shares
from cartograph.wording import count, counted, cut, probability, share

MOST_LISTED = 1000
"""Most suspects in a table; the others are in the files."""

_BINS = 20
_FEWEST_IN_PAIRS = 10
_FEWEST_LABELS = 3
_TWO = 2
_NAMED = 5
_READS = {
    "confidence": "the probability that the model gave to the label, averaged over the epochs (the classifier of the paper)",
    "measures": "all measures of the map",
    "committee": "the predictions of several quick models that never saw the row, and how labels go wrong in this data",
}
_SOURCES = {
    "in-sample": "the mean predicted probabilities of the model behind the map",
    "k-fold": "the mean predicted probabilities of K-fold training, whose models never saw the row",
    "out-of-fold": "the probabilities of quick models that never saw the row",
    "coordinates": "the probability that the given label leaves, shared evenly among the others",
}


def suspects_section(audit: Audit) -> Section | None:
    """Return the suspects and how they were found; None where the audit did not look for them."""
    if audit.suspects is None:
        return None
    blocks: list[Block] = [Facts(facts)] if (facts := number_facts(audit, audit.suspects.record)) else []
    if len(audit.flagged):
        blocks.append(suspect_table("Suspects", audit, audit.flagged.tolist()))
    if (gathered := gathered_table(audit)) is not None:
        blocks.append(gathered)
    if (labellers := labellers_table(audit)) is not None:
        blocks.append(labellers)
    if (pairs := _pairs(audit)) is not None:
        blocks.append(pairs)
    if (by_class := wrong_by_class(audit)) is not None:
        blocks.append(by_class)
    if audit.suspects.record["flips"]:
        blocks += [Charts(_charts(audit.suspects)), Facts(_facts(audit.suspects.record, len(audit.info.labels)))]
    if audit.suspects.record["flips"] and not audit.suspects.record["assumption"]:
        blocks.append(_detectors(audit.suspects.record))
    return Section("suspects", "Suspects", _lead(audit, audit.suspects.record), blocks)


def suspect_table(caption: str, audit: Audit, places: Sequence[int]) -> SuspectTable:
    """Return the suspects at these places on the map, as many as a table has.

    Raises:
        ValueError: the audit did not look for suspects.
    """
    if audit.suspects is None:
        raise ValueError("the audit did not look for suspects")
    shown = places[:MOST_LISTED]
    rows = audit.suspects.rows.select([UID, "rank", "probability", "suggested", "reason"]).take(list(shown)).to_pylist()
    listed = [
        Suspect(place, guarded(row[UID]), row["rank"], round(row["probability"], 4), row["suggested"], cut(row["reason"], 400))
        for place, row in zip(shown, rows, strict=True)
    ]
    # A file of decisions names a row and its one label.
    taken_in = bool(audit.how_made.review) and not audit.several
    return SuspectTable(caption, listed, _answers(audit) if taken_in else None, bool(audit.suspects.record.get("calibrated")))


def _pairs(audit: Audit) -> Heat | None:
    """Return how many suspects of each label have which suggestion; None where there are few of either."""
    if audit.suspects is None or audit.several or len(audit.flagged) < _FEWEST_IN_PAIRS:
        return None
    suggested = audit.suspects.rows["suggested"].to_numpy()[audit.flagged]
    counts = Counter(zip(audit.gold[audit.flagged].tolist(), suggested.tolist(), strict=True))
    pairs = sorted(((given, other, number) for (given, other), number in counts.items() if other >= 0), key=lambda pair: -pair[2])
    used = sorted({label for given, other, _ in pairs for label in (given, other)})
    if len(used) < _FEWEST_LABELS:
        return None
    place = {label: number for number, label in enumerate(used)}
    names = [cut(audit.info.labels[label], LONGEST_NAME) for label in used]
    named = [f"{names[place[given]]} → {names[place[other]]}: {count(number)}" for given, other, number in pairs[:_NAMED]]
    return Heat(
        "Given label and suggested label",
        "how many suspects of each label (down) have which suggestion (across); the stronger the colour, the more",
        f"The most frequent: {'; '.join(named)}.",
        names,
        [(place[given], place[other], number) for given, other, number in pairs],
    )


def _answers(audit: Audit) -> Answers:
    uids = audit.measures[UID].take(audit.flagged).to_pylist()
    version = hashlib.sha256(json.dumps([audit.how_made.name, audit.info.labels, audit.gold[audit.flagged].tolist(), uids]).encode())
    command = f"{audit.how_made.review} --import decisions.csv"
    return Answers(version.hexdigest()[:16], [guarded(name) for name in audit.info.labels], min(len(uids), MOST_LISTED), command)


def _lead(audit: Audit, record: Mapping[str, Any]) -> str:
    if "impossible" in record:
        return str(record["impossible"])
    number = len(audit.flagged)
    some = counted(number, "label")
    known = f"{some} of {count(audit.rows)} {'looks' if number == 1 else 'look'} wrong"
    second = f"{some} of {count(audit.rows)} {'is' if number == 1 else 'are'} worth a second look"
    if not number and len(audit.listed):
        return f"All {counted(len(audit.listed), 'suspect')} are decided." if len(audit.listed) > 1 else "The one suspect is decided."
    if not number:
        return f"No label of {count(audit.rows)} reaches {probability(record['threshold'])}, from which on rows are listed."
    sentences = [f"{second if record.get('unknown') else known} ({share(number, audit.rows)})."]
    sentences.append("A suspect is not an error until somebody has checked it: open a row to see why it is listed.")
    if number > MOST_LISTED:
        sentences.append(f"The table has the first {count(MOST_LISTED)}; all are in {audit.how_made.suspects}.")
    sentences.append(f"Rows at {probability(record['threshold'])} or more are listed.")
    return " ".join(sentences)


def _charts(suspects: Suspects) -> list[Chart]:
    flipped = suspects.experiment.filter(pc.field("flipped"))
    after = "if they were doubted as firmly" if suspects.record["assumption"] else "after training with them"
    meanings = {
        "confidence": f"of the {counted(flipped.num_rows, 'flipped row')}, under the right label and under the flipped one {after}: "
        "the further apart, the easier wrong labels are to find",
        "variability": "of the same rows: it separates them less well",
    }
    charts = []
    for name in RANGES:
        series = []
        for when, title in (("before", "right label"), ("after", "flipped label")):
            values, edges = shares(flipped[f"{name}_{when}"].to_numpy(), name, _BINS)
            series.append(Series(title, [round(float(value), 4) for value in values]))
        middles = ((edges[:-1] + edges[1:]) / 2).round(4).tolist()
        charts.append(Chart(name.capitalize(), meanings[name], name, middles, series))
    return charts


def _f1(value: float, record: Mapping[str, Any]) -> str:
    low, high = map(probability, f1_interval(value, record["tested_on"] // 2))
    return f"{probability(value)} ({low} to {high})"


def _facts(record: Mapping[str, Any], classes: int) -> list[tuple[str, str]]:
    f1 = {**{name: detector["f1"] for name, detector in record["detectors"].items()}, "variability": record["f1_variability"]}
    facts = [
        ("Detector", record["reason"]),
        (
            "F1",
            f"{_f1(f1['confidence'], record)} by confidence alone, {_f1(f1['variability'], record)} by variability alone, on "
            f"{counted(record['tested_on'], 'held-out row')}, half of them flipped: the harmonic mean of the share of flags that are "
            "right and the share of flips that are flagged; 1 = every flip and no other row. It does not say how many suspects are wrong: "
            "flips are of rows that the model finds easy, and half of the rows tested on",
        ),
    ]
    if record["left_out"] and not record["assumption"]:
        left_out = counted(record["left_out"], "row")
        excluded = "is excluded from the score, since it" if record["left_out"] == 1 else "are excluded from the score, since they"
        real = "a real error" if record["left_out"] == 1 else "real errors"
        facts.append(("Left out", f"{left_out} that a detector flags {excluded} may be {real}"))
    source = record["suggestions"]["from"]
    right = record["suggestions"]["right"].get(source)
    # Of two classes there is one other label to suggest.
    correct = (
        "" if right is None or classes == _TWO else f"; right for {count(round(right * record['flips']))} of {count(record['flips'])} flips"
    )
    facts.append(("Suggested labels", f"from {_SOURCES[source]}{correct}"))
    return facts


def _detectors(record: Mapping[str, Any]) -> Table:
    cells: list[tuple[Cell, ...]] = [
        (name, _READS[name], detector["f1"], detector["average_precision"], "used" if name == record["detector"] else "")
        for name, detector in sorted(record["detectors"].items())
    ]
    columns = (
        Column("Detector", "code"),
        Column("Reads"),
        Column("F1", "probability", "on held-out rows, half of them flipped"),
        Column("Average precision", "probability", "of ranking the flips before all other rows; 1 = every flip first"),
        Column("Used"),
    )
    return Table("Detectors compared", columns, cells)

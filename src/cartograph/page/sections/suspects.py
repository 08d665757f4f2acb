"""The suspects, each with a suggestion and a reason, and the experiment that taught how to find them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow.compute as pc

from cartograph.page.audit import Audit, Noise
from cartograph.page.blocks import Block, Cell, Chart, Charts, Column, Facts, Section, Series, Suspect, SuspectTable, Table
from cartograph.suspects.figures import RANGES, shares
from cartograph.wording import count, counted, cut, probability, share

MOST_LISTED = 1000
"""Suspects in the table; the others are in the files."""

_BINS = 20
_READS = {
    "confidence": "the probability that the model gave to the label, averaged over the epochs (the classifier of the paper)",
    "measures": "all measures of the map",
    "committee": "the margin of the label in the model's training, and what several quick models say that never saw the row",
}
_SOURCES = {
    "in-sample": "the mean predicted probabilities of the model behind the map",
    "k-fold": "the mean predicted probabilities of K-fold training, whose models never saw the row",
    "out-of-fold": "the probabilities of quick models that never saw the row",
    "coordinates": "what the label's own probability leaves for the others, evenly",
}


def suspects_section(audit: Audit) -> Section | None:
    """Return the suspects and how they were found; None where none were looked for."""
    if audit.noise is None:
        return None
    blocks: list[Block] = []
    if len(audit.suspects):
        blocks.append(SuspectTable("Suspects", _suspects(audit, audit.noise)))
    blocks += [Charts(_charts(audit.noise)), Facts(_facts(audit.noise.record))]
    if not audit.noise.record["assumption"]:
        blocks.append(_detectors(audit.noise.record))
    return Section("suspects", "Suspects", " ".join(_lead(audit, audit.noise.record)), blocks)


def _suspects(audit: Audit, noise: Noise) -> list[Suspect]:
    shown = audit.suspects[:MOST_LISTED]
    rows = noise.suspects.select(["rank", "probability", "suggested", "reason"]).take(shown).to_pylist()
    return [
        Suspect(place, row["rank"], round(row["probability"], 4), row["suggested"], cut(row["reason"], 400))
        for place, row in zip(shown.tolist(), rows, strict=True)
    ]


def _lead(audit: Audit, record: Mapping[str, Any]) -> list[str]:
    number, flips = len(audit.suspects), record["flips"]
    told = [f"{counted(number, 'label')} of {count(audit.rows)} {'looks' if number == 1 else 'look'} wrong ({share(number, audit.rows)})."]
    if number:
        told.append("Suspects are not errors until somebody has read them: open a row to see why it is here.")
    if number > MOST_LISTED:
        told.append(f"The table has the first {count(MOST_LISTED)}; all are in data/noise/noise.parquet.")
    if record["assumption"]:
        told.append(f"They were found {record['assumption']}: nothing could be retrained, since the map was imported.")
    else:
        told.append(
            f"To learn what a wrong label looks like, {count(flips)} labels of easy rows were flipped and the model trained again; a "
            "classifier that tells those from the others was then applied to the rows as they are."
        )
    told.append(
        "The probability that a label is wrong is the classifier's, which was taught with as much weight on wrong labels as on right "
        f"ones; from {probability(record['threshold'])} on a row is a suspect."
    )
    return told


def _charts(noise: Noise) -> list[Chart]:
    flipped = noise.experiment.filter(pc.field("flipped"))
    after = "if they were doubted as firmly" if noise.record["assumption"] else "after retraining with them"
    meanings = {
        "confidence": f"of the {counted(flipped.num_rows, 'flipped row')}, under the right label and under the flipped one {after}: "
        "the further apart, the easier wrong labels are to find",
        "variability": "of the same rows: it tells less",
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


def _facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    f1 = {**{name: detector["f1"] for name, detector in record["detectors"].items()}, "variability": record["f1_variability"]}
    facts = [
        ("Detector", record["reason"]),
        (
            "F1",
            f"{probability(f1['confidence'])} by confidence alone, {probability(f1['variability'])} by variability alone, on "
            f"{counted(record['tested_on'], 'row')} kept aside, half of them flipped: the harmonic mean of the share of flags that are "
            "right and the share of flips that are flagged; 1 = all of them, and no other row",
        ),
    ]
    if record["left_out"] and not record["assumption"]:
        left = counted(record["left_out"], "row")
        facts.append(("Left out", f"{left} that every detector suspects: where they are errors indeed, ranking them high is no mistake"))
    source = record["suggestions"]["from"]
    right = record["suggestions"]["right"].get(source)
    found = (
        "" if right is None else f"; of the flips, {count(round(right * record['flips']))} of {count(record['flips'])} were named right so"
    )
    facts.append(("Suggested labels", f"from {_SOURCES[source]}{found}"))
    return facts


def _detectors(record: Mapping[str, Any]) -> Table:
    cells: list[tuple[Cell, ...]] = [
        (name, _READS[name], detector["f1"], detector["average_precision"], "used" if name == record["detector"] else "")
        for name, detector in sorted(record["detectors"].items())
    ]
    columns = (
        Column("Detector", "code"),
        Column("Reads"),
        Column("F1", "probability", "on rows kept aside, half of them flipped"),
        Column("Average precision", "probability", "of ranking the flips before all other rows, cross-validated; 1 = every flip first"),
        Column("Used"),
    )
    return Table("Detectors compared", columns, cells)

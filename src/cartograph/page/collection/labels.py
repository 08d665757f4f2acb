"""What labels buy, by method: after the last round, and over the rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cartograph.page.blocks import Block, Cell, Column, Section, Table
from cartograph.page.chart_blocks import Chart, Charts, Dot, DotPlot, Dots, Series
from cartograph.page.collection.content import NAMES, Collection
from cartograph.page.collection.phrases import UNSTATED, interval_of
from cartograph.pairs.comparison import MEASURES, UNTRAINED
from cartograph.pairs.methods import METHODS
from cartograph.wording import count, counted

_MEASURE = "average_precision"


def methods_section(collection: Collection) -> Section:
    """Return the methods compared after the last round."""
    last = max(row["round"] for row in collection.summary)
    rows = {(row["method"], row["measure"]): row for row in collection.summary if row["round"] == last}
    plots = []
    for measure, called in MEASURES.items():
        dots = []
        for style, method in enumerate(collection.methods):
            row = rows[method, measure]
            mean, low, high = (100 * row[part] for part in ("mean", "low", "high"))
            dots.append(Dot(NAMES[method], mean, low, high, f"{mean:.1f}", style=style))
        highest = max(dot.high for dot in dots)
        plots.append(DotPlot(called.capitalize(), "over all test pairs, in per cent", "per cent", dots, (0.0, max(1.06 * highest, 1.0))))
    seeds = max(row["seeds"] for row in collection.summary)
    note = (
        f"A dot is the mean over {counted(seeds, 'seed')}, its line the 95 % interval for other utterances of the same kind"
        f"{' and other seeds' if seeds > 1 else ''} (bootstrap over utterances)."
    )
    blocks: list[Block] = [Dots(plots, note), _table(collection, rows)]
    if collection.differences:
        blocks.append(_differences(collection))
    lead = "All methods asked for the same number of labels, or as many as there are, and trained the same model on them."
    if collection.partly_stated:
        lead = f"{lead} {UNSTATED}"
    return Section("methods", "How the labels are chosen", lead, blocks, short="Methods")


def _table(collection: Collection, rows: dict[tuple[str, str], Any]) -> Table:
    cells: list[Sequence[Cell]] = []
    for method in collection.methods:
        first, second = (rows[method, measure] for measure in MEASURES)
        line: list[Cell] = [method, METHODS[method], round(first["labels"]), round(first["positive"])]
        line += [100 * first["mean"], interval_of(first), 100 * second["mean"], interval_of(second)]
        needed = collection.metrics.get(f"{method}.labels_to_static")
        cells.append((*line, None if needed is None else int(needed)))
    columns = (
        Column("Method"),
        Column("Asks about"),
        Column("Labels", "count"),
        Column("Positives", "count", "found among them, mean over seeds"),
        Column("Average precision", "points", "in per cent, over all test pairs"),
        Column("95 %"),
        Column("P@R20", "points", "precision, in per cent, where a fifth of the positives is found"),
        Column("95 % "),
        Column(
            "Labels to static", "count", "labels after which its average precision reaches that of static retrieval with all of its labels"
        ),
    )
    return Table("Methods after the last round", columns, cells)


def _differences(collection: Collection) -> Table:
    cells = [
        (f"{row['method']} \u2212 {row['against']}", MEASURES[row["measure"]], 100 * row["difference"], interval_of(row))
        for row in collection.differences
    ]
    columns = (
        Column("Difference"),
        Column("Measure"),
        Column("Points", "points"),
        Column("95 % interval", meaning="on the same draws of the utterances and the same seeds; if it contains 0, no difference is shown"),
    )
    return Table("Differences in points", columns, cells)


def curves_section(collection: Collection) -> Section:
    """Return average precision and positives over the number of labels."""
    labels = sorted({round(row["labels"]) for row in collection.summary})

    def line(method: str, measure: str, value: Any, ends: Any = None) -> Series:
        own = {round(row["labels"]): row for row in collection.summary if (row["method"], row["measure"]) == (method, measure)}
        values = [value(own[number]) if number in own else None for number in labels]
        return Series(NAMES[method], values, [ends(own[number]) if number in own else None for number in labels] if ends else ())

    charts = [
        Chart(
            called[0].upper() + called[1:],
            "over all test pairs, after each round",
            "labels",
            labels,
            [line(m, measure, lambda row: row["mean"], lambda row: (row["low"], row["high"])) for m in collection.methods],
        )
        for measure, called in MEASURES.items()
    ]
    lead = "The point at 0 labels is the model before any training labels." if 0 in labels else ""
    if collection.partly_stated:
        lead = f"{lead} {UNSTATED}".strip()
    labels = [number for number in labels if number]
    charts.append(
        Chart(
            "Share of positives",
            "among all labels asked for so far, with the range over seeds",
            "labels",
            labels,
            [
                line(m, _MEASURE, lambda row: _share(row, ""), lambda row: (_share(row, "_low"), _share(row, "_high")))
                for m in collection.methods
            ],
        )
    )
    return Section("curves", "What each label adds", lead, [Charts(charts), _every_round(collection)], short="Curves")


def _share(row: Any, end: str) -> float:
    return float(row[f"positive{end}"] / max(row["labels"], 1))


def _every_round(collection: Collection) -> Table:
    rows = {(row["method"], row["round"], row["measure"]): row for row in collection.summary}
    cells: list[Sequence[Cell]] = []
    for method, number in dict.fromkeys((row["method"], row["round"]) for row in collection.summary):
        if not number and method != collection.methods[0]:
            continue
        first, second = (rows[method, number, measure] for measure in MEASURES)
        spread = "" if first["seeds"] == 1 else f"{count(round(first['positive_low']))} to {count(round(first['positive_high']))}"
        line: list[Cell] = [method if number else UNTRAINED, number, round(first["labels"]), round(first["positive"]), spread]
        cells.append((*line, 100 * first["mean"], interval_of(first), 100 * second["mean"], interval_of(second)))
    columns = (
        Column("Method"),
        Column("Round", "count"),
        Column("Labels", "count"),
        Column("Positives", "count", "mean over seeds"),
        Column("of any seed"),
        Column("Average precision", "points", "in per cent, over all test pairs"),
        Column("95 %"),
        Column("P@R20", "points", "precision, in per cent, where a fifth of the positives is found"),
        Column("95 % "),
    )
    return Table("After every round", columns, cells, folded=True)

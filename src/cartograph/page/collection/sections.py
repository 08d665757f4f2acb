"""The sections of a collection's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cartograph.page.blocks import Block, Cell, Column, Facts, Section, Table
from cartograph.page.chart_blocks import Chart, Charts, Dot, DotPlot, Dots, Series
from cartograph.page.collection.content import NAMES, Collection
from cartograph.page.collection.phrases import interval_of, metric_interval, phrase_of
from cartograph.page.sections.how_made import how_made
from cartograph.pairs.comparison import MEASURES
from cartograph.pairs.methods import METHODS
from cartograph.wording import count, counted, cut, percent

_MEASURE = "average_precision"
_STATIC = "static-retrieval"
_BINS = 10
_SHOWN, _FEWEST = 10, 10


def sections(found: Collection) -> list[Section]:
    """Return the sections in their order."""
    builders = (_methods, _curves, _balanced, _calibration, _mistakes, _data)
    return [*(build(found) for build in builders), how_made(found.how_made)]


def _methods(found: Collection) -> Section:
    last = max(row["round"] for row in found.summary)
    rows = {(row["method"], row["measure"]): row for row in found.summary if row["round"] == last}
    plots = []
    for measure, called in MEASURES.items():
        dots = []
        for style, method in enumerate(found.methods):
            row = rows[method, measure]
            mean, low, high = (100 * row[part] for part in ("mean", "low", "high"))
            dots.append(Dot(NAMES[method], mean, low, high, f"{mean:.1f}", style=style))
        highest = max(dot.high for dot in dots)
        plots.append(DotPlot(called.capitalize(), "over all test pairs, in per cent", "per cent", dots, (0.0, max(1.06 * highest, 1.0))))
    seeds = max(row["seeds"] for row in found.summary)
    note = (
        f"A dot is the mean over {counted(seeds, 'seed')}, its line the 95 % interval for other utterances of the same kind"
        f"{' and other seeds' if seeds > 1 else ''} (bootstrap over utterances)."
    )
    blocks: list[Block] = [Dots(plots, note), _table(found, rows)]
    if found.differences:
        blocks.append(_differences(found))
    lead = "All methods asked for the same number of labels, or as many as there are, and trained the same model on them."
    return Section("methods", "Who chooses the labels", lead, blocks, short="Methods")


def _table(found: Collection, rows: dict[tuple[str, str], Any]) -> Table:
    cells: list[Sequence[Cell]] = []
    for method in found.methods:
        first, second = (rows[method, measure] for measure in MEASURES)
        line: list[Cell] = [method, METHODS[method], round(first["labels"]), round(first["positive"])]
        line += [100 * first["mean"], interval_of(first), 100 * second["mean"], interval_of(second)]
        needed = found.metrics.get(f"{method}.labels_to_static")
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


def _differences(found: Collection) -> Table:
    cells = [
        (f"{row['method']} \u2212 {row['against']}", MEASURES[row["measure"]], 100 * row["difference"], interval_of(row))
        for row in found.differences
    ]
    columns = (
        Column("Difference"),
        Column("Measure"),
        Column("Points", "points"),
        Column("95 % interval", meaning="on the same draws of the utterances and the same seeds; one that holds 0 shows no difference"),
    )
    return Table("Differences in points", columns, cells)


def _curves(found: Collection) -> Section:
    labels = sorted({round(row["labels"]) for row in found.summary})

    def line(method: str, measure: str, value: Any, ends: Any = None) -> Series:
        own = {round(row["labels"]): row for row in found.summary if (row["method"], row["measure"]) == (method, measure)}
        values = [value(own[number]) if number in own else None for number in labels]
        return Series(NAMES[method], values, [ends(own[number]) if number in own else None for number in labels] if ends else ())

    charts = [
        Chart(
            called[0].upper() + called[1:],
            "over all test pairs, after each round",
            "labels",
            labels,
            [line(m, measure, lambda row: row["mean"], lambda row: (row["low"], row["high"])) for m in found.methods],
        )
        for measure, called in MEASURES.items()
    ]
    charts.append(
        Chart(
            "Share of positives",
            "among all labels asked for so far, with the least and the most of any seed",
            "labels",
            labels,
            [
                line(m, _MEASURE, lambda row: _share(row, ""), lambda row: (_share(row, "_low"), _share(row, "_high")))
                for m in found.methods
            ],
        )
    )
    lead = "A method that chooses by its own model finds positives that the encoder does not, and the negatives close to them."
    return Section("curves", "What each label buys", lead, [Charts(charts), _every_round(found)], short="Curves")


def _share(row: Any, end: str) -> float:
    return float(row[f"positive{end}"] / max(row["labels"], 1))


def _every_round(found: Collection) -> Table:
    rows = {(row["method"], row["round"], row["measure"]): row for row in found.summary}
    cells: list[Sequence[Cell]] = []
    for method, number in dict.fromkeys((row["method"], row["round"]) for row in found.summary):
        first, second = (rows[method, number, measure] for measure in MEASURES)
        spread = "" if first["seeds"] == 1 else f"{count(round(first['positive_low']))} to {count(round(first['positive_high']))}"
        line: list[Cell] = [method, number, round(first["labels"]), round(first["positive"]), spread]
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


def _balanced(found: Collection) -> Section:
    names = {
        "stated.accuracy": Column("Accuracy", "points", "on the stated test pairs, in per cent"),
        "stated.f1": Column("F1", "points", "of the positive class on the stated test pairs"),
        "stated.clean_map": Column("Clean MAP", "points", "mean average precision over queries with a positive and a negative stated pair"),
    }
    shown = {name: column for name, column in names.items() if any(f"{method}.{name}" in found.metrics for method in found.methods)}
    if not shown:
        why = "The test split has no stated negative pairs, so there is no balanced test to compare with all pairs."
        return Section("balanced", "What a balanced test hides", why=why, short="Balanced test")
    cells: list[Sequence[Cell]] = []
    for method in found.methods:
        line: list[Cell] = [method]
        for name in (*shown, _MEASURE):
            value = found.metrics.get(f"{method}.{name}")
            line += [None, ""] if value is None else [100 * value, metric_interval(found.metrics, f"{method}.{name}")]
        cells.append(line)
    shown[_MEASURE] = Column("Average precision", "points", "over all test pairs, in per cent")
    columns = (Column("Method"), *(each for place, column in enumerate(shown.values()) for each in (column, Column("95 %" + " " * place))))
    pairs, positives = (int(found.metrics[f"{found.methods[0]}.stated.{name}"]) for name in ("pairs", "positives"))
    lead = (
        f"The balanced test has {count(pairs)} pairs, {percent(positives / pairs, 1)} of them positive; all pairs have 1 in "
        f"{count(round(found.task['test.pairs'] / found.task['test.positives']))}. The same models, scored on both."
    )
    return Section(
        "balanced", "What a balanced test hides", lead, [Table("The same models on both tests", columns, cells)], short="Balanced test"
    )


def _calibration(found: Collection) -> Section:
    middles = [(place + 0.5) / _BINS for place in range(_BINS)]
    series = []
    for method in found.methods:
        bins = {
            min(int(one["mean"] * _BINS), _BINS - 1): one["share"]
            for one in found.findings[method]["reliability"]
            if one["pairs"] >= _FEWEST
        }
        series.append(Series(NAMES[method], [bins.get(place) for place in range(_BINS)]))
    series.append(Series("calibrated", middles))
    meaning = "share of positives among all test pairs of about that probability"
    chart = Chart("Calibration", meaning, "probability given", middles, series, (0.0, 1.0))
    lead = (
        "Probabilities are calibrated on the pairs that a method asked about, which are not like all pairs: where a line lies below the "
        "diagonal, the model is too sure of pairs that nobody asked about."
    )
    return Section("beliefs", "Are the probabilities calibrated", lead, [Charts([chart])], short="Calibration")


def _mistakes(found: Collection) -> Section:
    names = list(dict.fromkeys(name for name in (found.best, "stated", _STATIC) if name in found.methods))
    columns = (Column("Left"), Column("Right"), Column("Probability", "probability"))
    blocks: list[Block] = []
    for name in names:
        shown = found.findings[name]["mistakes"][:_SHOWN]
        cells = [(cut(one["left"], found.texts), cut(one["right"], found.texts), one["probability"]) for one in shown]
        blocks.append(Table(f"Trained on {phrase_of(name)} labels", columns, cells))
    judged = _judged(found)
    lead = (
        "Test pairs with the highest probability of being positive that no label calls positive: real mistakes, or positives "
        "that nobody stated."
    )
    if judged is None:
        lead += (
            " To learn which, fill in reports/mistakes.csv (yes: positive after all; no: a real mistake; skip), save it as "
            "review/mistakes.csv and run the collection again: precision is then corrected by the shares of real ones."
        )
    else:
        blocks.insert(0, judged)
        lead += " People judged some of them; precision is corrected by the shares of real mistakes that they found."
    return Section("mistakes", "The surest false positives", lead, blocks, short="Mistakes")


def _judged(found: Collection) -> Table | None:
    """Return precision corrected by people's judgements; None where they gave none."""
    cells: list[Sequence[Cell]] = []
    for method in found.methods:
        name = f"{method}.precision_at_recall_20"
        value = found.metrics.get(f"{name}.corrected")
        if value is None:
            continue
        line: list[Cell] = [method, 100 * found.metrics[name]]
        for kind in ("near", "random"):
            number = int(found.metrics[f"{method}.judged_{kind}"])
            line += [number, 100 * found.metrics[f"{method}.real_{kind}"] if number else None]
        cells.append((*line, 100 * value, metric_interval(found.metrics, f"{name}.corrected")))
    columns = (
        Column("Method"),
        Column("P@R20", "points", "precision in per cent where a fifth of the positives is found, every unstated pair counted as negative"),
        Column("Near judged", "count", "false positives that are near under the encoder, of one model per method"),
        Column("Near real %", "points", "of them, in per cent, that are negative"),
        Column("Others judged", "count"),
        Column("Others real %", "points"),
        Column("P@R20 corrected", "points", "false positives weighed by the share that is real"),
        Column("By chance", meaning="from the 95 % intervals of the two shares"),
    )
    return Table("Precision as people correct it", columns, cells) if cells else None


def _data(found: Collection) -> Section:
    task = found.task
    facts = [("Utterances", count(int(task["utterances.left"])))]
    if task["utterances.right"]:
        facts = [("Left utterances", count(int(task["utterances.left"]))), ("Right utterances", count(int(task["utterances.right"])))]
    splits = [
        (split, *(int(task[f"{split}.{name}"]) for name in ("pairs", "positives")), _ratio(task, split), int(task[f"{split}.stated"]))
        for split in ("train", "dev", "test")
    ]
    columns = (
        Column("Split"),
        Column("Pairs", "count", "all possible pairs"),
        Column("Positives", "count"),
        Column("One in", "count", "pairs per positive"),
        Column("Stated", "count", "pairs that somebody labelled"),
    )
    cells = [
        (name, made["version"], made["rows"], made["positive"], f"data/compare/collected/{name}.parquet")
        for name, made in found.versions.items()
    ]
    made = (
        Column("Method and seed"),
        Column("Version", "code"),
        Column("Labels", "count"),
        Column("Positives", "count"),
        Column("File", "code"),
    )
    blocks: list[Block] = [Facts(facts), Table("All pairs", columns, splits), Table("What was collected", made, cells)]
    return Section("data", "The task, and the datasets collected", "The same labels always give the same version.", blocks, short="Data")


def _ratio(task: Any, split: str) -> int | None:
    positives = task[f"{split}.positives"]
    return round(task[f"{split}.pairs"] / positives) if positives else None

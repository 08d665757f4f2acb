"""The models trained on collected labels: on a balanced test, their calibration, and their surest false positives."""

from __future__ import annotations

from collections.abc import Sequence

from cartograph.page.blocks import Block, Cell, Column, Section, Table
from cartograph.page.chart_blocks import Chart, Charts, Series
from cartograph.page.collection.content import NAMES, Collection
from cartograph.page.collection.phrases import metric_interval, phrase_of
from cartograph.wording import count, cut, percent, percent_range

_MEASURE = "average_precision"
_STATIC = "static-retrieval"
_BINS = 10
_SHOWN, _FEWEST = 10, 10


def balanced_section(collection: Collection) -> Section:
    """Return the scores on the balanced test beside those over all pairs, or why there is no such test."""
    names = {
        "stated.accuracy": Column("Accuracy", "points", "on the stated test pairs, in per cent"),
        "stated.f1": Column("F1", "points", "of the positive class on the stated test pairs"),
        "stated.clean_map": Column("Clean MAP", "points", "mean average precision over queries with a positive and a negative stated pair"),
    }
    shown = {
        name: column for name, column in names.items() if any(f"{method}.{name}" in collection.metrics for method in collection.methods)
    }
    if not shown:
        why = "The test split has no stated negative pairs, so there is no balanced test to compare with all pairs."
        return Section("balanced", "What a balanced test hides", why=why, short="Balanced test")
    cells: list[Sequence[Cell]] = []
    for method in collection.methods:
        line: list[Cell] = [method]
        for name in (*shown, _MEASURE):
            value = collection.metrics.get(f"{method}.{name}")
            if value is None:
                line += [None, ""]
            else:
                line += [100 * value, percent_range(*(collection.metrics[f"{method}.{name}.{end}"] for end in ("low", "high")))]
        cells.append(line)
    shown[_MEASURE] = Column("Average precision", "points", "over all test pairs, in per cent")
    columns = (Column("Method"), *(each for place, column in enumerate(shown.values()) for each in (column, Column("95 %" + " " * place))))
    pairs, positives = (int(collection.metrics[f"{collection.methods[0]}.stated.{name}"]) for name in ("pairs", "positives"))
    lead = (
        f"The balanced test has {count(pairs)} pairs, {percent(positives / pairs, 1)} of them positive; all pairs have 1 in "
        f"{count(round(collection.task['test.pairs'] / collection.task['test.positives']))}. The same models, scored on both."
    )
    return Section(
        "balanced", "What a balanced test hides", lead, [Table("The same models on both tests", columns, cells)], short="Balanced test"
    )


def calibration_section(collection: Collection) -> Section:
    """Return the share of positives by the probability that the models gave."""
    middles = [(place + 0.5) / _BINS for place in range(_BINS)]
    series = []
    for method in collection.methods:
        bins = {
            min(int(one["mean"] * _BINS), _BINS - 1): one["share"]
            for one in collection.findings[method]["reliability"]
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


def mistakes_section(collection: Collection) -> Section:
    """Return the false positives with the highest probability, and precision as people corrected it."""
    names = list(dict.fromkeys(name for name in (collection.best, "stated", _STATIC) if name in collection.methods))
    columns = (Column("Left"), Column("Right"), Column("Probability", "probability"))
    blocks: list[Block] = []
    for name in names:
        shown = collection.findings[name]["mistakes"][:_SHOWN]
        cells = [(cut(one["left"], collection.texts), cut(one["right"], collection.texts), one["probability"]) for one in shown]
        blocks.append(Table(f"Trained on {phrase_of(name)} labels", columns, cells))
    judged = _judged(collection)
    lead = (
        "Test pairs with the highest probability of being positive that no label calls positive: real mistakes, or positives "
        "that no stated label covers."
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


def _judged(collection: Collection) -> Table | None:
    """Return precision corrected by people's judgements; None where they gave none."""
    cells: list[Sequence[Cell]] = []
    for method in collection.methods:
        name = f"{method}.precision_at_recall_20"
        value = collection.metrics.get(f"{name}.corrected")
        if value is None:
            continue
        line: list[Cell] = [method, 100 * collection.metrics[name]]
        for kind in ("near", "random"):
            number = int(collection.metrics[f"{method}.judged_{kind}"])
            line += [number, 100 * collection.metrics[f"{method}.real_{kind}"] if number else None]
        published = 100 * collection.metrics[f"{name}.published"]
        cells.append((*line, 100 * value, metric_interval(collection.metrics, f"{name}.corrected"), published))
    columns = (
        Column("Method"),
        Column("P@R20", "points", "precision in per cent where a fifth of the positives is found, every unstated pair counted as negative"),
        Column("Near judged", "count", "false positives that are near under the encoder, of one model per method"),
        Column("Near real %", "points", "of them, in per cent, that are negative"),
        Column("Others judged", "count"),
        Column("Others real %", "points"),
        Column("P@R20 corrected", "points", "positives that people found are counted as positives"),
        Column("By chance", meaning="from the 95 % intervals of the two shares"),
        Column("As published", "points", "the paper's formula, which leaves the positives that people found out of the true ones"),
    )
    return Table("Precision as people correct it", columns, cells) if cells else None

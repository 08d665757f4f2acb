"""What selected rows are worth: models trained from scratch on parts of the train set, each chosen by another strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cartograph.compare.best_seeds import BestSeeds, best_seeds
from cartograph.compare.markdown import DOMAINS, METRIC_NAMES, mean_text
from cartograph.compare.selections import (
    WHOLE,
    Curve,
    Line,
    best_lines,
    chosen_by,
    curves,
    difference_rows,
    mark,
    mixing_curves,
    sets_of,
    table_lines,
)
from cartograph.compare.versions import GROUP_OF
from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Cell, Column, Section, Table
from cartograph.page.chart_blocks import Chart, Charts, DotPlot, Dots, Series
from cartograph.page.difference_plot import difference_dot, difference_plot
from cartograph.page.failed_trainings import broken_sentences
from cartograph.selection.strategies import strategy_named
from cartograph.wording import counted, cut, listing

_LONGEST = 40
_EDGE = 0.02
_NOTE = (
    "A difference is taken on the same rows of the set and the same seeds; its line is the 95 % interval for other rows of the same "
    "kind and other seeds. Nothing is corrected for the number of comparisons: of twenty selections that are no "
    "different from random rows, one excludes 0 by chance."
)


def selections_section(audit: Audit) -> Section | None:
    """Return the models trained on selections side by side; None where there are no such models."""
    if audit.selections is None:
        return None
    comparison, chosen = audit.selections.comparison, audit.selections.chosen
    metric = comparison.summary["metric"][0].as_py()
    lines = table_lines(comparison, chosen, metric)
    sets = sets_of(lines)
    blocks: list[Block] = [_table(lines, sets, metric)]
    plain = [(name, domain) for name, domain in sets if GROUP_OF not in name]
    plots = [plot for name, domain in plain if (plot := _differences(lines, name, domain, metric)) is not None]
    if plots:
        blocks.append(Dots(plots, _NOTE))
    charts = [chart for name, domain in plain for chart in _charts(lines, name, domain, metric)]
    if charts:
        blocks.append(Charts(charts))
    best = best_seeds(comparison, metric)
    if best is not None and best.chosen_on:
        blocks.append(_best_table(lines, best, sets, metric))
    blocks.append(_difference_table(lines))
    return Section("selections", "What selected rows are worth", _lead(lines, plain, metric, audit.broken), blocks, short="Selections")


def _lead(lines: Sequence[Line], sets: Sequence[tuple[str, str]], metric: str, every: Sequence[Mapping[str, Any]]) -> str:
    shares = listing([f"{100 * fraction:g} %" for fraction in sorted({line.fraction for line in lines if line.name != WHOLE})])
    parts = [f"The same recipe was trained from scratch on parts of the train set ({shares} of its rows), each chosen by another strategy."]
    compared = [(name, domain) for name, domain in sets if any(name in line.against_random for line in lines)]
    if not compared:
        parts.append("No training on a random sample of the same size learnt anything, so no selection can be compared with chance.")
    for name, domain in sorted(compared, key=lambda item: item[1] != "ood"):
        better = [line for line in lines if mark(line, name) == "▲"]
        worse = [line for line in lines if mark(line, name) == "▼"]
        where = f"On {cut(name, _LONGEST)} ({DOMAINS[domain]})"
        if better:
            names = listing([line.name for line in better])
            parts.append(f"{where}, {names} beat{'s' if len(better) == 1 else ''} a random sample of the same size.")
        else:
            behind = f"; {len(worse)} do worse" if worse else ""
            parts.append(f"{where}, no selection measurably beats a random sample of the same size{behind}.")
    named = [line.name for line in lines]
    broken = [row for row in every if row["subset"] in named]
    failed = sum(row["failed"] for line in lines for row in [line.cells[sets[0][0]]]) - len(broken) if sets else 0
    if failed:
        parts.append(f"{counted(failed, 'training')} ended no better than chance: failed, and left out of the means.")
    return " ".join([*parts, *broken_sentences(broken)])


def _table(lines: Sequence[Line], sets: Sequence[tuple[str, str]], metric: str) -> Table:
    columns = [Column("Trained on"), Column("Keeps"), Column("Share", "share"), Column("Rows", "count", "rows that were trained on")]
    columns += [Column(cut(name, _LONGEST), meaning=f"{DOMAINS[domain]}: {METRIC_NAMES[metric]} in per cent") for name, domain in sets]
    cells: list[Sequence[Cell]] = []
    for line in lines:
        meaning = "every row" if line.name == WHOLE else strategy_named(line.title).meaning
        values = [f"{mean_text(line.cells[name])} {mark(line, name)}".rstrip() if name in line.cells else None for name, _ in sets]
        cells.append([line.title, meaning, line.fraction, line.rows, *values])
    title = METRIC_NAMES[metric][:1].upper() + METRIC_NAMES[metric][1:]
    caption = f"{title} in per cent, mean over seeds ± s.d.; ▲ ▼ above or below random rows by a paired test at 5 %"
    return Table(caption, columns, cells)


def _best_table(lines: Sequence[Line], best: BestSeeds, sets: Sequence[tuple[str, str]], metric: str) -> Table:
    """Return the best seed's model of each line, beside the means."""
    columns = [Column("Trained on"), Column("Share", "share"), Column("Seed", meaning=chosen_by(cut(best.chosen_on, _LONGEST)))]
    columns += [Column(cut(name, _LONGEST), meaning=f"{DOMAINS[domain]}: {METRIC_NAMES[metric]} in per cent") for name, domain in sets]
    cells: list[Sequence[Cell]] = [
        [line.title, line.fraction, None if seed is None else str(seed), *values] for line, seed, values in best_lines(lines, best)
    ]
    title = METRIC_NAMES[metric][:1].upper() + METRIC_NAMES[metric][1:]
    return Table(f"{title} in per cent, of the best of {best.tried} seeds by {cut(best.chosen_on, _LONGEST)}", columns, cells)


def _differences(lines: Sequence[Line], name: str, domain: str, metric: str) -> DotPlot | None:
    dots = [
        difference_dot(line.title, row, f"{100 * line.fraction:g} % of the rows")
        for line in lines
        if (row := line.against_random.get(name)) is not None
    ]
    meaning = f"{DOMAINS[domain]}: points of {METRIC_NAMES[metric]} above a random sample of the same size"
    return difference_plot(cut(name, _LONGEST), meaning, dots) if dots else None


def _charts(lines: Sequence[Line], name: str, domain: str, metric: str) -> list[Chart]:
    charts = []
    for title, x_title, drawn in (
        (name, "share of the train set", curves(lines, name)),
        (f"{name}, mixtures", "share of easy rows", mixing_curves(lines, name)),
    ):
        if drawn:
            meaning = f"{DOMAINS[domain]}: {METRIC_NAMES[metric]}, mean over seeds"
            charts.append(_chart(cut(title, _LONGEST), meaning, x_title, drawn))
    return charts


def _chart(title: str, meaning: str, x_title: str, drawn: Sequence[Curve]) -> Chart:
    x = sorted({place for curve in drawn for place in curve.x})
    series = [Series(curve.name, [dict(zip(curve.x, curve.mean, strict=True)).get(place) for place in x]) for curve in drawn]
    means = [value for curve in drawn for value in curve.mean]
    return Chart(title, meaning, x_title, x, series, (max(min(means) - _EDGE, 0.0), min(max(means) + _EDGE, 1.0)))


def _difference_table(lines: Sequence[Line]) -> Table:
    cells: list[Sequence[Cell]] = [[line, cut(name, 2 * _LONGEST), *shown] for line, name, shown in difference_rows(lines)]
    p = "of no difference; two-sided paired bootstrap over rows and seeds"
    columns = [Column("Trained on"), Column("Set")]
    for against in ("random", "100 %"):
        columns += [Column(f"− {against}", meaning="in points"), Column("95 % interval"), Column("p", meaning=p)]
    return Table("Differences from a random sample of the same size, and from the whole train set", columns, cells, folded=True)

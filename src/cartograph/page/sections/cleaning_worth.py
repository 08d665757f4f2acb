"""What cleaning is worth: models trained from scratch on the original rows, on the cleaned ones, and on as many picked at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from cartograph.compare.markdown import DOMAINS, METRIC_NAMES, difference_cells, in_points
from cartograph.compare.versions import HELD_OUT
from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Cell, Column, Section, Table
from cartograph.page.chart_blocks import Dot, DotPlot, Dots
from cartograph.page.cleaning_effect import advice_of, cleaned_rows_differ, cleaning_effect, cleaning_phrase
from cartograph.page.difference_plot import difference_dot, difference_plot
from cartograph.page.failed_trainings import broken_sentences, failed_sentences
from cartograph.page.group_table import group_table
from cartograph.wording import counted, cut, listing, percent_range

Row = Mapping[str, Any]

_MEANINGS = {
    "original": "the train set as it was audited",
    "cleaned": "with rows dropped, relabelled or weighted, as above",
    "random": "rows of the original at random, as many as cleaned has; where it has weights, the same in random order",
}
_DRAWN = (
    "A dot is the mean over seeds, its line the 95 % interval for other rows of the same kind and other seeds, a small mark one seed. A "
    "difference is taken on the same rows and seeds, so its interval can exclude 0 even where the intervals of the two means overlap."
)
_LONGEST = 40
_LEAST_SPAN = 2.0
_SAME = (
    "Cleaning changed nothing, so there is nothing to compare: `cleaned` is the original, and models trained on it are the same. The "
    "figure shows how good they are."
)
_SAME_ANSWERS = (
    "Models trained on `cleaned` and on `original` are right on the same rows, so there is no difference to show. The figure shows how "
    "good they are."
)
_DOMAIN = Column("Domain", meaning="in distribution: drawn like the train set; out of distribution: from somewhere else")


def cleaning_worth_section(audit: Audit) -> Section | None:
    """Return the models trained on each version side by side; None where there are no such models."""
    if audit.comparison is None or not audit.comparison.summary.num_rows:
        return None
    summary = _ood_first(audit.comparison.summary)
    differences = _ood_first(audit.comparison.differences)
    metric = summary[0]["metric"]
    plots = _means(summary, audit.comparison.evaluation.to_pylist(), metric)
    advice = advice_of(audit)
    same = advice is not None and advice.outcome == "unchanged"
    shown = [row for row in differences if row["metric"] == metric]
    if shown and not same:
        plots.append(_differences(shown, metric))
    blocks: list[Block] = [Dots(plots, f"{_how(summary)} {_DRAWN}")] if plots else []
    blocks.append(_table(audit, summary))
    if differences and not same:
        blocks.append(_difference_table(differences))
    groups = group_table(audit.groups, metric)
    if groups is not None:
        blocks.append(groups)
    blocks.append(_models(audit.comparison.evaluation.to_pylist()))
    cleaning = cleaning_phrase(audit)
    weighted = audit.cleaning is not None and bool(audit.cleaning.version.get("weighted"))
    effects = [
        cleaning_effect(audit.comparison.differences, cleaning, against=other, metric=metric, weighted=weighted)
        for other in ("original", "random")
    ]
    if same:
        effects = [_SAME_ANSWERS if cleaned_rows_differ(audit) else _SAME]
    subsets = {row["subset"] for row in summary}
    failures = [*failed_sentences(summary, audit.broken), *broken_sentences([row for row in audit.broken if row["subset"] in subsets])]
    lead = " ".join([*filter(None, effects), *failures] or [_how(summary)])
    return Section("worth", "What cleaning is worth", lead, blocks, short="Worth of cleaning")


def _ood_first(table: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_pylist()
    return sorted(rows, key=lambda row: row["domain"] != "ood")


def _how(summary: Sequence[Row]) -> str:
    subsets = list(dict.fromkeys(row["subset"] for row in summary))
    seeds = max(row["seeds"] + row["failed"] for row in summary)
    versions = listing([f"{subset} ({_MEANINGS.get(subset, subset)})" for subset in subsets])
    how = f"The same recipe was trained from scratch on {versions}, with {counted(seeds, 'seed')} each, and scored on rows it never saw."
    if any(row["set"] == HELD_OUT for row in summary):
        how += (
            " There is no evaluation set, so a part of the train set was held out of every training. Its labels are as given, wrong ones "
            "among them, and it helped to find the suspects: the recommendation is based on its rows that are not suspects."
        )
    return how


def _means(summary: Sequence[Row], evaluation: Sequence[Row], metric: str) -> list[DotPlot]:
    """Return one plot per evaluation set, all on one scale."""
    known = [row for row in summary if row["metric"] == metric and row["mean"] is not None]
    sets = list(dict.fromkeys((row["set"], row["domain"]) for row in known))
    values = {
        (row["subset"], row["set"], row["seed"]): 100 * row["value"] for row in evaluation if row["metric"] == metric and not row["failed"]
    }
    dots: dict[str, list[Dot]] = {}
    for row in known:
        seeds = [value for (subset, name, _), value in values.items() if (subset, name) == (row["subset"], row["set"])]
        mean, low, high = (100 * row[part] for part in ("mean", "low", "high"))
        style = list(_MEANINGS).index(row["subset"]) if row["subset"] in _MEANINGS else None
        dots.setdefault(row["set"], []).append(Dot(row["subset"], mean, low, high, f"{mean:.1f}", marks=seeds, style=style))
    span = max([_LEAST_SPAN, *(1.15 * (high - low) for low, high in map(_ends, dots.values()))])
    return [
        DotPlot(
            cut(name, _LONGEST),
            f"{DOMAINS[domain]}: {METRIC_NAMES[metric]} in per cent",
            "per cent",
            dots[name],
            _range(_ends(dots[name]), span),
        )
        for name, domain in sets
    ]


def _ends(dots: Sequence[Dot]) -> tuple[float, float]:
    return min(min(dot.low, *dot.marks) for dot in dots), max(max(dot.high, *dot.marks) for dot in dots)


def _range(ends: tuple[float, float], span: float) -> tuple[float, float]:
    low = (ends[0] + ends[1] - span) / 2
    return low, low + span


def _differences(rows: Sequence[Row], metric: str) -> DotPlot:
    dots = [
        difference_dot(f"{row['subset']} \u2212 {row['against']}", row, f"{cut(row['set'], _LONGEST)}, {DOMAINS[row['domain']]}")
        for row in rows
    ]
    return difference_plot("Differences", f"points of {METRIC_NAMES[metric]}; right of 0 the first is better", dots)


def _table(audit: Audit, summary: Sequence[Row]) -> Table:
    rows = audit.metrics.get("evaluate", {})
    metrics = list(dict.fromkeys(row["metric"] for row in summary))
    row_of = {(row["set"], row["subset"], row["metric"]): row for row in summary}
    cells: list[Sequence[Cell]] = []
    for name, subset in dict.fromkeys((row["set"], row["subset"]) for row in summary):
        first = row_of[name, subset, metrics[0]]
        trained = rows.get(f"{subset}.rows")
        line: list[Cell] = [cut(name, _LONGEST), DOMAINS[first["domain"]], first["rows"], subset, None if trained is None else int(trained)]
        line += [first["seeds"], first["failed"]]
        for metric in metrics:
            row = row_of[name, subset, metric]
            line += [*(None if row[part] is None else 100 * row[part] for part in ("mean", "sd")), _interval(row)]
        cells.append(line)
    columns = [
        Column("Set"),
        _DOMAIN,
        Column("Rows", "count", "rows of the evaluation set"),
        Column("Trained on"),
        Column("Train rows", "count", "rows that were trained on"),
        Column("Seeds", "count", "trainings that learnt something; the mean is over these"),
        Column("Failed", "count", "trainings that ended no better than chance, or stopped with an error"),
    ]
    for metric in metrics:
        title = METRIC_NAMES[metric]
        title = f"{title[0].upper()}{title[1:]}"
        columns += [
            Column(title, "points", "mean over seeds, in per cent"),
            Column(f"{title} s.d.", "points", "standard deviation over seeds, in points"),
            Column(f"{title} 95 %", meaning="interval of the mean, over other rows of the same kind and other seeds (bootstrap)"),
        ]
    return Table("Trained on each version", columns, cells)


def _interval(row: Row) -> str | None:
    return None if row["low"] is None else percent_range(row["low"], row["high"])


def _difference_table(rows: Sequence[Row]) -> Table:
    cells: list[Sequence[Cell]] = []
    for row in rows:
        line = (f"{row['subset']} \u2212 {row['against']}", cut(row["set"], _LONGEST), DOMAINS[row["domain"]], METRIC_NAMES[row["metric"]])
        cells.append((*line, in_points(row)[0], difference_cells(row)[1], row["seeds"]))
    columns = (
        Column("Difference"),
        Column("Set"),
        Column("Domain"),
        Column("Metric"),
        Column("Points", "points"),
        Column("95 % interval", meaning="paired bootstrap over rows and seeds; if it contains 0, no difference is shown"),
        Column("Seeds", "count", "seeds with which both learnt something"),
    )
    return Table("Differences in points", columns, cells)


def _models(evaluation: Sequence[Row]) -> Table:
    metrics = list(dict.fromkeys(row["metric"] for row in evaluation))
    models: dict[tuple[str, int, str], dict[str, Any]] = {}
    for row in evaluation:
        models.setdefault((row["subset"], row["seed"], row["set"]), {"failed": row["failed"]})[row["metric"]] = 100 * row["value"]
    cells = [
        (subset, str(seed), cut(name, _LONGEST), *(model[metric] for metric in metrics), "failed" if model["failed"] else "")
        for (subset, seed, name), model in models.items()
    ]
    columns = (
        Column("Trained on"),
        Column("Seed"),
        Column("Set"),
        *(Column(METRIC_NAMES[metric].capitalize(), "points") for metric in metrics),
    )
    return Table("Every model, in per cent", (*columns, Column("Failed")), cells, folded=True)

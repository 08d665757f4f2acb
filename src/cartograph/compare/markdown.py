"""A comparison of versions as a line and as Markdown; differences are in points: hundredths of accuracy or of macro F1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cartograph.compare.versions import Comparison
from cartograph.wording import markdown_table, plain_markdown

DOMAINS = {"train": "train", "id": "in distribution", "ood": "out of distribution"}
METRIC_NAMES = {"accuracy": "accuracy", "macro_f1": "macro F1"}
_MINUS = "\u2212"
_MOST_DIGITS = 3

Row = Mapping[str, Any]


def digits(low: float, high: float) -> int:
    """Return how many decimals the points of an interval deserve by its width, and more where an end would be written as 0 but is not.

    >>> digits(-2.0, 9.0), digits(0.6, 2.2), digits(0.004, 0.5), digits(0.01, 0.05)
    (0, 1, 3, 2)
    """
    enough = (number for number in range(_by_width(low, high), _MOST_DIGITS) if all(end == 0 or round(end, number) for end in (low, high)))
    return next(enough, _MOST_DIGITS)


def _by_width(low: float, high: float) -> int:
    wide = high - low
    return 0 if wide >= 10 else 1 if wide >= 0.1 else 2


def points(value: float, decimals: int, *, signed: bool = False) -> str:
    """Return a number of points.

    >>> points(-1.36, 1).replace(chr(0x2212), "-"), points(0.31, 1, signed=True)
    ('-1.4', '+0.3')
    """
    text = f"{abs(value):.{decimals}f}"
    negative = value < 0 and float(text) > 0
    return f"{_MINUS if negative else '+' if signed else ''}{text}"


def in_points(row: Row) -> tuple[float, float, float]:
    """Return difference, low and high of a row of ``versions.DIFFERENCES`` in points."""
    return 100 * row["difference"], 100 * row["low"], 100 * row["high"]


def difference_cells(row: Row | None) -> tuple[str, str, str]:
    """Return a difference in points, its interval and its p as texts; empty where there is no difference to show."""
    if row is None:
        return "", "", ""
    difference, low, high = in_points(row)
    decimals = digits(low, high)
    ends = " to ".join(points(end, decimals, signed=True) for end in (low, high))
    return points(difference, decimals, signed=True), ends, "" if row.get("p") is None else f"{row['p']:.3f}".removeprefix("0")


def plus_minus(row: Row) -> str:
    """Return a difference with half its interval: ``+1.4 ± 0.6``."""
    difference, low, high = in_points(row)
    decimals = _by_width(low, high)
    return f"{points(difference, decimals, signed=True)} ± {(high - low) / 2:.{decimals}f}"


def differences_line(rows: Sequence[Row], metric: str) -> str:
    """Return the differences of cleaned and original, set by set, on one line; empty where there are none."""
    wanted = [row for row in rows if (row["subset"], row["against"], row["metric"]) == ("cleaned", "original", metric)]
    listed = ", ".join(f"{row['set']} {plus_minus(row)}" for row in wanted)
    return f"cleaned {_MINUS} original: {listed} points" if listed else ""


def markdown(comparison: Comparison, train_rows: Mapping[str, int]) -> str:
    """Return the comparison as a page of Markdown.

    Args:
        comparison: from ``versions.compare_versions``.
        train_rows: version -> rows it was trained on; one that every training of broke off is absent.
    """
    summary, differences = comparison.summary.to_pylist(), comparison.differences.to_pylist()
    lines = ["# What cleaning is worth", "", _means(summary, train_rows), ""]
    lines += [
        "Mean over seeds ± standard deviation, in per cent. A model that ended no better than chance failed and is left out.",
        "",
    ]
    if differences:
        lines += [_differences(differences), ""]
        lines += [
            "Differences in points. The interval is a bootstrap over the rows of the set, the same for all models, and over seeds; one "
            "that contains 0 shows no difference.",
            "",
        ]
    return "\n".join(lines)


def _means(summary: Sequence[Row], train_rows: Mapping[str, int]) -> str:
    columns = list(dict.fromkeys((row["set"], row["domain"], row["metric"]) for row in summary))
    cells = {(row["subset"], row["set"], row["metric"]): row for row in summary}
    head = [f"{plain_markdown(name)} ({DOMAINS[domain]}), {METRIC_NAMES[metric]}" for name, domain, metric in columns]
    rows = []
    for subset in dict.fromkeys(row["subset"] for row in summary):
        values = [mean_text(cells[subset, name, metric]) for name, _, metric in columns]
        rows.append([plain_markdown(subset), f"{train_rows[subset]:,}" if subset in train_rows else "", *values])
    return markdown_table(["Trained on", "Rows", *head], rows, "lr" + "r" * len(head))


def mean_text(row: Row) -> str:
    """Return mean ± s.d. of a row of ``versions.SUMMARY`` in per cent, and how many of its seeds failed."""
    if row["mean"] is None:
        return "failed"
    spread = "" if row["sd"] is None else f" ± {100 * row['sd']:.1f}"
    failed = f" ({row['failed']} of {row['failed'] + row['seeds']} failed)" if row["failed"] else ""
    return f"{100 * row['mean']:.1f}{spread}{failed}"


def _differences(rows: Sequence[Row]) -> str:
    cells = []
    for row in rows:
        versions = f"{plain_markdown(row['subset'])} {_MINUS} {plain_markdown(row['against'])}"
        name = f"{plain_markdown(row['set'])} ({DOMAINS[row['domain']]})"
        cells.append([versions, name, METRIC_NAMES[row["metric"]], *difference_cells(row)[:2], str(row["seeds"])])
    return markdown_table(["Difference", "Set", "Metric", "Points", "95 % interval", "Seeds"], cells, "lllrrr")


def broken_lines(broken: Sequence[Row]) -> list[str]:
    """Return the trainings that broke off, with their reasons, as a section of Markdown; nothing where none did.

    Args:
        broken: ``subset``, ``seed`` and ``reason`` of each.
    """
    if not broken:
        return []
    lines = [f"- `{row['subset']}`, seed {row['seed']}: {plain_markdown(row['reason'])}" for row in broken]
    return ["## Broken off", "", "These trainings failed with an error and are left out of the means.", "", *lines, ""]

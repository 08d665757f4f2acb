"""How models trained on each version do on groups of an evaluation set's rows, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from cartograph.compare.markdown import METRIC_NAMES, digits, in_points, points
from cartograph.compare.versions import GROUP_OF, Comparison
from cartograph.page.blocks import Cell, Column, Table
from cartograph.wording import cut

_LONGEST = 60


def group_table(groups: Comparison | None, metric: str) -> Table | None:
    """Return one line a group, the largest first: its rows, the mean of the original's and the cleaned set's models, and their difference.

    Args:
        groups: what is said of groups alone (``Comparison.of_groups``); None where nothing is.
        metric: the one shown, as ``accuracy``.

    Returns:
        The table; None where there is no group.
    """
    if groups is None:
        return None
    known = {(row["set"], row["subset"]): row for row in groups.summary.to_pylist() if row["metric"] == metric}
    between = {
        row["set"]: row
        for row in groups.differences.to_pylist()
        if (row["subset"], row["against"], row["metric"]) == ("cleaned", "original", metric)
    }
    rows = {name: row["rows"] for (name, _), row in known.items()}
    cells: list[Sequence[Cell]] = []
    for name in sorted(rows, key=lambda name: -rows[name]):
        of_set, _, group = name.partition(GROUP_OF)
        means = [known.get((name, subset), {"mean": None})["mean"] for subset in ("original", "cleaned")]
        line: list[Cell] = [cut(group, _LONGEST), cut(of_set, _LONGEST), rows[name]]
        line += [None if mean is None else 100 * mean for mean in means]
        if name in between:
            difference, low, high = in_points(between[name])
            decimals = digits(low, high)
            line += [difference, f"{points(low, decimals, signed=True)} to {points(high, decimals, signed=True)}"]
        else:
            line += [None, None]
        cells.append(line)
    if not cells:
        return None
    columns = (
        Column("Group", meaning="rows of an evaluation set that have something in the column of this name, or that the audit set apart"),
        Column("Set"),
        Column("Rows", "count"),
        Column("Original", "points", f"mean {METRIC_NAMES[metric]} over seeds, in per cent, of models trained on the original rows"),
        Column("Cleaned", "points", "the same of the cleaned rows"),
        Column("Cleaned \u2212 original", "points"),
        Column("95 %", meaning="its interval; nothing is corrected for the number of groups, so one in twenty excludes 0 by chance"),
    )
    return Table("By group of rows", columns, cells)

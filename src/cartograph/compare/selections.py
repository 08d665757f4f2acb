"""Models trained on selections, side by side: the shape of Swayamdipta et al. 2020, Tables 2, 3, 4 and 7, and the curves of Fig. 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cartograph.compare.best_seeds import BestSeeds, best_seeds
from cartograph.compare.markdown import DOMAINS, METRIC_NAMES, difference_cells, mean_text, points
from cartograph.compare.versions import Comparison
from cartograph.wording import markdown_table, plain_markdown

Row = Mapping[str, Any]

WHOLE, RANDOM = "original", "random"
_LEVEL = 0.05

NO_VALIDATION = (
    "The best of the seeds can be chosen only on a set that nothing is reported on: there is no evaluation set in distribution called "
    "validation or dev to choose it by."
)


@dataclass(frozen=True)
class TrainedSelections:
    """The selections that were trained on.

    Attributes:
        named: name of a selection -> strategy and fraction.
        rows: name of a version -> rows it was trained on; ``original`` is the whole train set. One that every training of broke off is
            absent.
    """

    named: Mapping[str, tuple[str, float]]
    rows: Mapping[str, int]

    @property
    def fractions(self) -> list[float]:
        """The fractions, smallest first."""
        return sorted({fraction for _, fraction in self.named.values()})

    def random_of(self, name: str) -> str | None:
        """Return the random selection of the same size; None where there is no such selection, or for itself."""
        strategy, fraction = self.named[name]
        found = next((other for other, own in self.named.items() if own == (RANDOM, fraction)), None)
        return None if strategy == RANDOM else found

    def pairs(self) -> list[tuple[str, str]]:
        """Return the pairs to compare: every selection with as many random rows, and with all rows."""
        against = [(name, self.random_of(name)) for name in self.named] + [(name, WHOLE) for name in self.named]
        return [(name, other) for name, other in against if other is not None]


@dataclass(frozen=True)
class Line:
    """One row of the table.

    Attributes:
        name: the version's.
        title: in the table.
        fraction: of the train set; 1 for all of it.
        rows: rows it was trained on; None where every training of it broke off.
        cells: set -> row of ``versions.SUMMARY``.
        against_random: set -> row of ``versions.DIFFERENCES`` with the random selection of the same size.
        against_whole: set -> the same with the whole train set.
    """

    name: str
    title: str
    fraction: float
    rows: int | None
    cells: Mapping[str, Row]
    against_random: Mapping[str, Row]
    against_whole: Mapping[str, Row]


def table_lines(comparison: Comparison, chosen: TrainedSelections, metric: str) -> list[Line]:
    """Return the table's rows: the whole train set, then the selections, the largest fraction first."""
    cells: dict[str, dict[str, Row]] = {}
    for row in comparison.summary.to_pylist():
        if row["metric"] == metric:
            cells.setdefault(row["subset"], {})[row["set"]] = row
    found = [row for row in comparison.differences.to_pylist() if row["metric"] == metric]
    lines = [Line(WHOLE, "100 % train", 1.0, chosen.rows.get(WHOLE), cells[WHOLE], {}, {})] if WHOLE in cells else []
    for name, (strategy, fraction) in sorted(chosen.named.items(), key=lambda item: -item[1][1]):
        if name in cells:
            against = [
                {row["set"]: row for row in found if (row["subset"], row["against"]) == (name, other)}
                for other in (chosen.random_of(name), WHOLE)
            ]
            lines.append(Line(name, strategy, fraction, chosen.rows.get(name), cells[name], *against))
    return lines


def sets_of(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Return name and domain of the sets in the table, in distribution first."""
    found = dict.fromkeys((name, str(row["domain"])) for line in lines for name, row in line.cells.items())
    return sorted(found, key=lambda item: item[1] != "id")


def mark(line: Line, name: str) -> str:
    """Return ▲ or ▼ where a selection's mean on a set is above or below that of random rows by a paired test at 5 %, else nothing."""
    row = line.against_random.get(name)
    if row is None or row["p"] is None or row["p"] >= _LEVEL:
        return ""
    return "▲" if row["difference"] > 0 else "▼"


def markdown(comparison: Comparison, chosen: TrainedSelections, metrics: Sequence[str]) -> str:
    """Return the tables as a page of Markdown."""
    parts = ["# Models trained on selections", ""]
    for metric in metrics:
        lines = table_lines(comparison, chosen, metric)
        sets = sets_of(lines)
        head = ["Trained on", "Rows", *(f"{plain_markdown(name)} ({DOMAINS[domain]})" for name, domain in sets)]
        parts += [
            f"## {METRIC_NAMES[metric][:1].upper()}{METRIC_NAMES[metric][1:]}, in per cent",
            "",
            markdown_table(head, _table(lines, sets), "lr" + "r" * len(sets)),
            "",
        ]
    parts += [
        "Mean over seeds ± standard deviation. ▲, ▼: above or below equally many random rows by a paired test at 5 % (bootstrap over the "
        "rows of the set, the same for all models, and over seeds); nothing is corrected for the number of comparisons. A training that "
        "ended no better than chance has failed and is left out of the means.",
        "",
        *_best(comparison, chosen, metrics[0]),
        f"## Differences in points of {METRIC_NAMES[metrics[0]]}",
        "",
        _differences(table_lines(comparison, chosen, metrics[0])),
    ]
    return "\n".join(parts) + "\n"


def _table(lines: Sequence[Line], sets: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
    fraction = None
    for line in lines:
        if line.name != WHOLE and line.fraction != fraction:
            fraction = line.fraction
            yield [f"**{100 * fraction:g} % train**", *[""] * (len(sets) + 1)]
        cells = [f"{mean_text(line.cells[name])}{mark(line, name)}" if name in line.cells else "" for name, _ in sets]
        yield [line.title, "" if line.rows is None else f"{line.rows:,}", *cells]


def _best(comparison: Comparison, chosen: TrainedSelections, metric: str) -> list[str]:
    """Return the table of the best seed's models, as Tables 3 and 7 of the paper have it; nothing where there is one seed only."""
    best = best_seeds(comparison, metric)
    if best is None:
        return []
    title = f"## The best of {best.tried} seeds, {METRIC_NAMES[metric]} in per cent"
    if not best.chosen_on:
        return [title, "", NO_VALIDATION, ""]
    lines = table_lines(comparison, chosen, metric)
    sets = sets_of(lines)
    head = ["Trained on", "Rows", "Seed", *(f"{plain_markdown(name)} ({DOMAINS[domain]})" for name, domain in sets)]
    cells = []
    for line, seed, values in best_lines(lines, best):
        cells.append([line.name, "" if line.rows is None else f"{line.rows:,}", "" if seed is None else str(seed), *values])
    return [title, "", markdown_table(head, cells, "lrr" + "r" * len(sets)), "", chosen_by(plain_markdown(best.chosen_on)), ""]


def best_lines(lines: Sequence[Line], best: BestSeeds) -> Iterator[tuple[Line, int | None, list[str]]]:
    """Return each line with the seed of its best model, None where all failed, and that model's scores on the sets, in per cent."""
    for line in lines:
        values = [best.values.get((line.name, name)) for name, _ in sets_of(lines)]
        yield line, best.seeds.get(line.name), ["" if value is None else points(100 * value, 1) for value in values]


def chosen_by(name: str) -> str:
    """Return what a reader must know of the best of seeds, chosen on a validation set of this name."""
    return (
        f"Of each line the model that is best on {name}, as in Tables 3 and 7 of the paper. Its score on {name} itself is the highest of "
        "several, and says less than the mean of what to expect of another model; on the other sets nothing was chosen."
    )


def difference_rows(lines: Sequence[Line]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each line's name, a set's and the cells of its differences on it, from random rows and from all."""
    for line in lines:
        for name in line.cells:
            rows = line.against_random.get(name), line.against_whole.get(name)
            if any(row is not None for row in rows):
                yield line.name, name, [cell for row in rows for cell in difference_cells(row)]


def _differences(lines: Sequence[Line]) -> str:
    cells = [[line, plain_markdown(name), *differences] for line, name, differences in difference_rows(lines)]
    head = ["Trained on", "Set", "− random", "95 % interval", "p", "− 100 %", "95 % interval", "p"]
    return markdown_table(head, cells, "llrrrrrr")


@dataclass(frozen=True)
class Curve:
    """One strategy's means over fractions, or one mixture's over its shares, on one set.

    Attributes:
        name: the strategy's.
        x: fractions, or shares of easy rows, rising; a training that failed with every seed has no point.
        mean: (len(x),) in [0, 1].
        low: (len(x),) lower ends of the 95 % intervals; ``high`` the upper ones.
    """

    name: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def curves(lines: Sequence[Line], name: str) -> list[Curve]:
    """Return the curves over fractions on one set (Fig. 3, left and middle), each ending at the whole train set, where that was trained on.

    Only strategies with two fractions or more have one.
    """
    whole = [line for line in lines if line.name == WHOLE]
    found = []
    for strategy in dict.fromkeys(line.title for line in lines if line.name != WHOLE):
        own = sorted((line for line in lines if line.title == strategy), key=lambda line: line.fraction)
        if len(own) > 1:
            found.append(_curve(strategy, [(line.fraction, line) for line in (*own, *whole)], name))
    return [curve for curve in found if curve.x]


def mixing_curves(lines: Sequence[Line], name: str) -> list[Curve]:
    """Return a curve over the share of easy rows per fraction (Fig. 3, right); share 0 is ``ambiguous``."""
    found = []
    for fraction in sorted({line.fraction for line in lines}):
        own = [(0.0, line) for line in lines if line.title == "ambiguous" and line.fraction == fraction]
        for line in lines:
            base, _, share = line.title.partition("-")
            if base == "mix" and share and line.fraction == fraction:
                own.append((float(share), line))
        if len(own) > 1:
            found.append(_curve(f"{100 * fraction:g} %", sorted(own, key=lambda item: item[0]), name))
    return [curve for curve in found if curve.x]


def _curve(title: str, own: Sequence[tuple[float, Line]], name: str) -> Curve:
    known = [(x, line.cells[name]) for x, line in own if name in line.cells and line.cells[name]["mean"] is not None]
    columns = (tuple(row[part] for _, row in known) for part in ("mean", "low", "high"))
    return Curve(title, tuple(x for x, _ in known), *columns)

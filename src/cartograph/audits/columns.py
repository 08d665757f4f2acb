"""Columns of a table of features from one audit to the next: what an audit keeps of each, and which of them drifted.

Numbers, dates and how many words texts have are compared by the Kolmogorov-Smirnov distance, categories by total variation, both in [0, 1],
and all by what is missing. A column drifted where that is as much as ``FAR``, ``MISSING`` or ``UNSEEN`` says and more than chance: columns
that are drawn alike give one comparison of two audits in a hundred a column that drifted (Bonferroni). Rows that both audits have count as
if they were drawn twice, which makes chance likelier than it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Floats
from cartograph.schema import Feature, dataset_info, values_of
from cartograph.wording import counted, cut, listing, percent

FAR = 0.1
"""Distance of two distributions."""
MISSING = 0.05
"""Difference of two shares of missing values."""
UNSEEN = 0.01
"""Share of rows with a category that was not there before."""

_CHANCE = 0.01
_POINTS, _CATEGORIES = 200, 250
_FEWEST = 5
_LONGEST, _MOST = 40, 5
_HOLDS = {"number": "numbers", "date": "dates", "category": "categories", "text": "texts"}

Summary = Mapping[str, Any]
"""What an audit keeps of a column, as JSON values: ``name``, ``kind``, ``rows``, ``missing`` (rows), and of numbers, dates and texts (their
words' number) ``values``,
ascending, with the share of known values up to each, ``shares``; of categories ``counts`` of the most frequent, and of the ``rest``."""


@dataclass(frozen=True)
class ColumnDrift:
    """A column in two audits.

    Attributes:
        name: the column's.
        kind: what it holds now; of one that is gone, what it held.
        distance: of its known values, in [0, 1]; None where they cannot be compared.
        missing: share of missing values before and now.
        usual: the middle number or date, or the most frequent category, before and now; empty where no value is known.
        unseen: share of the rows now with a category that was not there before; None of numbers and dates, and where not all are known.
        why: what drifted, in words; empty where nothing did.
    """

    name: str
    kind: str
    distance: float | None
    missing: tuple[float, float]
    usual: tuple[str, str]
    unseen: float | None
    why: tuple[str, ...]


def column_summaries(examples: pa.Table) -> tuple[Summary, ...]:
    """Return what to keep of each column of a set (``schema.examples_schema``); nothing where it is no table of features."""
    return tuple(_summary(feature, values_of(examples, feature.name)) for feature in dataset_info(examples.schema).features)


def column_drift(before: Sequence[Summary], now: Sequence[Summary]) -> tuple[ColumnDrift, ...]:
    """Return every column of two audits, those that drifted first, then by distance.

    Args:
        before: ``column_summaries`` of the earlier one.
        now: of the later one.
    """
    if not before or not now:
        return ()
    old, new = ({str(summary["name"]): summary for summary in side} for side in (before, now))
    names = [*new, *(name for name in old if name not in new)]
    level = _CHANCE / (3 * len(names))
    found = [_drift(name, old.get(name), new.get(name), level) for name in names]
    return tuple(sorted(found, key=lambda drift: (not drift.why, -(drift.distance or 0.0))))


def drift_sentence(columns: Sequence[ColumnDrift], named: Callable[[str], str] | None = None) -> str:
    """Return which columns drifted, in a sentence; empty where none was compared.

    Args:
        columns: as ``column_drift`` returns them.
        named: a column's name as it is to be written; None: in backquotes.

    >>> drift_sentence([ColumnDrift("age", "number", 0.2, (0.0, 0.0), ("38", "52"), None, ("38 in the middle, now 52",))])
    'The only column drifted: `age` (38 in the middle, now 52).'
    """
    if not columns:
        return ""
    drifted = [column for column in columns if column.why]
    if not drifted:
        return "No column drifted."
    shown = [f"{(named or _quoted)(column.name)} ({', '.join(column.why)})" for column in drifted[:_MOST]]
    more = f", and {len(drifted) - _MOST:,} more" if len(drifted) > _MOST else ""
    of_all = "The only column" if len(columns) == 1 else f"{len(drifted):,} of {counted(len(columns), 'column')}"
    return f"{of_all} drifted: {listing(shown) if not more else ', '.join(shown)}{more}."


def _quoted(name: str) -> str:
    return f"`{cut(name, _LONGEST)}`"


def _summary(feature: Feature, column: pa.ChunkedArray) -> Summary:
    known = column.drop_null()
    summary = {"name": feature.name, "kind": feature.kind, "rows": len(column), "missing": len(column) - len(known)}
    if feature.kind == "category":
        counts = sorted(Counter(known.to_pylist()).items(), key=lambda item: (-item[1], item[0]))
        rest = sum(number for _, number in counts[_CATEGORIES:])
        return summary | {"counts": dict(counts[:_CATEGORIES]), "rest": rest, "once": sum(number == 1 for _, number in counts)}
    if feature.kind == "text":
        known = pc.count_substring_regex(known, r"\S+")
    numbers = pc.cast(pc.cast(known, pa.int64()) if feature.kind == "date" else known, pa.float64()).to_numpy()
    ordered = np.sort(numbers)
    values = np.unique(ordered)
    if len(values) > _POINTS:
        values = np.unique(np.quantile(ordered, np.arange(1, _POINTS + 1) / _POINTS, method="inverted_cdf"))
    shares = np.searchsorted(ordered, values, side="right") / max(len(ordered), 1)
    return summary | {"values": values.tolist(), "shares": shares.tolist()}


def _drift(name: str, old: Summary | None, new: Summary | None, level: float) -> ColumnDrift:
    there = new or old
    assert there is not None
    missing, usual = (_missing(old), _missing(new)), (_usual(old), _usual(new))
    if old is None or new is None or old["kind"] != new["kind"]:
        why = "new" if old is None else "gone" if new is None else f"{_HOLDS[new['kind']]}, {_HOLDS[old['kind']]} before"
        return ColumnDrift(name, there["kind"], None, missing, usual, None, (why,))
    distance, chance, unseen = _categories(old, new) if new["kind"] == "category" else _numbers(old, new)
    reasons = []
    if distance is not None and distance >= FAR and chance < level:
        middle = "most often" if new["kind"] == "category" else "in the middle"
        same = usual[0] == usual[1]
        reasons.append("spread differently" if same else f"{usual[0]} {middle}, now {usual[1]}")
    if unseen is not None and unseen >= UNSEEN and _unseen_by_chance(old, new, unseen) < level:
        reasons.append(f"{percent(unseen)} in categories that were not there")
    if abs(missing[1] - missing[0]) >= MISSING and _missing_by_chance(old, new) < level:
        reasons.append(f"{percent(missing[1])} missing, {percent(missing[0])} before")
    return ColumnDrift(name, new["kind"], distance, missing, usual, unseen, tuple(reasons))


def _missing(summary: Summary | None) -> float:
    return 0.0 if summary is None or not summary["rows"] else float(summary["missing"] / summary["rows"])


def _known(summary: Summary) -> int:
    return int(summary["rows"] - summary["missing"])


def _usual(summary: Summary | None) -> str:
    if summary is None or not _known(summary):
        return ""
    if summary["kind"] == "category":
        return cut(min(summary["counts"], key=lambda name: (-summary["counts"][name], name)), _LONGEST)
    middle = summary["values"][int(np.searchsorted(summary["shares"], 0.5))]
    if summary["kind"] == "text":
        return counted(int(middle), "word")
    return f"{datetime.fromtimestamp(middle, UTC):%Y-%m-%d}" if summary["kind"] == "date" else f"{middle:,.6g}"


def _numbers(old: Summary, new: Summary) -> tuple[float | None, float, None]:
    """Return the distance of two columns of numbers, and how likely chance makes it as large."""
    from scipy.stats import kstwobign

    sizes = _known(old), _known(new)
    if not all(sizes):
        return None, 1.0, None
    points = np.union1d(old["values"], new["values"])
    distance = float(np.abs(_up_to(old, points) - _up_to(new, points)).max())
    # Between two points kept a share may be off by the share between them.
    off = 1.0 / _POINTS if max(len(old["values"]), len(new["values"])) >= _POINTS / 2 else 0.0
    chance = kstwobign.sf(np.sqrt(sizes[0] * sizes[1] / sum(sizes)) * max(distance - off, 0.0))
    return distance, float(chance), None


def _up_to(summary: Summary, points: Floats) -> Floats:
    shares: Floats = np.concatenate([[0.0], summary["shares"]])[np.searchsorted(summary["values"], points, side="right")]
    return shares


def _categories(old: Summary, new: Summary) -> tuple[float | None, float, float | None]:
    """Return the distance of two columns of categories, how likely chance makes it as large, and the share of those not seen before."""
    from scipy.stats import chi2_contingency

    sizes = _known(old), _known(new)
    if not all(sizes):
        return None, 1.0, None
    names = [name for name in {**old["counts"], **new["counts"]} if _listed(old, name) and _listed(new, name)]
    counts = np.array([[side["counts"].get(name, 0) for name in names] for side in (old, new)], dtype=float).reshape(2, -1)
    counts = np.concatenate([counts, np.array(sizes, dtype=float)[:, None] - counts.sum(axis=1, keepdims=True)], axis=1)
    distance = 0.5 * float(np.abs(counts[0] / sizes[0] - counts[1] / sizes[1]).sum())
    few = counts.sum(axis=0) * min(sizes) / sum(sizes) < _FEWEST
    tested = np.concatenate([counts[:, ~few], counts[:, few].sum(axis=1, keepdims=True)], axis=1)
    tested = tested[:, tested.sum(axis=0) > 0]
    chance = float(chi2_contingency(tested, correction=False).pvalue) if tested.shape[1] > 1 else 1.0
    unseen = None if old["rest"] else (sum(number for name, number in new["counts"].items() if name not in old["counts"]) + new["rest"])
    return distance, chance, None if unseen is None else unseen / sizes[1]


def _listed(summary: Summary, name: str) -> bool:
    """Return whether it is known how often a column has a category: it is counted, or none is left out."""
    return name in summary["counts"] or not summary["rest"]


def _unseen_by_chance(old: Summary, new: Summary, unseen: float) -> float:
    """Return how likely so many rows have a category that was not there: that of a new row is the share of those seen once (Good 1953)."""
    from scipy.stats import betabinom

    once = old["once"]
    return float(betabinom.sf(round(unseen * _known(new)) - 1, _known(new), once + 1, max(_known(old) - once, 1)))


def _missing_by_chance(old: Summary, new: Summary) -> float:
    from scipy.stats import fisher_exact

    return float(fisher_exact([[side["missing"], _known(side)] for side in (old, new)]).pvalue)

"""What somebody looks at first of an audit: the verdict of its report, and ten numbers under names that sort before all others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean

HARD_BREAK = "  \n"
"""The end of a line of Markdown that stays one."""

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~-])")
_MEASURE = "accuracy"


def verdict_markdown(report: Path | None) -> list[str]:
    """Return the sentence and the lines at the head of the report as Markdown; none where there is no such page."""
    from cartograph.page.read_verdict import verdict_of

    said = None if report is None or not report.exists() else verdict_of(report.read_text(encoding="utf-8"))
    if said is None:
        return []
    sentence, *lines = (_MARKDOWN.sub(r"\\\1", line) for line in said)
    return [f"**{sentence}**", *lines]


def headlines(metrics: Mapping[str, float], domains: Mapping[str, str]) -> dict[str, float]:
    """Return the headline numbers that an audit has, as ``01.suspects.share`` and so on; a number keeps its place where others are missing.

    Args:
        metrics: all numbers of the audit by name.
        domains: evaluation set -> ``id`` or ``ood``; numbers of several sets of a domain are averaged.

    >>> headlines({"suspects.share": 0.03, "far.accuracy": 0.5}, {"far": "ood"})
    {'01.suspects.share': 0.03, '05.accuracy.ood.original': 0.5}
    """
    sets = {domain: [name for name, other in domains.items() if other == domain] for domain in ("ood", "id")}

    def mean(names: Iterable[str]) -> float | None:
        found = [metrics[name] for name in names if name in metrics]
        return fmean(found) if found else None

    def worth(domain: str) -> float | None:
        return mean(f"cleaned_minus_original.{name}.{_MEASURE}" for name in sets[domain])

    def original(domain: str) -> float | None:
        retrained = mean(f"original.{name}.{_MEASURE}.mean" for name in sets[domain])
        return mean(f"{name}.{_MEASURE}" for name in sets[domain]) if retrained is None else retrained

    numbers = {
        "suspects.share": metrics.get("suspects.share"),
        "labels_wrong.expected": metrics.get("wrong.expected"),
        "accuracy.ood.cleaned_minus_original": worth("ood"),
        "accuracy.id.cleaned_minus_original": worth("id"),
        "accuracy.ood.original": original("ood"),
        "accuracy.id.original": original("id"),
        "rows.dropped": metrics.get("dropped"),
        "rows.quarantined.share": metrics.get("quarantined.share"),
        "checks.failed": metrics.get("validation.failed"),
        "region.hard-to-learn.share": metrics.get("region.hard-to-learn.share"),
    }
    return {f"{place:02d}.{name}": value for place, (name, value) in enumerate(numbers.items(), start=1) if value is not None}

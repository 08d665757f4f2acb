"""Trainings that broke off or ended at the largest class, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cartograph.wording import count, counted, cut

Row = Mapping[str, Any]

_LONGEST = 40
_MOST_BROKEN = 3


def broken_sentences(broken: Sequence[Row]) -> list[str]:
    """Return which trainings broke off, and why; the first few of many.

    Args:
        broken: ``subset``, ``seed`` and ``reason`` of each.
    """
    sentences = [
        f"The training on {cut(row['subset'], _LONGEST)} with seed {row['seed']} stopped with an error and is left out of the means: "
        f"{row['reason'].rstrip('.')}."
        for row in broken[:_MOST_BROKEN]
    ]
    more = len(broken) - _MOST_BROKEN
    return [*sentences, f"{count(more)} more stopped with an error."] if more > 0 else sentences


def failed_sentences(summary: Sequence[Row], broken: Sequence[Row]) -> list[str]:
    """Return for each version how many trainings ended no better than chance.

    Args:
        summary: rows of ``compare.versions.SUMMARY``.
        broken: the trainings that broke off, which the summary counts as failed too.
    """
    off = Counter(row["subset"] for row in broken)
    failed = {
        row["subset"]: (row["failed"] - off[row["subset"]], row["failed"] + row["seeds"])
        for row in summary
        if row["failed"] > off[row["subset"]]
    }
    return [
        f"{count(number)} of {counted(of, 'training')} on {subset} ended no better than chance: failed, "
        "marked below, and left out of all means and differences."
        for subset, (number, of) in failed.items()
    ]

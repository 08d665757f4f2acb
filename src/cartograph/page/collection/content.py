"""The results of a finished collection, as its page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cartograph.page.step_results import HowMade

NAMES = {
    "uncertainty": "uncertainty",
    "adaptive-retrieval": "adaptive retr.",
    "static-retrieval": "static retr.",
    "random": "random",
    "stated": "stated",
    "stratified-match": "strat. match",
    "stratified-all-positives": "strat. all pos.",
}
"""Method -> its name where there is little room."""


@dataclass(frozen=True)
class Collection:
    """A finished collection.

    Attributes:
        methods: in the order in which params.yaml lists them.
        summary: rows of ``pairs.comparison.SUMMARY``.
        differences: rows of ``pairs.comparison.DIFFERENCES``.
        metrics: flat numbers of the comparison.
        task: flat numbers of the step ``pairs``.
        encoded: flat numbers of the step ``encode``.
        findings: method -> ``reliability`` and ``mistakes`` of its first seed's last model.
        versions: ``<method>-<seed>`` -> version, rows, positive.
        hour: ``pairs.more_labels.Forecast`` of one more hour of labelling, as its fields.
        texts: most characters of a text shown.
        how_made: how the collection was made.
    """

    methods: Sequence[str]
    summary: Sequence[Mapping[str, Any]]
    differences: Sequence[Mapping[str, Any]]
    metrics: Mapping[str, float]
    task: Mapping[str, float]
    encoded: Mapping[str, float]
    findings: Mapping[str, Mapping[str, Any]]
    versions: Mapping[str, Mapping[str, Any]]
    hour: Mapping[str, Any]
    texts: int
    how_made: HowMade

    @property
    def best(self) -> str:
        """The method with the highest average precision."""
        return max(self.methods, key=lambda method: self.metrics[f"{method}.average_precision"])

    @property
    def partly_stated(self) -> bool:
        """Whether only a part of the positive test pairs is known to be positive."""
        return bool(self.metrics.get(f"{self.best}.partly_stated"))

    @property
    def matches(self) -> str:
        """The command that lists the matches; empty where the model ranks pairs and matches none."""
        workspace = self.how_made.command.rpartition(" --workspace ")[2]
        kind = "--one-to-one" if self.task["utterances.right"] else "--clusters"
        return f"python -m tasks match -w {workspace} {kind}" if "test.positives_lost" in self.encoded else ""

    def difference(self, against: str) -> Mapping[str, Any] | None:
        """Return the best method's average precision less another's, with its paired interval; None where it was not measured."""
        return next((row for row in self.differences if (row["against"], row["measure"]) == (against, "average_precision")), None)

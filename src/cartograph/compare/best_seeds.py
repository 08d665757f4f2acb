"""The best of the seeds of each version, chosen on a validation set and measured on the others: Swayamdipta et al. 2020, Tables 3 and 7."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cartograph.compare.versions import GROUP_OF, Comparison

_MEANT = ("val", "dev")


def is_validation(name: str, domain: str) -> bool:
    """Return whether a set may choose between models: one in distribution that is called validation or dev; every other is a test set.

    >>> is_validation("dev", "id"), is_validation("dev-ood", "ood"), is_validation("test", "id"), is_validation("dev/negation", "id")
    (True, False, False, False)
    """
    return domain == "id" and GROUP_OF not in name and name.casefold().startswith(_MEANT)


@dataclass(frozen=True)
class BestSeeds:
    """The best model of each version.

    Attributes:
        chosen_on: the validation set; empty without one, and then there is nothing to choose by.
        seeds: version -> the seed of its best model; of equally good ones the lowest. A version that failed with every seed is absent.
        values: (version, set) -> that model's score, in [0, 1].
        tried: how many seeds there are.
    """

    chosen_on: str
    seeds: Mapping[str, int]
    values: Mapping[tuple[str, str], float]
    tried: int


def best_seeds(comparison: Comparison, metric: str) -> BestSeeds | None:
    """Return the best models by a metric; None where there is one seed only.

    Args:
        comparison: of the versions.
        metric: of ``compare.versions.METRICS``.
    """
    rows = [row for row in comparison.evaluation.to_pylist() if row["metric"] == metric and not row["failed"]]
    tried = len({row["seed"] for row in rows})
    if tried < 2:
        return None
    name = min((row["set"] for row in rows if is_validation(row["set"], row["domain"])), default="")
    seeds: dict[str, int] = {}
    for row in sorted((row for row in rows if row["set"] == name), key=lambda row: (-row["value"], row["seed"])):
        seeds.setdefault(row["subset"], row["seed"])
    values = {(row["subset"], row["set"]): row["value"] for row in rows if seeds.get(row["subset"]) == row["seed"]}
    return BestSeeds(name, seeds, values, tried)

"""Models trained on versions of a train set, compared: the numbers of each, their means, and paired bootstrap intervals.

A version is trained with several seeds, every model predicts the same evaluation rows, and so all of them are compared on
the same resampled rows (Efron and Tibshirani 1993, ch. 6 and 13; Koehn 2004 for paired comparison of systems on one test set).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Ids, Reals
from cartograph.schema import EVALUATION, schema_of
from cartograph.statistics.resampling import METRICS, interval, paired_test, pooled, resampled_scores, scores, seed_variance

__all__ = ["METRICS", "Comparison", "EvaluationSet", "compare_versions"]

GROUP_OF = "/"
"""Between a set's name and that of a group of its rows: ``diagnostics/Logic``."""

VERSIONS = ("original", "cleaned", "random")
"""What the step `clean` makes of a train set; any other name is a selection's."""

PAIRS = (("cleaned", "original"), ("cleaned", "random"), ("random", "original"))
"""Which version is compared with which, where both were trained on: what cleaning does, what it does beyond removing as
many rows at random, and what removing rows does by itself."""

HELD_OUT, TRUSTED = "held-out", "held-out without suspects"
"""Names of the train rows that are held out where there is no evaluation set, and of those among them that are no suspects."""

_MOST_OTHERS = 4.0
"""Degrees of freedom that what seeds do to other versions may add: more would drown what they do to this one."""

_WHAT = {"set": "string", "domain": "string", "rows": "int64", "metric": "string"}
_INTERVAL = {"low": "double?", "high": "double?"}

SUMMARY = schema_of({"subset": "string", **_WHAT, "seeds": "int64", "failed": "int64", "mean": "double?", "sd": "double?", **_INTERVAL})
"""One version on one set: ``mean`` and ``sd`` (ddof = 1; null for one seed) over the ``seeds`` that learnt something, how many
``failed`` besides them, and the 95 % interval of the mean. All null where every seed failed."""

DIFFERENCES = schema_of(
    {"subset": "string", "against": "string", **_WHAT, "seeds": "int64", "difference": "double", **_INTERVAL, "p": "double?"}
)
"""Mean of ``subset`` minus mean of ``against`` over the ``seeds`` seeds with which both learnt something, its 95 % interval, and the p of
the paired test that they do not differ (``resampling.paired_test``)."""


Run = tuple[str, int]
"""A model: the subset that it was trained on, and the seed."""


@dataclass(frozen=True)
class EvaluationSet:
    """The predictions of every model for one evaluation set.

    Attributes:
        name: the set's.
        domain: ``id`` or ``ood``.
        gold: (n_examples,) label ids, 0 or more.
        predicted: (subset, seed) -> (n_examples,) label ids, rows as in ``gold``.
    """

    name: str
    domain: str
    gold: Ids
    predicted: Mapping[Run, Ids]

    def group(self, name: str, rows: Ids) -> EvaluationSet:
        """Return some of the rows as a set of their own, named after both."""
        return EvaluationSet(
            f"{self.name}{GROUP_OF}{name}", self.domain, self.gold[rows], {run: ids[rows] for run, ids in self.predicted.items()}
        )


@dataclass(frozen=True)
class Comparison:
    """The tables of a comparison: ``schema.EVALUATION``, ``SUMMARY`` and ``DIFFERENCES``."""

    evaluation: pa.Table
    summary: pa.Table
    differences: pa.Table

    def only(self, subsets: Sequence[str]) -> Comparison:
        """Return what is said of these versions."""
        wanted = pa.array(subsets, pa.string())
        tables = []
        for table in self._tables():
            kept = pc.is_in(table["subset"], value_set=wanted)
            if "against" in table.column_names:
                kept = pc.and_(kept, pc.is_in(table["against"], value_set=wanted))
            tables.append(table.filter(kept))
        return Comparison(*tables)

    def of_sets(self) -> Comparison:
        """Return what is said of whole sets alone."""
        return Comparison(*(table.filter(pc.invert(pc.match_substring(table["set"], GROUP_OF))) for table in self._tables()))

    def of_groups(self) -> Comparison:
        """Return what is said of groups of a set's rows alone."""
        return Comparison(*(table.filter(pc.match_substring(table["set"], GROUP_OF)) for table in self._tables()))

    def _tables(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        return self.evaluation, self.summary, self.differences

    def numbers(self) -> dict[str, float]:
        """Return means, standard deviations and differences by name; what is not known is left out."""
        values: dict[str, float | None] = {}
        for row in self.summary.to_pylist():
            values |= {f"{row['subset']}.{row['set']}.{row['metric']}.{part}": row[part] for part in ("mean", "sd")}
        for row in self.differences.to_pylist():
            name = f"{row['subset']}_minus_{row['against']}.{row['set']}.{row['metric']}"
            values |= {name: row["difference"], f"{name}.low": row["low"], f"{name}.high": row["high"]}
        return {name: value for name, value in values.items() if value is not None}


def compare_versions(
    sets: Sequence[EvaluationSet],
    failed: Mapping[Run, bool],
    metrics: Sequence[str],
    *,
    resamples: int,
    seed: int,
    pairs: Sequence[tuple[str, str]] = PAIRS,
) -> Comparison:
    """Compare the versions on every set by every metric.

    **The interval.** In each of ``resamples`` rounds the rows of a set are drawn with replacement, as many as there are, once
    for all models; every model is scored on that draw, and the scores are averaged over seeds. So a round is paired over
    rows, and a difference is one of models of the same seed. What seeds differ by beyond that is added, as two or three seeds of this
    difference and those of the other differences on the set show it together (``resampling.interval``): the interval says where the
    difference would lie with other rows of the same kind and with other seeds. It says nothing of other train sets, and with one
    seed it is of those two models alone.

    A model that failed keeps its line in ``evaluation``, and is in no mean and no difference.

    Args:
        sets: the evaluation sets.
        failed: (subset, seed) -> whether that model ended no better than chance, or broke off; the latter says nothing of any set.
        metrics: of ``METRICS``.
        resamples: rounds of the bootstrap, 1 or more.
        seed: of the draws; those of a set depend on its name, not on the other sets.
        pairs: which version is compared with which, where both were trained on.

    Raises:
        ValueError: a set without rows, an array of another length, or an unknown metric.
    """
    scored = [part for each in sets for part in _scored(each, metrics, resamples, np.random.default_rng([seed, *each.name.encode()]))]
    rows = (
        (EVALUATION, [row for part in scored for row in _evaluation(part, failed)]),
        (SUMMARY, [row for part in scored for row in _summary(part, failed)]),
        (DIFFERENCES, [row for part in scored for row in _differences(part, failed, pairs)]),
    )
    return Comparison(*(pa.Table.from_pylist(found, schema=schema) for schema, found in rows))


@dataclass(frozen=True)
class _Scored:
    """Every model by one metric on one set: on the set itself, and in every round of the bootstrap, (resamples,) each."""

    what: dict[str, Any]
    values: dict[Run, float]
    rounds: dict[Run, Reals]
    rng: np.random.Generator

    def seeds(self, subset: str, failed: Mapping[Run, bool]) -> list[int]:
        return [seed for name, seed in self.values if name == subset and not failed[name, seed]]

    def over(self, subset: str, seeds: Sequence[int]) -> tuple[Reals, Reals]:
        """Return (n_seeds,) values and (resamples, n_seeds) rounds."""
        return np.array([self.values[subset, seed] for seed in seeds]), np.stack([self.rounds[subset, seed] for seed in seeds], axis=1)


def _scored(each: EvaluationSet, metrics: Sequence[str], resamples: int, rng: np.random.Generator) -> Iterator[_Scored]:
    predicted = _stacked(each)
    whole = scores(each.gold, predicted, np.ones((len(each.gold), 1), np.float32), metrics)
    drawn = resampled_scores(each.gold, predicted, metrics, resamples, rng)
    for metric in metrics:
        what = {"set": each.name, "domain": each.domain, "rows": len(each.gold), "metric": metric}
        values = dict(zip(each.predicted, whole[metric][0].tolist(), strict=True))
        yield _Scored(what, values, dict(zip(each.predicted, drawn[metric].T, strict=True)), rng)


def _evaluation(scored: _Scored, failed: Mapping[Run, bool]) -> Iterator[dict[str, Any]]:
    for (subset, seed), value in scored.values.items():
        yield {"subset": subset, "seed": seed, **scored.what, "value": value, "failed": bool(failed[subset, seed])}


def _summary(scored: _Scored, failed: Mapping[Run, bool]) -> Iterator[dict[str, Any]]:
    every = {subset: scored.seeds(subset, failed) for subset in dict.fromkeys(name for name, _ in failed)}
    learnt = {subset: seed_variance(*scored.over(subset, seeds)) for subset, seeds in every.items() if seeds}
    for subset, seeds in every.items():
        trained = sum(name == subset for name, _ in failed)
        row = {"subset": subset, **scored.what, "seeds": len(seeds), "failed": trained - len(seeds)}
        if seeds:
            values, rounds = scored.over(subset, seeds)
            row |= {"mean": float(values.mean()), "sd": float(values.std(ddof=1)) if len(seeds) > 1 else None}
            others = [one for name, one in learnt.items() if name != subset and _alike(name, subset)]
            by_seeds = pooled(learnt[subset], others, _MOST_OTHERS)
            row |= {end: min(max(value, 0.0), 1.0) for end, value in interval(values, rounds, scored.rng, by_seeds).items()}
        yield row


def _differences(scored: _Scored, failed: Mapping[Run, bool], pairs: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    both = {pair: [seed for seed in scored.seeds(pair[0], failed) if seed in scored.seeds(pair[1], failed)] for pair in pairs}
    between = {pair: _between(scored, pair, seeds) for pair, seeds in both.items() if seeds}
    learnt = {pair: seed_variance(*own) for pair, own in between.items()}
    for (subset, against), (values, rounds) in between.items():
        others = [one for other, one in learnt.items() if other != (subset, against) and _alike(other[0], subset)]
        # Differences of three versions share their models: their degrees of freedom count half.
        by_seeds = pooled(learnt[subset, against], others, _MOST_OTHERS, shared=0.5)
        row = {"subset": subset, "against": against, **scored.what, "seeds": len(values)}
        yield row | {"difference": float(values.mean())} | paired_test(values, rounds, scored.rng, by_seeds)


def _between(scored: _Scored, pair: tuple[str, str], seeds: Sequence[int]) -> tuple[Reals, Reals]:
    (values, rounds), (other, other_rounds) = (scored.over(subset, seeds) for subset in pair)
    return values - other, rounds - other_rounds


def _alike(one: str, other: str) -> bool:
    """Return whether both are versions, or both selections, which may be of a hundredth of the rows, and then seeds matter more."""
    return (one in VERSIONS) == (other in VERSIONS)


def _stacked(each: EvaluationSet) -> Ids:
    if len(each.gold) == 0:
        raise ValueError(f"evaluation set {each.name} has no rows")
    lengths = {run: len(predicted) for run, predicted in each.predicted.items() if len(predicted) != len(each.gold)}
    if lengths:
        run, length = next(iter(lengths.items()))
        raise ValueError(f"evaluation set {each.name} has {len(each.gold)} rows, but {length} predictions of {run[0]} seed {run[1]}")
    return np.stack([np.asarray(predicted, dtype=np.int64) for predicted in each.predicted.values()])

"""Fractions: how many ambiguous rows does training need, and what do easy rows add (§4, Fig. 3)?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.data.subsets import rows_of
from cartograph.errors import InputError
from cartograph.experiments.experiment import Experiment, Finding, Material
from cartograph.experiments.figures import Line, line_figure
from cartograph.schema import LABEL, UID, dataset_info
from cartograph.selection.strategies import strategy_named
from cartograph.selection.strategy import Candidates
from cartograph.selection.table import make_selection
from cartograph.wording import percent

Row = dict[str, Any]

_WHOLE = "all"
_MOST_SETS = 3
_FEWEST = 2
_SHARES, _EASY = "share of the train set", "share of easy rows"


@dataclass(frozen=True)
class _Part:
    """Rows to train on: by which strategy, what share of the train set, and what share of that is easy rows."""

    strategy: str
    fraction: float
    easy: float = 0.0


def run(material: Material) -> Finding:
    """Train from scratch on random rows, on the most ambiguous ones, and on these with easy rows among them; score every set.

    A share of the curve that is less than two rows is left out.

    Raises:
        InputError: there is no evaluation set.
    """
    if not material.evaluation:
        raise InputError("experiment `fractions` scores models on evaluation sets; add one to `evaluation`.")
    parts = list(_parts(material.options, material.examples.num_rows))
    seeds = [material.options["seed"] + number for number in range(material.options["seeds"])]
    models: list[Row] = []
    for part in parts:
        rows = _rows(material, part)
        for seed in seeds:
            models += _trained(material, part, rows, seed)
        material.progress(len(models) // len(material.evaluation), len(parts) * len(seeds))
    means = _means(models)
    sets = sorted(material.evaluation)
    figure = line_figure("Accuracy by share of rows, and of easy rows among ambiguous ones", _SHARES, *_panels(means, sets, material))
    numbers = {
        f"fractions.{row['strategy']}-{row['fraction']:g}.{row['set']}.accuracy": row["mean"] for row in means if row["mean"] is not None
    }
    tables = {"means": pa.Table.from_pylist(means), "models": pa.Table.from_pylist(models)}
    return Finding(_answer(means, sets), numbers, tables, figure)


def _parts(options: Mapping[str, Any], rows: int) -> Iterator[_Part]:
    for fraction in options["fractions"]:
        if fraction < 1 and round(fraction * rows) >= _FEWEST:
            yield from (_Part("random", fraction), _Part("ambiguous", fraction))
    mixed = options["mixed_fraction"]
    if mixed not in options["fractions"]:
        yield _Part("ambiguous", mixed)
    yield from (_Part(f"mix-{share:g}", mixed, share) for share in options["mixed_shares"])
    yield _Part(_WHOLE, 1.0)


def _rows(material: Material, part: _Part) -> pa.Table:
    """Return the part's rows in the train set's own order."""
    if part.strategy == _WHOLE:
        return material.examples
    measures = {name: material.measures[name].to_numpy() for name in ("confidence", "variability")}
    candidates = Candidates(material.measures[UID].to_numpy(), material.examples[LABEL].to_numpy().astype(np.int64), measures)
    labels = dataset_info(material.examples.schema).labels
    kept = make_selection(
        strategy_named(part.strategy), candidates, part.fraction, labels, seed=int(material.options["seed"]), may_lose_class=True
    ).table
    return rows_of(material.examples, kept[UID].combine_chunks().sort(), part.strategy)


def _trained(material: Material, part: _Part, rows: pa.Table, seed: int) -> list[Row]:
    from cartograph.train.fit import fit

    row = {"strategy": part.strategy, "fraction": part.fraction, "easy": part.easy, "rows": rows.num_rows, "seed": seed}
    if len(rows[LABEL].unique()) < 2:
        return [row | {"set": name, "accuracy": None, "failed": True} for name in sorted(material.evaluation)]
    recipe = replace(material.recipe, seed=seed, evaluate="end", live=False)
    if material.epochs_open:
        recipe = recipe.with_steps_of(material.examples.num_rows, rows.num_rows)
    metrics = fit(recipe, rows, material.evaluation, material.folder / f"{part.strategy}-{part.fraction:g}-{seed}").metrics
    failed = bool(metrics["train.failed"])
    return [row | {"set": name, "accuracy": metrics[f"{name}.accuracy"], "failed": failed} for name in sorted(material.evaluation)]


def _means(models: Sequence[Row]) -> list[Row]:
    """Return mean and deviation over the seeds that learnt something, per part and set."""
    keys = ("strategy", "fraction", "easy", "rows", "set")
    rows = []
    for key in dict.fromkeys(tuple(row[name] for name in keys) for row in models):
        own = [row for row in models if tuple(row[name] for name in keys) == key]
        values = np.array([row["accuracy"] for row in own if not row["failed"]], dtype=np.float64)
        spread = float(values.std(ddof=1)) if len(values) > 1 else None
        mean = float(values.mean()) if len(values) else None
        rows.append({**dict(zip(keys, key, strict=True)), "mean": mean, "sd": spread, "failed": len(own) - len(values)})
    return rows


def _panels(means: Sequence[Row], sets: Sequence[str], material: Material) -> tuple[dict[str, dict[str, Line]], dict[str, str]]:
    """Return the panels of the figure, and what is on the x axis where it is not the share of rows."""
    panels: dict[str, dict[str, Line]] = {}
    titles = {}
    mixed = material.options["mixed_fraction"]
    for name in sets[:_MOST_SETS]:
        own = [row for row in means if row["set"] == name and row["mean"] is not None]
        curves = {
            strategy: _line([row for row in own if row["strategy"] in (strategy, _WHOLE)], "fraction")
            for strategy in ("random", "ambiguous")
        }
        panels[name] = {strategy: line for strategy, line in curves.items() if line[0]}
        mixtures = [row for row in own if row["fraction"] == mixed and row["strategy"] not in ("random", _WHOLE)]
        if len(mixtures) > 1:
            title = f"{name}, {percent(mixed)} of the rows"
            panels[title] = {"": _line(mixtures, "easy")}
            titles[title] = _EASY
    return panels, titles


def _line(rows: Sequence[Row], x: str) -> Line:
    ordered = sorted((row[x], row["mean"]) for row in rows)
    return [place for place, _ in ordered], [value for _, value in ordered]


def _answer(means: Sequence[Row], sets: Sequence[str]) -> str:
    answer = []
    for name in sets:
        own = {(row["strategy"], row["fraction"]): row for row in means if row["set"] == name and row["mean"] is not None}
        both = [fraction for strategy, fraction in own if strategy == "ambiguous" and ("random", fraction) in own]
        # A mean over those seeds alone that learnt something says nothing of rows from which others learnt nothing.
        learnt = [fraction for fraction in sorted(both) if not own["ambiguous", fraction]["failed"]]
        above = [fraction for fraction in learnt if own["ambiguous", fraction]["mean"] > own["random", fraction]["mean"]]
        where = f"at {', '.join(f'{percent(fraction)}' for fraction in above)}" if above else "at no share"
        answer.append(f"on {name} ambiguous rows beat equally many random ones {where} ({len(both)} compared)")
    failed = sum(row["failed"] for row in means if row["set"] == sets[0])
    trainings = f"; {failed} trainings ended at the largest class" if failed else ""
    return f"{'; '.join(answer)}{trainings}"


EXPERIMENT = Experiment("fractions", "how many ambiguous rows does it take, and what do easy ones add?", run, "§4, Fig. 3")

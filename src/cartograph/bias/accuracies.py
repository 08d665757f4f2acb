"""Accuracy before and after a filter: of models trained on all rows, on as many random rows as it kept, and on those it kept.

Tested where they were trained, as Le Bras et al. 2020 do (Tables 1, 2): the first two on a whole evaluation set, the last on what the same
filter left of it; and crosswise, to separate a harder test set from a poorer train set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cartograph.bias.partial import with_input
from cartograph.data.arrays import Bools, Floats32, Integers
from cartograph.data.folds import drawn_groups
from cartograph.data.linked_rows import user_groups
from cartograph.schema import LABEL, schema_of

FULL, RANDOM, FILTERED = "full", "random", "filtered"

ACCURACIES = schema_of(
    {
        "model": "string",
        "input": "string",
        "trained_on": "string",
        "train_rows": "int64",
        "seed": "int64",
        "set": "string",
        "tested_on": "string",
        "test_rows": "int64",
        "accuracy": "double?",
        "majority": "double?",
        "top5": "double?",
    }
)
"""One accuracy of one model: ``trained_on`` ``full``, ``random`` or ``filtered``, ``tested_on`` the ``full`` or the ``filtered`` evaluation
set; ``majority`` is the share of the most frequent label there, ``top5`` the share of rows whose label is among the five with the highest
scores. Null where no row is left; ``top5`` also where there are five classes or fewer, or a model gives no scores."""


@dataclass(frozen=True)
class EvaluationRows:
    """An evaluation set and what the filter left of it: ``kept`` is (n_examples,)."""

    rows: pa.Table
    kept: Bools


Predicted = Integers | Floats32
"""Label ids, ``(n_examples,)``; or scores of all classes, ``(n_examples, n_classes)``, higher = more likely."""

Predict = Callable[[str, str, int, pa.Table, Mapping[str, pa.Table]], Mapping[str, Predicted]]
"""(model, input, seed, train set, evaluation sets) -> its predictions of each evaluation set."""

_TOP = 5


def accuracies_table(
    pool: pa.Table,
    kept: Bools,
    evaluation: Mapping[str, EvaluationRows],
    models: Sequence[tuple[str, str]],
    seeds: Sequence[int],
    predict: Predict,
    *,
    deterministic: Callable[[str], bool] = lambda model: False,
    progress: Callable[[int, int], None] | None = None,
) -> pa.Table:
    """Return ``ACCURACIES``.

    Args:
        pool: the filter's train rows (``schema.examples_schema``).
        kept: (n_rows,) which of them it kept.
        evaluation: sets by name.
        models: (model, input) pairs; inputs as in ``partial``.
        seeds: of the random subsets, and of trainings.
        predict: trains a model and predicts.
        deterministic: models that a seed does not change: on ``full`` and ``filtered`` they are trained once.
        progress: called with (models trained, models to train).
    """
    every = list(_cells(models, seeds, deterministic))
    rows: list[dict[str, object]] = []
    for number, (model, given, version, seed) in enumerate(every):
        train = with_input(pool.filter(pa.array(_chosen(version, kept, seed))), given)
        tests = {name: with_input(tested.rows, given) for name, tested in evaluation.items()}
        predicted = predict(model, given, seed, train, tests)
        for name, tested in evaluation.items():
            cell = {"model": model, "input": given, "trained_on": version, "train_rows": train.num_rows, "seed": seed, "set": name}
            gold = tested.rows[LABEL].to_numpy()
            for part, used in ((FULL, np.ones(len(gold), bool)), (FILTERED, tested.kept)):
                rows.append(cell | {"tested_on": part, **_scores(gold[used], predicted[name][used])})
        if progress is not None:
            progress(number + 1, len(every))
    return pa.Table.from_pylist(rows, schema=ACCURACIES)


def _cells(models: Sequence[tuple[str, str]], seeds: Sequence[int], fixed: Callable[[str], bool]) -> Iterator[tuple[str, str, str, int]]:
    for model, given in models:
        for version in (FULL, RANDOM, FILTERED):
            for seed in seeds[:1] if fixed(model) and version != RANDOM else seeds:
                yield model, given, version, seed


def _chosen(version: str, kept: Bools, seed: int) -> Bools:
    if version == FULL:
        return np.ones(len(kept), bool)
    if version == FILTERED:
        return kept
    chosen = np.zeros(len(kept), bool)
    chosen[np.random.default_rng([seed, 7]).choice(len(kept), int(kept.sum()), replace=False)] = True
    return chosen


def _scores(gold: Integers, predicted: Predicted) -> dict[str, object]:
    if not len(gold):
        return {"test_rows": 0, "accuracy": None, "majority": None, "top5": None}
    first, top = predicted, None
    if predicted.ndim == 2:
        first = predicted.argmax(axis=1)
        best = np.argsort(-predicted, axis=1, kind="stable")[:, :_TOP]
        top = float((best == gold[:, None]).any(axis=1).mean()) if predicted.shape[1] > _TOP else None
    right, majority = float(np.mean(gold == first)), float(np.bincount(gold).max() / len(gold))
    return {"test_rows": len(gold), "accuracy": right, "majority": majority, "top5": top}


def held_out(rows: pa.Table, kept: Bools, share: float, rng: np.random.Generator) -> tuple[pa.Table, Bools, EvaluationRows]:
    """Return the pool without a random part, what was kept of it, and that part, for data without evaluation sets.

    Rows that the user linked are in the part together, or not at all.
    """
    out, groups = np.zeros(len(kept), bool), user_groups(rows)
    if groups is None:
        out[rng.choice(len(kept), max(1, round(share * len(kept))), replace=False)] = True
    else:
        out = drawn_groups(rows[LABEL].to_numpy(), share, rng, groups)
    return rows.filter(pa.array(~out)), kept[~out], EvaluationRows(rows.filter(pa.array(out)), kept[out])


def mean_accuracies(accuracies: pa.Table) -> dict[str, float]:
    """Return the mean accuracies of the paper's columns, by name: each version tested where it was trained.

    Args:
        accuracies: ``ACCURACIES``.
    """
    means: dict[str, list[float]] = {}
    for row in accuracies.to_pylist():
        if row["accuracy"] is not None and (row["trained_on"] == "filtered") == (row["tested_on"] == "filtered"):
            given = "" if row["input"] == "whole input" else f".{row['input'].replace(' ', '_')}"
            name = f"bias.{row['model']}{given}.{row['set'].replace(' ', '_')}.{row['trained_on']}"
            means.setdefault(name, []).append(row["accuracy"])
            if row["top5"] is not None:
                means.setdefault(f"{name}.top5", []).append(row["top5"])
    return {name: sum(values) / len(values) for name, values in means.items()}

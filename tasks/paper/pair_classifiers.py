"""Tables 2 and 6 of Mussmann, Jia & Liang 2020: classifiers that read both texts of a pair, trained on what a collection collected."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.errors import InputError
from tasks.audit.pretrained_folder import local_folder
from tasks.collection.parameters import Collect, Encode, folder_of
from tasks.engine.digest import digest_json, digest_path
from tasks.engine.workspace import Workspace
from tasks.paper.pair_cells import Cells, metrics_of, with_ends
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import numpy as np

    from cartograph.pairs.comparison import RoundResult
    from cartograph.pairs.pair_space import Keys
    from cartograph.pairs.task import Task
    from cartograph.train.recipe import Recipe

_SCORES = "reports/ablate/classifiers"
"""Scores of classifiers that were trained, by what they were trained on: Tables 2 and 6 share one, and one that was stopped goes on."""


def balanced_table(space: Workspace, methods: Sequence[str]) -> tuple[list[str], Cells]:
    """Return Table 2: the balanced test beside all pairs."""
    from cartograph.pairs.comparison import BALANCED, balanced_scores

    names = {"accuracy": "Balanced accuracy %", "f1": "Balanced F1 %", "clean_map": "Clean MAP %"}
    cells, shown = [], list(BALANCED)
    for method in methods:
        arms = _arms(space, method)
        balanced = balanced_scores(arms, 0)
        shown = [name for name in shown if name in balanced]
        cells.append([method, *(with_ends(balanced, name) for name in shown), *_over_all(arms)])
    return ["Trained on", *(names[name] for name in shown), "All pairs P@R20 %", "All pairs AP %"], cells


def models_table(space: Workspace, methods: Sequence[str]) -> tuple[list[str], Cells]:
    """Return Table 6: the cosine model and the classifier on each collected set."""
    metrics = metrics_of(space)
    cells = []
    for method in methods:
        cosine = [with_ends(metrics, f"{method}.{measure}") for measure in ("precision_at_recall_20", "average_precision")]
        cells.append([method, *cosine, *_over_all(_arms(space, method))])
    return ["Trained on", "Cosine P@R20 %", "Cosine AP %", "Classifier P@R20 %", "Classifier AP %"], cells


def _over_all(arms: list[RoundResult]) -> list[str]:
    from cartograph.pairs.comparison import summary

    rows = {row["measure"]: row for row in summary(arms, 0).to_pylist()}
    return [with_ends(rows[measure], "mean") for measure in ("precision_at_recall_20", "average_precision")]


def _arms(space: Workspace, method: str) -> list[RoundResult]:
    collect = space.settings.of(Collect)
    return [_arm(space, method, seed) for seed in collect.seeds]


def _arm(space: Workspace, method: str, seed: int) -> RoundResult:
    """Return a classifier's numbers on both tests, with their draws."""
    import numpy as np
    import pyarrow.parquet as pq

    from cartograph.pairs.balanced import accuracy_and_f1, balanced_draws, clean_map
    from cartograph.pairs.comparison import RoundResult
    from cartograph.pairs.estimate import bootstrap_scores, curve
    from cartograph.pairs.rounds import balanced_pairs
    from cartograph.pairs.tables import load_sample, load_task

    collect = space.settings.of(Collect)
    task, sample = load_task(space.resolve("data/pairs")), load_sample(space.resolve("data/encode/sample-test.parquet"))
    table = pq.read_table(space.resolve(folder_of(method, seed, collect.rounds)) / "collected.parquet")
    balanced, test = balanced_pairs(task, "test"), task.space("test")
    scored = sample.keys if balanced is None else np.union1d(sample.keys, balanced)
    score = _scores(space, task, method, seed, np.unique(scored))
    own = score[np.searchsorted(np.unique(scored), sample.keys)]
    found = curve(sample, own)
    draws = next(bootstrap_scores(sample, test, [own], collect.resamples, np.random.default_rng(0)))
    numbers = {"test.average_precision": found.average_precision, "test.precision_at_recall_20": found.precision_at()}
    numbers |= {"labels": float(len(table)), "positive": float((table["label"].to_numpy() == 1).sum())}
    if balanced is None:
        return RoundResult(method, seed, collect.rounds, numbers, draws)
    probability = 1 / (1 + np.exp(-score[np.searchsorted(np.unique(scored), balanced)].astype(np.float64)))
    label = task.labels(balanced)
    numbers["test.stated.accuracy"], numbers["test.stated.f1"] = accuracy_and_f1(label, probability)
    mean = None if task.symmetric else clean_map(test.pairs(balanced)[0], label, probability)
    numbers |= {} if mean is None else {"test.stated.clean_map": mean}
    drawn = balanced_draws(test, balanced, label, probability, collect.resamples, np.random.default_rng(0))
    return RoundResult(method, seed, collect.rounds, numbers, draws, drawn)


def _scores(space: Workspace, task: Task, method: str, seed: int, scored: Keys) -> np.ndarray:
    """Train a classifier on what a method collected, unless that was done before; return what it says of some pairs.

    Raises:
        InputError: all labels are of one class.
    """
    import numpy as np
    import pyarrow.parquet as pq

    from cartograph.pairs.models.concat import concat_scores
    from cartograph.pairs.tables import SKIPPED, keys_of

    collect = space.settings.of(Collect)
    path = space.resolve(folder_of(method, seed, collect.rounds)) / "collected.parquet"
    recipe = _recipe(space, seed)
    what = {"collected": digest_path(path), "pairs": digest_path(space.resolve("data/pairs")), "recipe": recipe.to_json()}
    if recipe.pretrained is not None and Path(recipe.pretrained).is_dir():
        what["encoder"] = digest_path(Path(recipe.pretrained))
    identity = digest_json(what | {"scored": scored.tolist()})[:16]
    kept = space.resolve(_SCORES) / f"{method}-{seed}-{identity}.npy"
    if kept.exists():
        known: np.ndarray = np.load(kept, allow_pickle=False)
        return known
    table = pq.read_table(path)
    table = table.filter(table["label"].to_numpy() != SKIPPED)
    if len(set(table["label"].to_pylist())) < 2:
        raise InputError(
            f"all {len(table):,} labels of `{method}`, seed {seed}, are {'yes' if table['label'][0].as_py() else 'no'}: a classifier of "
            "pairs has nothing to tell apart; ask for more labels, or leave this table out."
        )
    scratch = space.state / "checkpoints" / f"classifier-{identity}"
    scratch.mkdir(parents=True, exist_ok=True)
    with progress(f"classifier {method}", "pairs"):
        found = concat_scores(task, keys_of(table, len(task.right)), table["label"].to_numpy(), scored, recipe, scratch)
    shutil.rmtree(scratch)
    kept.parent.mkdir(parents=True, exist_ok=True)
    temporary = kept.with_name(f"{kept.stem}.tmp.npy")
    np.save(temporary, found, allow_pickle=False)
    temporary.replace(kept)
    return found


def _recipe(space: Workspace, seed: int) -> Recipe:
    from cartograph.train.recipe import Recipe

    pretrained = space.settings.of(Encode).pretrained
    if pretrained is None:
        return Recipe(seed=seed, evaluate="end")
    local: Path | None = local_folder(pretrained)
    return Recipe("transformer", 2, 16, 2e-5, seed, evaluate="end", pretrained=str(local or pretrained))

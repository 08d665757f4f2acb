"""The tables of Mussmann, Jia & Liang 2020 from a collection that is done: `python -m flows.ablate pairs-methods --workspace W`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cartograph.errors import InputError
from tasks.collect import SECTION, folder_of
from tasks.compare import METRICS
from tasks.dag import steps_of
from tasks.pretrained import local_folder
from tasks.receipt import fresh
from tasks.workspace import Workspace

TABLES = {
    "pairs-balanced": ("a classifier of pairs trained on stated data, on the balanced test and over all pairs", "Table 2"),
    "pairs-methods": ("precision at recall 20 % and average precision by method", "Table 3"),
    "pairs-positives": ("positives found by method", "Table 4"),
    "pairs-stratified": ("stratified samples, which need to know all labels, beside active collection", "Table 5"),
    "pairs-models": ("a cosine model and a classifier of pairs on each collected set", "Table 6"),
}
"""Experiment -> what it is, and which table of the paper."""

_WANTED = {
    "pairs-balanced": ("stated",),
    "pairs-methods": ("random", "stated", "static-retrieval", "adaptive-retrieval", "uncertainty"),
    "pairs-positives": ("random", "static-retrieval", "adaptive-retrieval", "uncertainty"),
    "pairs-stratified": ("stratified-match", "stratified-all-positives", "adaptive-retrieval", "uncertainty"),
    "pairs-models": ("stated", "static-retrieval", "stratified-match", "uncertainty"),
}

Cells = Sequence[Sequence[str]]


def run(name: str, space: Workspace, folder: Path) -> str:
    """Write a table of the paper as Markdown; return where.

    Raises:
        InputError: the workspace is no collection, is not done, or lacks a method that the table compares.
    """
    if SECTION not in space.settings:
        raise InputError(
            f"{name} is about a collection of pairs, and {space.path} is an audit; name one with --workspace workspaces/paraphrases."
        )
    _require_done(name, space)
    if name in ("pairs-balanced", "pairs-models"):
        header, cells = _classifiers(name, space, folder)
    else:
        header, cells = _methods(name, json.loads(space.resolve(METRICS).read_text(encoding="utf-8")))
    lines = ["| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *cells)]
    path = folder / "table.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"{len(cells)} lines in table.md"


def _require_done(name: str, space: Workspace) -> None:
    collect: Any = space.settings[SECTION]
    missing = [method for method in _WANTED[name] if method not in collect.methods]
    if missing:
        raise InputError(
            f"{name} compares `{missing[0]}`, which `collect.methods` of {space.path / 'params.yaml'} does not list; add it and collect."
        )
    compare = next(step for step in steps_of(space.settings) if step.name == "compare")
    if fresh(compare, space) is None:
        raise InputError(f"the collection {space.path} is not done; run `python -m flows.collect --workspace {space.relative}` first.")


def _methods(name: str, metrics: dict[str, float]) -> tuple[list[str], Cells]:
    if name == "pairs-positives":
        rows = [(method, f"{metrics[f'{method}.positive']:,.0f}", f"{metrics[f'{method}.labels']:,.0f}") for method in _WANTED[name]]
        return ["Method", "Positives found", "Labels"], rows
    measures = ("precision_at_recall_20", "average_precision")
    cells = [(method, *(_with_ends(metrics, f"{method}.{measure}") for measure in measures)) for method in _WANTED[name]]
    return ["Method", "P@R20 %", "AP %"], cells


def _with_ends(metrics: dict[str, float], name: str) -> str:
    value, low, high = (100 * metrics[f"{name}{part}"] for part in ("", ".low", ".high"))
    return f"{value:.1f} ({low:.1f} to {high:.1f})"


def _classifiers(name: str, space: Workspace, folder: Path) -> tuple[list[str], Cells]:
    collect: Any = space.settings[SECTION]
    cells = []
    for method in _WANTED[name]:
        found = [_classifier(space, method, seed, folder / "training" / f"{method}-{seed}") for seed in collect.seeds]
        mean = {key: sum(one[key] for one in found) / len(found) for key in found[0]}
        if name == "pairs-balanced":
            cells.append([method, *(f"{100 * mean[key]:.1f}" for key in ("accuracy", "f1", "precision", "average_precision"))])
            continue
        metrics = json.loads(space.resolve(METRICS).read_text(encoding="utf-8"))
        cosine = [metrics[f"{method}.{measure}"] for measure in ("precision_at_recall_20", "average_precision")]
        cells.append([method, *(f"{100 * value:.1f}" for value in (*cosine, mean["precision"], mean["average_precision"]))])
    if name == "pairs-balanced":
        return ["Trained on", "Balanced accuracy %", "Balanced F1 %", "All pairs P@R20 %", "All pairs AP %"], cells
    return ["Trained on", "Cosine P@R20 %", "Cosine AP %", "Classifier P@R20 %", "Classifier AP %"], cells


def _classifier(space: Workspace, method: str, seed: int, folder: Path) -> dict[str, float]:
    """Train a classifier of pairs on what a method collected, and score it on both tests."""
    import numpy as np
    import pyarrow.parquet as pq

    from cartograph.pairs.balanced import accuracy_and_f1
    from cartograph.pairs.concat import concat_scores
    from cartograph.pairs.estimate import curve
    from cartograph.pairs.tables import UNTOLD, keys_of, load_sample, load_task
    from cartograph.recipe import Recipe

    collect, encode = space.settings[SECTION], space.settings["encode"]
    pretrained = encode.pretrained  # type: ignore[attr-defined]
    task, sample = load_task(space.resolve("data/pairs")), load_sample(space.resolve("data/encode/sample-test.parquet"))
    table = pq.read_table(space.resolve(folder_of(method, seed, collect.rounds)) / "collected.parquet")  # type: ignore[attr-defined]
    table = table.filter(table["label"].to_numpy() != UNTOLD)
    stated = np.union1d(task.stated("test")[0], task.positives("test"))
    scored = np.union1d(sample.keys, stated)
    recipe = Recipe(seed=seed, evaluate="end")
    if pretrained is not None:
        local = str(local_folder(pretrained) or pretrained)
        recipe = Recipe("transformer", 2, 16, 2e-5, seed, evaluate="end", pretrained=local)
    folder.mkdir(parents=True, exist_ok=True)
    score = concat_scores(task, keys_of(table, len(task.right)), table["label"].to_numpy(), scored, recipe, folder)
    found = curve(sample, score[np.searchsorted(scored, sample.keys)])
    probability = 1 / (1 + np.exp(-score[np.searchsorted(scored, stated)].astype(np.float64)))
    accuracy, f1 = accuracy_and_f1(task.labels(stated), probability)
    return {"accuracy": accuracy, "f1": f1, "precision": found.precision_at(), "average_precision": found.average_precision}

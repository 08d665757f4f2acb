"""Fig. 3 of Mussmann, Jia & Liang 2020: the same collection from different seed sets."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.json_files import read_json
from tasks.collection.encode import PAIRS
from tasks.collection.parameters import SECTION, Collect, folder_of
from tasks.engine.running import run_step
from tasks.engine.workspace import Workspace
from tasks.paper.pair_cells import Cells, draw_curves, rounds_table
from tasks.pipelines import steps_of
from tasks.presentation.console import say

if TYPE_CHECKING:
    from cartograph.pairs.comparison import RoundResult

_SEED_SETS = ("similar", "stated", "random")
_METHOD = "uncertainty"


def seed_set_tables(space: Workspace, folder: Path) -> list[tuple[list[str], Cells]]:
    """Collect by uncertainty from each seed set, with a collection's own seeds and rounds; draw the curves; return two tables.

    The rounds are steps of a workspace of their own below ``folder``: those that were done before are not done again.
    """
    from cartograph.pairs.comparison import MEASURES, differences, summary

    arms: list[RoundResult] = []
    for seed_set in _SEED_SETS:
        arms += _collect_from(space, folder / "collections" / seed_set, seed_set)
    table = summary(arms, 0)
    draw_curves(table, _SEED_SETS, folder)
    less = [
        (
            f"{row['method']} \u2212 {row['against']}",
            MEASURES[row["measure"]],
            f"{100 * row['difference']:+.1f} ({100 * row['low']:+.1f} to {100 * row['high']:+.1f})",
        )
        for row in differences(arms, 0).to_pylist()
    ]
    return [rounds_table(table, "Seed set"), (["After the last round", "Measure", "Points"], less)]


def _collect_from(space: Workspace, path: Path, seed_set: str) -> list[RoundResult]:
    import numpy as np

    from cartograph.pairs.comparison import RoundResult

    collect = space.settings.of(Collect)
    chosen = collect.model_copy(update={"methods": (_METHOD,), "seed_set": seed_set, "oracle": "imputed"})
    own = Workspace(path, space.settings | {SECTION: chosen})
    if not path.exists():
        _copy_start(space, own)
    found = []
    with own.lock("python -m flows.ablate pairs-seed-set"):
        for step in steps_of(own.settings):
            if step.section not in (PAIRS.removeprefix("data/"), "encode", SECTION):
                continue
            outcome = run_step(step, own)
            if outcome.executed:
                say(f"{seed_set}: {step.name}: {outcome.receipt.summary}")
            if step.cell is not None:
                seed, number = step.cell.values["seed"], step.cell.values["round"]
                folder = own.resolve(folder_of(_METHOD, seed, number))
                draws = np.load(folder / "resampled.npy", allow_pickle=False)
                found.append(RoundResult(seed_set, seed, number, read_json(folder / "scores.json")["numbers"], draws))
    return found


def _copy_start(space: Workspace, own: Workspace) -> None:
    """Copy what all seed sets share, and the rounds that the collection itself has from one of them."""
    collect = space.settings.of(Collect)
    names = ["data/pairs", "data/encode", "reports/pairs.metrics.json", "reports/encode.metrics.json"]
    if own.settings.of(Collect).seed_set == collect.seed_set and _METHOD in collect.methods:
        names += [folder_of(_METHOD, seed, number) for seed in collect.seeds for number in range(1, collect.rounds + 1)]
    for name in names:
        for one in (name, f"{name}.receipt.json"):
            source, target = space.resolve(one), own.resolve(one)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            elif source.exists():
                shutil.copyfile(source, target)
